import type { Logger } from 'pino';
import { pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { openDatabase } from './db/open.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { checkSecretKey, type SecretBox, secretBox, secretKeyOf } from './secrets.ts';

/** Everything the house stands on, put together once; actions and routes get it as their first argument. */
export interface Context extends Pick<Database, 'db' | 'rateLimiter' | 'tryLock'> {
  config: Config;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
  close(): Promise<void>;
}

/** What a test may put in place of the real thing. */
export interface Overrides {
  clock?: Clock;
  log?: Logger;
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
      db: database.db,
      rateLimiter: database.rateLimiter,
      tryLock: database.tryLock,
      close: database.close,
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};
