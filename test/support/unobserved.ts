import type { Observer } from '../../src/db/database.ts';

/** For an engine that nobody watches. */
export const UNOBSERVED: Observer = { onQuery() {}, onDatabaseError() {} };
