import type { LogEvent } from 'kysely';
import type { OnQuery } from './database.ts';

/** Passes on how long a query took and whether it failed, never its text or values. */
export const logQuery =
  (onQuery: OnQuery) =>
  (event: LogEvent): void =>
    onQuery(event.queryDurationMillis, event.level === 'error');
