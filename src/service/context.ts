import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Authenticate, createAuthenticate } from '../api-clients/authenticate.ts';
import type { Database, Observer } from '../db/database.ts';
import { isAway } from '../db/database-errors.ts';
import { NOT_SET_UP } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import { isSetUp } from '../db/transfer.ts';
import { FeedWatches } from '../events/follow.ts';
import type { Clock } from '../lib/time.ts';
import { setTimeLimitFactor } from '../lib/time-limits.ts';
import { type Mailer, openMailer } from '../mail/mailer.ts';
import { HeavyLists } from '../paging/heavy-lists.ts';
import { LargeAnswers } from '../paging/page-answer.ts';
import { ChangeQueue } from '../returns/changes/change-queue.ts';
import { readRmaById } from '../returns/store.ts';
import { RecentTotals } from '../returns/totals.ts';
import { openMailLimits, openReceiverMails } from '../staff/account-mails.ts';
import { IdentityProvider } from '../staff/oidc.ts';
import { openSignInLimits } from '../staff/sign-in.ts';
import { type AddressGuard, addressGuard, type Resolve } from '../webhooks/address-guard.ts';
import { type Config, ConfigError } from './config.ts';
import { createLog, describeError, warning } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openSecrets, type SecretBox } from './secrets.ts';

/** Everything an action or a route may need. It is their first argument. */
export interface Context extends Database {
  config: Config;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  authenticate: Authenticate;
  /** Reads an RMA by its id; calls share queries. */
  rmaById: ReturnType<typeof readRmaById>;
  changes: ChangeQueue;
  feedWatches: FeedWatches;
  /** null: the operator set up no mail server. */
  mail: Mailer | null;
  mailLimits: ReturnType<typeof openMailLimits>;
  signInLimits: ReturnType<typeof openSignInLimits>;
  mailReceiverState: ReturnType<typeof openReceiverMails>;
  largeAnswers: LargeAnswers;
  heavyLists: HeavyLists;
  recentTotals: RecentTotals;
  provider: IdentityProvider | null;
}

export interface Overrides {
  /** Called once, while the database is away and is tried again; by default that is logged. */
  onWait?: () => void;
  /** Refuses a database that has not been set up, instead of doing so: it is probably another one than the service's. */
  mustBeSetUp?: boolean;
  clock?: Clock;
  /** Replaces this process's own clock, which may be wrong. The database's clock is derived from it. */
  ownClock?: () => number;
  log?: Logger;
  resolve?: Resolve;
}

/** Opens the database, brings its schema up to date and checks the secret key, then builds each service, once per process. */
export const openContext = async (config: Config, overrides: Overrides = {}): Promise<Context> => {
  setTimeLimitFactor(config.timeLimitFactor);
  const metrics = createMetrics();
  const log = overrides.log ?? createLog(config.logLevel, (lines) => metrics.droppedLines.inc(lines));
  const observer: Observer = {
    onQuery(durationMs, failed) {
      metrics.queries.observe(durationMs / 1000);
      if (failed) metrics.failedQueries.inc();
    },
    onDatabaseError(what, error) {
      metrics.databaseErrors.inc({ what });
      log.warn({ what, error: describeError(error) }, 'database error');
    },
  };
  const database = openDatabase(config, observer, overrides.ownClock);
  const onWait = overrides.onWait ?? warning(log, 'waiting for the database');
  const prepare = async () => {
    if (overrides.mustBeSetUp && !(await isSetUp(config))) throw new ConfigError(NOT_SET_UP);
    await database.migrate((message) => log.warn(message));
    return openSecrets(config, database.db);
  };
  const secrets = await whileAway(database, config, prepare, onWait);
  // Services that are built below may read what is here already.
  const ctx = {
    ...database,
    config,
    clock: overrides.clock ?? database.clock,
    log,
    metrics,
    secrets,
    addressGuard: addressGuard({ allowPrivate: config.allowPrivateWebhooks, resolve: overrides.resolve }),
    mail: config.mail && openMailer(config.mail, log, (result) => metrics.mails.inc({ result })),
  } as Context;
  return Object.assign(ctx, {
    authenticate: createAuthenticate(ctx),
    rmaById: readRmaById(ctx),
    changes: new ChangeQueue(ctx),
    feedWatches: new FeedWatches(ctx),
    mailLimits: openMailLimits(ctx),
    signInLimits: openSignInLimits(ctx),
    mailReceiverState: openReceiverMails(ctx),
    largeAnswers: new LargeAnswers(),
    heavyLists: new HeavyLists(),
    recentTotals: new RecentTotals(ctx),
    provider: config.provider && new IdentityProvider(config.provider),
  });
};

const TRY_AGAIN_MS = 500;

/** Tries again for a while if the database is away. */
const whileAway = async (
  database: Database,
  { databaseWaitMs }: Config,
  prepare: () => Promise<SecretBox>,
  onWait: (error: unknown) => void,
): Promise<SecretBox> => {
  const giveUpAt = performance.now() + databaseWaitMs;
  for (let tries = 1; ; tries++)
    try {
      return await prepare();
    } catch (error) {
      if (!isAway(error) || performance.now() >= giveUpAt) {
        await database.close();
        throw error;
      }
      if (tries === 1) onWait(error);
      await pause(TRY_AGAIN_MS);
    }
};
