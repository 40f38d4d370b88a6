import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ENDED_STATUSES, OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import type { RmaTableName } from './visibility.ts';

// What is open: everything that has not come to an end.

/** All statuses of a kind, in the order of its life. */
export const STATUSES: Record<RmaTableName, readonly string[]> = {
  offline_repairs: OFFLINE_REPAIR_STATUSES,
  trade_returns: TRADE_RETURN_STATUSES,
};

const endedOf = (table: RmaTableName): readonly string[] => ENDED_STATUSES[table];

export const openStatuses = (table: RmaTableName): string[] =>
  STATUSES[table].filter((status) => !endedOf(table).includes(status));

/** Spelt as in the indexes of open returns, with the statuses in the text: otherwise they would not be used. */
export const isOpen = (table: RmaTableName): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.join(
    endedOf(table).map((status) => sql`status <> ${sql.lit(status)}`),
    sql` and `,
  )}`;

export const isEnded = (table: RmaTableName): RawBuilder<SqlBool> =>
  sql<SqlBool>`status in (${sql.join(endedOf(table).map((status) => sql.lit(status)))})`;

/** To order by: the place of a status in its life. */
export const statusRank = (table: RmaTableName, column: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`case ${column} ${sql.join(
    STATUSES[table].map((status, rank) => sql`when ${sql.lit(status)} then ${sql.lit(rank)}`),
    sql` `,
  )} else ${sql.lit(STATUSES[table].length)} end`;
