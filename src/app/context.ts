import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Context } from '../api/context.ts';
import { createAuthenticate } from '../api-clients/authenticate.ts';
import { isTemporary } from '../db/database-errors.ts';
import { NOT_SET_UP } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import { isSetUp } from '../db/transfer.ts';
import type { Database, Observer } from '../db/types.ts';
import { FeedWatches } from '../events/follow.ts';
import { ConfigError } from '../lib/config-error.ts';
import type { Clock } from '../lib/time.ts';
import { setTimeLimitFactor } from '../lib/time-limits.ts';
import { openMailer } from '../mail/mailer.ts';
import { HeavyLists } from '../paging/heavy-lists.ts';
import { PageResponses } from '../paging/page-response.ts';
import type { Config } from '../platform/config.ts';
import type { Core } from '../platform/core.ts';
import { createLog, describeError, warning } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { openSecrets, type SecretBox } from '../platform/secrets.ts';
import { ChangeQueue } from '../returns/changes/change-queue.ts';
import { openReturnLoader } from '../returns/store.ts';
import { RecentTotals } from '../returns/totals.ts';
import { openMailLimits, openReceiverMails } from '../staff/account-mails.ts';
import { IdentityProvider } from '../staff/oidc.ts';
import { openSignInLimits } from '../staff/sign-in.ts';
import { addressGuard, type Resolve } from '../webhooks/address-guard.ts';

export interface Overrides {
  /** Called once if the database is unavailable and the start waits for it; by default it logs that. */
  onWait?: () => void;
  /** Throws for an empty database instead of setting it up, since it is probably not the service's. */
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
  const secrets = await retryWhileUnavailable(database, config, prepare, onWait);
  const core: Core = {
    ...database,
    clock: overrides.clock ?? database.clock,
    config,
    log,
    metrics,
    secrets,
  };
  const mail = config.mail && openMailer(config.mail, log, (result) => metrics.mails.inc({ result }));
  const mailLimits = openMailLimits(core);
  return {
    ...core,
    mail,
    mailLimits,
    addressGuard: addressGuard({ allowPrivate: config.allowPrivateWebhooks, resolve: overrides.resolve }),
    authenticate: createAuthenticate(core),
    returnLoader: openReturnLoader(core),
    changes: new ChangeQueue(core),
    feedWatches: new FeedWatches(core),
    signInLimits: openSignInLimits(core),
    notifyReceiverState: openReceiverMails({ ...core, mail, mailLimits }),
    pageResponses: new PageResponses(core),
    heavyLists: new HeavyLists(),
    recentTotals: new RecentTotals(core),
    provider: config.provider && new IdentityProvider(config.provider),
  };
};

const RETRY_EVERY_MS = 500;

const retryWhileUnavailable = async (
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
      if (!isTemporary(error) || performance.now() >= giveUpAt) {
        await database.close();
        throw error;
      }
      if (tries === 1) onWait(error);
      await pause(RETRY_EVERY_MS);
    }
};
