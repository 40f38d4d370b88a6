import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ENDED_STATUSES, OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import type { Targets } from '../shops/settings.ts';
import type { RmaTableName } from './store.ts';

// What is open, which is everything that has not come to an end, and what is overdue.

export const STATUSES: Record<RmaTableName, readonly string[]> = {
  offline_repairs: OFFLINE_REPAIR_STATUSES,
  trade_returns: TRADE_RETURN_STATUSES,
};

const endedOf = (table: RmaTableName): readonly string[] => ENDED_STATUSES[table];

export const openStatuses = (table: RmaTableName): string[] =>
  STATUSES[table].filter((status) => !endedOf(table).includes(status));

export const hasOpenStatus = (table: RmaTableName): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.join(
    endedOf(table).map((status) => sql`status <> ${sql.lit(status)}`),
    sql` and `,
  )}`;

/**
 * Spelt as in the indexes of open returns, with the statuses in the text: otherwise they would not be used. What is erased takes no
 * change any more, so it is open no longer, whatever its status.
 */
export const isOpen = (table: RmaTableName): RawBuilder<SqlBool> =>
  sql<SqlBool>`${hasOpenStatus(table)} and erased_at is null`;

export const isEnded = (table: RmaTableName): RawBuilder<SqlBool> =>
  sql<SqlBool>`status in (${sql.join(endedOf(table).map((status) => sql.lit(status)))})`;

/** To order by: the place of a status in its life. */
export const statusRank = (table: RmaTableName): RawBuilder<number> =>
  sql<number>`case status ${sql.join(
    STATUSES[table].map((status, rank) => sql`when ${sql.lit(status)} then ${sql.lit(rank)}`),
    sql` `,
  )} else ${sql.lit(STATUSES[table].length)} end`;

const DAY_MS = 86_400_000;

/** When a return is overdue in its status; null where that has no target. What has ended is never overdue. */
export const dueAtOf = (targets: Targets, status: string, statusSince: number): number | null => {
  const days = targets.get(status);
  return days === undefined ? null : statusSince + days * DAY_MS;
};

const dueParam = (status: string): string => `due ${status}`;
/** The latest of all, by which the index is read. */
const DUE_PARAM = 'due';

/** The statuses in which returns may be overdue now, and by parameter since when they must have them. */
export const dueTimes = (targets: Targets, table: RmaTableName, nowMs: number) => {
  const statuses = openStatuses(table).filter((status) => targets.has(status));
  const since = statuses.map((status) => nowMs - (targets.get(status) ?? 0) * DAY_MS);
  const values = Object.fromEntries(statuses.map((status, i) => [dueParam(status), since[i] ?? 0]));
  return { statuses, values: { ...values, [DUE_PARAM]: Math.max(0, ...since) } };
};

/** The same in SQL, of open returns and with the values of `dueTimes`. */
export const isOverdue = (statuses: string[], params: Record<string, unknown>): RawBuilder<SqlBool> => {
  if (statuses.length === 0) return sql<SqlBool>`1 = 0`;
  const each = statuses.map(
    (status) => sql`(status = ${sql.lit(status)} and status_since <= ${params[dueParam(status)]})`,
  );
  return sql<SqlBool>`status_since <= ${params[DUE_PARAM]} and (${sql.join(each, sql` or `)})`;
};
