import { ENGINE } from './harness.ts';
import { onlyIf } from './tools.ts';

// Options for tests of a file that runs on both engines.

/** For what does not depend on the engine: one is enough. */
export const ONLY_SQLITE = onlyIf(ENGINE === 'sqlite', 'on SQLite only');
export const ONLY_POSTGRES = onlyIf(ENGINE === 'postgres', 'on PostgreSQL only');
