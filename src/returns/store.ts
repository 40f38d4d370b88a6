import { sql } from 'kysely';
import { isId, isRmaNumber } from '../../contract/common.ts';
import type { Db, Trx } from '../db/database.ts';
import { afterFailure } from '../db/database-errors.ts';
import { RMA_COLUMNS, type RmaTableName, type Row } from '../db/schema.ts';
import { statement, statementsBy } from '../db/statements.ts';
import { batched } from '../lib/batch.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import type { Caller } from '../shops/plans.ts';

/** Both kinds of RMA have the same columns where they share rules, so shared code speaks of one and means either. */
export type { RmaTableName };

/** An RMA as it is read: what staff search in is only ever written. */
export type ReturnRow<Table extends RmaTableName = RmaTableName> = Table extends RmaTableName
  ? Omit<Row<Table>, 'search_text'>
  : never;

/** As the admin API names the kinds. */
export const KIND_NAMES = { offline_repairs: 'OFFLINE_REPAIR', trade_returns: 'TRADE_RETURN' } as const;

export const isApiClient = ({ actor }: Caller): boolean => actor.type === 'API_CLIENT';

export const isVisibleTo = (caller: Caller, row: { shop_id: string; client_id: string | null }): boolean =>
  row.shop_id === caller.shop.id && (row.client_id !== null || !isApiClient(caller));

/** Queries are typed for one table but work on either, since they use only columns that both have. */
export const from = (db: Db | Trx, table: RmaTableName) => db.selectFrom(table as 'offline_repairs');

/** null: there is none by this id. */
export type RmaById = Record<RmaTableName, (id: string) => Promise<ReturnRow | null>>;

export const readRmaById = ({ reads, fill }: Context): RmaById => {
  const of = (table: RmaTableName) =>
    batched(
      async (ids: string[]) => {
        const query = fill(rowsById(table), { ids: [...new Set(ids)] });
        const { rows } = await reads.executeQuery<ReturnRow>(query);
        const found = new Map(rows.map((row) => [row.id, row]));
        return ids.map((id) => found.get(id) ?? null);
      },
      { most: 100, atOnce: 2, afterFailure },
    );
  return { offline_repairs: of('offline_repairs'), trade_returns: of('trade_returns') };
};

/** All columns of an RMA but `search_text`, which is never shown. */
export const columnsOf = (table: RmaTableName) =>
  RMA_COLUMNS[table].filter((column) => column !== 'search_text');

export const rowsById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(columnsOf(table))
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

/** An id that names no RMA which the caller may see. An `rmaNumber` in its place gets a hint, whether or not it exists. */
export const notFound = (id: string): ServiceError =>
  new ServiceError('NOT_FOUND', isRmaNumber(id) ? { message: TAKES_THE_ID } : {});

const TAKES_THE_ID =
  'There is no such RMA: this address takes the id, not the rmaNumber. The list finds it with ?rmaNumber=RMA-000123.';

/** A row whose read started before the caller was known. */
export type Ahead = Promise<ReturnRow | null>;

/** A malformed id finds nothing. PostgreSQL would even refuse to compare with it. */
export const readAhead = async ({ rmaById }: Context, table: RmaTableName, id: string): Ahead =>
  isId(id) ? rmaById[table](id) : null;

/** Refuses an RMA that the caller may not see, as if it did not exist. */
export const findRma = async (
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  id: string,
  ahead = readAhead(ctx, table, id),
): Promise<ReturnRow> => {
  const row = await ahead;
  if (!row || !isVisibleTo(caller, row)) throw notFound(id);
  return row;
};
