import { sql } from 'kysely';
import { isId, rmaNumber } from '../../contract/common.ts';
import type { Base } from '../base.ts';
import type { Caller } from '../caller.ts';
import { batched } from '../db/batch.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db, Trx, Write } from '../db/database.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { fromStored } from '../stored-json.ts';
import { isVisibleTo, type RmaRow, type RmaTableName } from './visibility.ts';

/** Queries are typed for one table but work on either, since they use only columns that both have. */
export const from = (db: Db | Trx, table: RmaTableName) => db.selectFrom(table as 'offline_repairs');

/** An RMA of either kind, or null where there is none by this id. */
export type RmaById = { [Table in RmaTableName]: (id: string) => Promise<RmaRow<Table> | null> };

export const readRmaById = (ctx: Pick<Base, 'reads' | 'fill'>): RmaById => {
  const of = <Table extends RmaTableName>(table: Table) =>
    batched((ids: string[]) => findAll(ctx, table, ids), { most: 100, atOnce: 2 });
  return { offline_repairs: of('offline_repairs'), trade_returns: of('trade_returns') };
};

const rowsById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(RMA_COLUMNS[table])
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

const findAll = async <Table extends RmaTableName>(
  { reads, fill }: Pick<Base, 'reads' | 'fill'>,
  table: Table,
  ids: string[],
): Promise<(RmaRow<Table> | null)[]> => {
  const query = fill(rowsById(table), { ids: [...new Set(ids)] });
  const { rows } = await reads.executeQuery<RmaRow<Table>>(query);
  const found = new Map<string, RmaRow<Table>>(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
};

/** Refuses an RMA that the caller may not see, as if it did not exist. */
const requireVisible = <Table extends RmaTableName>(
  caller: Caller,
  row: RmaRow<Table> | null | undefined,
): RmaRow<Table> => {
  if (!row || !isVisibleTo(caller, row)) throw new ServiceError('NOT_FOUND');
  return row;
};

interface Reading {
  rmaById: RmaById;
}

/** A row whose read started before it was known who asks for it. */
export type Ahead<Table extends RmaTableName> = Promise<RmaRow<Table> | null>;

/** A malformed id finds nothing. PostgreSQL would even refuse to compare with it. */
export const readAhead = async <Table extends RmaTableName>(
  { rmaById }: Reading,
  table: Table,
  id: string,
): Ahead<Table> => (isId(id) ? rmaById[table](id) : null);

export const findRma = async <Table extends RmaTableName>(
  ctx: Reading,
  table: Table,
  caller: Caller,
  id: string,
  ahead: Ahead<Table> = readAhead(ctx, table, id),
): Promise<RmaRow<Table>> => requireVisible<Table>(caller, await ahead);

/** Reads and locks an RMA until the transaction ends, so that its changes happen one after another. */
export const lockRma = async <Table extends RmaTableName>(
  trx: Trx,
  table: Table,
  caller: Caller,
  id: string,
): Promise<RmaRow<Table>> => {
  const locking = from(trx, table).select(RMA_COLUMNS[table]).where('id', '=', id).forUpdate();
  const { rows } = await trx.executeQuery<RmaRow<Table>>(locking);
  return requireVisible<Table>(caller, rows[0]);
};

const updating = statementsBy(({ table, columns }: { table: RmaTableName; columns: string[] }) =>
  statement(({ db }, params: { id: string } & Record<string, unknown>) =>
    db
      .updateTable(table as 'offline_repairs')
      .set(Object.fromEntries(columns.map((column) => [column, params[column]])))
      .where('id', '=', params.id),
  ),
);

export const updateRma = (table: RmaTableName, id: string, set: object): Write =>
  change(updating({ table, columns: Object.keys(set) }), { ...set, id });

export type Searched =
  | Omit<Row<'offline_repairs'>, 'search_text'>
  | Omit<Row<'trade_returns'>, 'search_text'>;

const searchedParts = (row: Searched): (string | null)[] => {
  if ('faulty_item' in row) {
    const { sku } = fromStored('faulty_item', row.faulty_item);
    return [row.order_number, row.customer_name, row.customer_email, sku, row.serial_number];
  }
  const items: { sku: string }[] = fromStored('items', row.items);
  const company = [row.company_name, row.company_id];
  const skus = items.map(({ sku }) => sku);
  return [row.trade_order_number, row.customer_name, row.customer_email, ...company, ...skus];
};

/** The text that staff search in: all parts in lower case. */
export const searchTextOf = (row: Searched): string =>
  [rmaNumber(row.number), ...searchedParts(row)]
    .filter((part) => part !== null)
    .join(' ')
    .toLowerCase();
