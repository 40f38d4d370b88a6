import { sql, type Updateable } from 'kysely';
import { isId, type Page } from '../../contract/common.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Caller } from '../caller.ts';
import type { Db, Trx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { type RmaRow, type RmaTableName, visibleTo } from './visibility.ts';

/** The queries speak of one table; either kind's may be meant, since they touch only columns that both have. */
const from = (db: Db | Trx, table: RmaTableName) => db.selectFrom(table as 'offline_repairs');

const one = (db: Db | Trx, table: RmaTableName, caller: Caller, id: string) =>
  from(db, table).selectAll().where('id', '=', id).where(visibleTo(caller));

const orNotFound = async <Found>(id: string, read: () => Promise<unknown>): Promise<Found> => {
  // A malformed id names nothing; PostgreSQL would even refuse to compare with it.
  const row = isId(id) ? await read() : undefined;
  if (!row) throw new ServiceError('NOT_FOUND');
  return row as Found;
};

export const findRma = <Table extends RmaTableName>(
  db: Db,
  table: Table,
  caller: Caller,
  id: string,
): Promise<RmaRow<Table>> => orNotFound(id, () => one(db, table, caller, id).executeTakeFirst());

/** As it stands now, held until the transaction ends, so that changes of one RMA happen one after another. */
export const lockRma = <Table extends RmaTableName>(
  trx: Trx,
  table: Table,
  caller: Caller,
  id: string,
): Promise<RmaRow<Table>> => orNotFound(id, () => one(trx, table, caller, id).forUpdate().executeTakeFirst());

export const updateRma = async <Table extends RmaTableName>(
  trx: Trx,
  table: Table,
  id: string,
  change: Updateable<Tables[Table]>,
): Promise<RmaRow<Table>> =>
  (await trx
    .updateTable(table as 'offline_repairs')
    .set(change as Updateable<Tables['offline_repairs']>)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()) as unknown as RmaRow<Table>;

/** What a list may be narrowed by, of either kind. */
export interface RmaFilters extends Page {
  updatedSince?: number | undefined;
  /** Staff only: free text, every word of which must be found. */
  q?: string | undefined;
  /** Staff only: made by programs or by people. */
  origin?: 'API' | 'STAFF' | undefined;
  /** Staff only: newest first without. */
  sort?: ReturnSort | undefined;
  order?: SortOrder | undefined;
}

/** Each leads an index, whose end the tie-breaking number is or continues. */
const SORT_COLUMNS = { number: 'number', updatedAt: 'updated_at', status: 'status' } as const;

const escaped = (word: string): string => word.toLowerCase().replaceAll(/[\\%_]/g, '\\$&');

/** Newest first unless asked otherwise: a shop's numbers rise with every creation, so their order is stable and has an index. */
export const listRmas = async <Table extends RmaTableName>(
  db: Db,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Partial<Record<keyof Tables[Table], string | undefined>>,
): Promise<{ rows: RmaRow<Table>[]; total: number }> => {
  const { updatedSince, q, origin, sort = DEFAULT_ORDER.sort, order = DEFAULT_ORDER.order } = filters;
  const matching = () => {
    let query = from(db, table).where(visibleTo(caller));
    for (const [column, value] of Object.entries(equal))
      if (value !== undefined) query = query.where(column as 'order_number', '=', value as string);
    if (updatedSince !== undefined) query = query.where('updated_at', '>=', updatedSince);
    if (origin) query = query.where('client_id', origin === 'API' ? 'is not' : 'is', null);
    for (const word of q?.split(/\s+/).filter(Boolean) ?? [])
      query = query.where(sql<boolean>`search_text like ${`%${escaped(word)}%`} escape '\\'`);
    return query;
  };
  const [rows, { total }] = await Promise.all([
    matching()
      .selectAll()
      .orderBy(SORT_COLUMNS[sort], order)
      .$if(sort !== 'number', (query) => query.orderBy('number', order))
      .limit(filters.limit)
      .offset((filters.page - 1) * filters.limit)
      .execute(),
    matching()
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { rows: rows as unknown as RmaRow<Table>[], total };
};

/** The texts staff may search by, as one lower-case text. */
export const searchText = (...parts: (string | null)[]): string =>
  parts
    .filter((part) => part !== null)
    .join(' ')
    .toLowerCase();
