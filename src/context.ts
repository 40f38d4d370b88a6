import { type Authenticate, createAuthenticate } from './api-clients/authenticate.ts';
import { type Base, type Overrides, openBase } from './base.ts';
import type { Config } from './config.ts';
import { FeedWatches } from './events/follow.ts';
import { type Mailer, openMailer } from './mail/mailer.ts';
import { LargeAnswers } from './paging/page-answer.ts';
import { ChangeQueue } from './returns/changes/change-queue.ts';
import { type RmaById, readRmaById } from './returns/store.ts';
import { readTotals, type TotalsOf } from './returns/totals.ts';
import { type MailAccountChanges, openAccountMails } from './staff/account-mails.ts';

/** Everything an action or a route may need. It is their first argument. */
export interface Context extends Base {
  authenticate: Authenticate;
  /** Reads an RMA by its id; calls share queries. */
  rmaById: RmaById;
  totalsOf: TotalsOf;
  changes: ChangeQueue;
  feedWatches: FeedWatches;
  mail: Mailer;
  mailAccountChanges: MailAccountChanges;
  largeAnswers: LargeAnswers;
}

/** After this the service can work. Each service is built once per process, here. */
export const openContext = async (config: Config, overrides: Overrides = {}): Promise<Context> => {
  const base = await openBase(config, overrides);
  const mail = openMailer(base);
  return {
    ...base,
    authenticate: createAuthenticate(base),
    rmaById: readRmaById(base),
    totalsOf: readTotals(base),
    changes: new ChangeQueue(base),
    feedWatches: new FeedWatches(base),
    mail,
    mailAccountChanges: openAccountMails(base, mail),
    largeAnswers: new LargeAnswers(),
  };
};
