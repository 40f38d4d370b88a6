import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isId, isRmaNumber, rmaNumber } from '../../contract/common.ts';
import { perKind, RETURN_KINDS, type ReturnTable } from '../../contract/kinds.ts';
import { afterFailure } from '../db/database-errors.ts';
import { columnsOf, type Row } from '../db/schema.ts';
import { statement, statementsBy } from '../db/statements.ts';
import type { Db, Trx } from '../db/types.ts';
import { batched } from '../lib/batch.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import type { Caller } from '../shops/plans.ts';

/** A return as it is read, which is without the search text. */
export type ReturnRow<Table extends ReturnTable = ReturnTable> = Table extends ReturnTable
  ? Omit<Row<Table>, 'search_text'>
  : never;

export const briefOf = (
  table: ReturnTable,
  { id, number, status, customer_name }: Pick<ReturnRow, 'id' | 'number' | 'status' | 'customer_name'>,
) => ({
  kind: RETURN_KINDS[table].name,
  id,
  rmaNumber: rmaNumber(number),
  status,
  customerName: customer_name,
});

export const isApiClient = ({ actor }: Caller): boolean => actor.type === 'API_CLIENT';

export const isVisibleTo = (caller: Caller, row: { shop_id: string; receiver_id: string | null }): boolean =>
  row.shop_id === caller.shop.id && (row.receiver_id !== null || !isApiClient(caller));

/** Queries are typed for one table but work on all kinds, since they use only common columns. */
export const from = (db: Db | Trx, table: ReturnTable) => db.selectFrom(table as 'offline_repairs');

/** Resolves to null for an unknown id. */
export type ReturnLoader = Record<ReturnTable, (id: string) => Promise<ReturnRow | null>>;

export const openReturnLoader = ({ reads, fill }: Core): ReturnLoader => {
  const of = (table: ReturnTable) =>
    batched(
      async (ids: string[]) => {
        const query = fill(rowsById(table), { ids: [...new Set(ids)] });
        const { rows } = await reads.executeQuery<ReturnRow>(query);
        const found = new Map(rows.map((row) => [row.id, row]));
        return ids.map((id) => found.get(id) ?? null);
      },
      { most: 100, atOnce: 2, afterFailure },
    );
  return perKind(of);
};

/** All columns of a return except `search_text`, which is never shown. */
export const returnColumns = (table: ReturnTable) =>
  columnsOf(table as 'offline_repairs').filter((column) => column !== 'search_text');

export const rowsById = statementsBy((table: ReturnTable) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(returnColumns(table))
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

/** The error for an id that names no return the caller may see. An `rmaNumber` gets a hint, whether or not that return exists. */
export const notFound = (id: string): ServiceError =>
  new ServiceError('NOT_FOUND', isRmaNumber(id) ? { message: TAKES_THE_ID } : {});

const TAKES_THE_ID =
  'There is no such RMA: this address takes the id, not the rmaNumber. The list finds it with ?rmaNumber=RMA-000123.';

/** A row whose read started before the caller was known. */
export type PrefetchedRow = Promise<ReturnRow | null>;

type WithLoader = { returnLoader: ReturnLoader };

/** A malformed id finds nothing. PostgreSQL would refuse to compare it. */
export const prefetchRow = async (
  { returnLoader }: WithLoader,
  table: ReturnTable,
  id: string,
): PrefetchedRow => (isId(id) ? returnLoader[table](id) : null);

/** Throws the same error for a return that the caller may not see as for one that does not exist. */
export const findReturn = async (
  ctx: WithLoader,
  table: ReturnTable,
  caller: Caller,
  id: string,
  prefetched = prefetchRow(ctx, table, id),
): Promise<ReturnRow> => {
  const row = await prefetched;
  if (!row || !isVisibleTo(caller, row)) throw notFound(id);
  return row;
};

// --- open returns: those that are not erased, and whose status is not final ---

export const statusesOf = (table: ReturnTable): readonly string[] => RETURN_KINDS[table].statuses;

const endedOf = (table: ReturnTable): readonly string[] => RETURN_KINDS[table].ended;

export const openStatuses = (table: ReturnTable): string[] =>
  statusesOf(table).filter((status) => !endedOf(table).includes(status));

export const hasOpenStatus = (table: ReturnTable): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.join(
    endedOf(table).map((status) => sql`status <> ${sql.lit(status)}`),
    sql` and `,
  )}`;

/**
 * The spelling is that of the indexes of open returns, with the statuses in the text, so that the indexes are used. An erased return cannot
 * change any more, so it is not open, whatever its status.
 */
export const isOpen = (table: ReturnTable): RawBuilder<SqlBool> =>
  sql<SqlBool>`${hasOpenStatus(table)} and erased_at is null`;

export const hasEndedStatus = (table: ReturnTable): RawBuilder<SqlBool> =>
  sql<SqlBool>`status in (${sql.join(endedOf(table).map((status) => sql.lit(status)))})`;

export const statusRank = (table: ReturnTable): RawBuilder<number> =>
  sql<number>`case status ${sql.join(
    statusesOf(table).map((status, rank) => sql`when ${sql.lit(status)} then ${sql.lit(rank)}`),
    sql` `,
  )} else ${sql.lit(statusesOf(table).length)} end`;
