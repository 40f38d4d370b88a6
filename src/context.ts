import type { Logger } from 'pino';
import { pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { openDatabase } from './db/open.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { checkSecretKey, type SecretBox, secretBox, secretKeyOf } from './secrets.ts';
import { type AddressGuard, addressGuard, type Resolve } from './webhooks/address-guard.ts';

/** Everything the house stands on, put together once; actions and routes get it as their first argument. */
export interface Context
  extends Pick<Database, 'db' | 'lightly' | 'rateLimiter' | 'tryLock' | 'rows' | 'wake' | 'onWake'> {
  config: Config;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  close(): Promise<void>;
}

/** What a test may put in place of the real thing. */
export interface Overrides {
  clock?: Clock;
  log?: Logger;
  resolve?: Resolve;
}

/** Opens the database, brings its schema up to date and checks the key: after this the service can work. */
export const openContext = async (config: Config, overrides: Overrides = {}): Promise<Context> => {
  const metrics = createMetrics();
  const database = openDatabase(config, metrics.observeQuery);
  try {
    await database.migrate();
    const secrets = secretBox(secretKeyOf(config));
    await checkSecretKey(database.db, secrets);
    return {
      config,
      clock: overrides.clock ?? systemClock,
      log: overrides.log ?? pino({ level: config.logLevel }),
      metrics,
      secrets,
      addressGuard: addressGuard({
        allowPrivate: config.allowPrivateWebhooks,
        ...(overrides.resolve ? { resolve: overrides.resolve } : {}),
      }),
      db: database.db,
      lightly: database.lightly,
      rateLimiter: database.rateLimiter,
      tryLock: database.tryLock,
      rows: database.rows,
      wake: database.wake,
      onWake: database.onWake,
      close: database.close,
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};
