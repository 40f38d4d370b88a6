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

/** Everything the house stands on, put together once; actions and routes get it as their first argument. */
export interface Context extends Omit<Database, 'migrate'> {
  config: Config;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
  addressGuard: AddressGuard;
}

/** What a test may put in place of the real thing. */
export interface Overrides {
  /** In place of the database's clock, so that a test can move time. */
  clock?: Clock;
  /** In place of this process's own clock, which may be wrong: the database's is made from it. */
  ownClock?: () => number;
  log?: Logger;
  resolve?: Resolve;
}

/** Opens the database, brings its schema up to date and checks the key: after this the service can work. */
export const openContext = async (config: Config, overrides: Overrides = {}): Promise<Context> => {
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

/** One thing a context, made when it is first asked for. */
export const onePer = <Thing>(make: (ctx: Context) => Thing): ((ctx: Context) => Thing) => {
  const made = new WeakMap<Context, Thing>();
  return (ctx) => {
    let thing = made.get(ctx);
    if (thing === undefined) {
      thing = make(ctx);
      made.set(ctx, thing);
    }
    return thing;
  };
};
