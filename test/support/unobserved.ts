import type { Observer } from '../../src/db/database.ts';

export const UNOBSERVED: Observer = { onQuery() {}, onDatabaseError() {} };
