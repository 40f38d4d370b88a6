import { sql } from 'kysely';
import { isId } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import { type Context, onePer } from '../context.ts';
import { batched } from '../db/batch.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db, Trx, Write } from '../db/database.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { isVisibleTo, type RmaRow, type RmaTableName } from './visibility.ts';

/** The queries speak of one table; either kind's may be meant, since they touch only columns that both have. */
export const from = (db: Db | Trx, table: RmaTableName) => db.selectFrom(table as 'offline_repairs');

const byId = onePer((ctx) => {
  const of = (table: RmaTableName) =>
    batched((ids: string[]) => findAll(ctx, table, ids), { most: 100, atOnce: 2 });
  return { offline_repairs: of('offline_repairs'), trade_returns: of('trade_returns') };
});

const rowsById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(RMA_COLUMNS[table])
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

const findAll = async ({ reads, fill }: Context, table: RmaTableName, ids: string[]) => {
  const { rows } = await reads.executeQuery(fill(rowsById(table), { ids: [...new Set(ids)] }));
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
};

/** What another may not see is not there for them. */
const seenBy = <Table extends RmaTableName>(
  caller: Caller,
  row: Row<'offline_repairs'> | null | undefined,
): RmaRow<Table> => {
  if (!row || !isVisibleTo(caller, row)) throw new ServiceError('NOT_FOUND');
  return row as unknown as RmaRow<Table>;
};

/** A row that was read before it is known who asks for it. */
export type Ahead = ReturnType<typeof readAhead>;

/** A malformed id names nothing; PostgreSQL would even refuse to compare with it. */
export const readAhead = async (ctx: Context, table: RmaTableName, id: string) =>
  isId(id) ? byId(ctx)[table](id) : null;

export const findRma = async <Table extends RmaTableName>(
  ctx: Context,
  table: Table,
  caller: Caller,
  id: string,
  ahead: Ahead = readAhead(ctx, table, id),
): Promise<RmaRow<Table>> => seenBy<Table>(caller, await ahead);

/** As it stands now, held until the transaction ends, so that changes of one RMA happen one after another. */
export const lockRma = async <Table extends RmaTableName>(
  trx: Trx,
  table: Table,
  caller: Caller,
  id: string,
): Promise<RmaRow<Table>> => {
  const row = isId(id)
    ? await from(trx, table).select(RMA_COLUMNS[table]).where('id', '=', id).forUpdate().executeTakeFirst()
    : null;
  return seenBy<Table>(caller, row);
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

/** The texts staff may search by, as one lower-case text. */
export const searchText = (...parts: (string | null)[]): string =>
  parts
    .filter((part) => part !== null)
    .join(' ')
    .toLowerCase();
