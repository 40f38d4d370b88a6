import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database, Observer } from './db/database.ts';
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

/** What a test may replace. */
export interface Overrides {
  /** Replaces the database's clock, so that a test can move time. */
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
    await database.migrate((message) => log.warn(message));
    const secrets = await openSecrets(config, database.db);
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
