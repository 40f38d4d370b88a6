import type { Observer } from '../../src/db/types.ts';

export const UNOBSERVED: Observer = { onQuery() {}, onDatabaseError() {} };
