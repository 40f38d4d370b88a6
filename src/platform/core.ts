import type { Logger } from 'pino';
import type { Database } from '../db/types.ts';
import type { Config } from './config.ts';
import type { Metrics } from './metrics.ts';
import type { SecretBox } from './secrets.ts';

/** What every part of the service may use. A feature that needs further services declares an interface of its own. */
export interface Core extends Database {
  config: Config;
  log: Logger;
  metrics: Metrics;
  secrets: SecretBox;
}
