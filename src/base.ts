import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database, Observer } from './db/database.ts';
import { isAway } from './db/errors.ts';
import { openDatabase } from './db/open.ts';
import { describeError } from './describe-error.ts';
import { createLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openSecrets } from './secret-keys.ts';
import type { SecretBox } from './secrets.ts';
import { type AddressGuard, addressGuard, type Resolve } from './webhooks/address-guard.ts';

/** What services are built from. Their files import this type; Context, which names the services, would be a circle. */
export interface Base extends Omit<Database, 'migrate'> {
  config: Config;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
  addressGuard: AddressGuard;
}

export interface Overrides {
  /** Called once, while the database is away and is tried again; by default that is logged. */
  onWait?: () => void;
  clock?: Clock;
  /** Replaces this process's own clock, which may be wrong. The database's clock is derived from it. */
  ownClock?: () => number;
  log?: Logger;
  resolve?: Resolve;
}

/** Opens the database, brings its schema up to date and checks the secret key. */
export const openBase = async (config: Config, overrides: Overrides): Promise<Base> => {
  const metrics = createMetrics();
  const log = overrides.log ?? createLog(config.logLevel, metrics.observeDroppedLines);
  const observer: Observer = {
    onQuery: metrics.observeQuery,
    onFault(what, error) {
      metrics.observeDatabaseFault(what);
      log.warn({ what, fault: describeError(error) }, 'database fault');
    },
  };
  const database = openDatabase(config, observer, overrides.ownClock);
  try {
    const logWait = (error: unknown) => log.warn({ fault: describeError(error) }, 'waiting for the database');
    const secrets = await retryWhileAway(config.databaseWaitMs, overrides.onWait ?? logWait, async () => {
      await database.migrate((message) => log.warn(message));
      return openSecrets(config, database.db);
    });
    return {
      ...database,
      config,
      clock: overrides.clock ?? database.clock,
      log,
      metrics,
      secrets,
      addressGuard: addressGuard({
        allowPrivate: config.allowPrivateWebhooks,
        ...(overrides.resolve ? { resolve: overrides.resolve } : {}),
      }),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};

const TRY_AGAIN_MS = 500;

const retryWhileAway = async <Opened>(
  waitMs: number,
  onWait: (error: unknown) => void,
  open: () => Promise<Opened>,
): Promise<Opened> => {
  const giveUpAt = performance.now() + waitMs;
  for (let tries = 1; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (!isAway(error) || performance.now() >= giveUpAt) throw error;
      if (tries === 1) onWait(error);
    }
    await pause(Math.max(0, Math.min(TRY_AGAIN_MS, giveUpAt - performance.now())));
  }
};
