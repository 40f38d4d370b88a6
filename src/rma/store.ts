import { sql, type Updateable } from 'kysely';
import { isId } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import { type Context, onePer } from '../context.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db, Trx, Write } from '../db/database.ts';
import { gather } from '../db/gather.ts';
import { blank } from '../db/known-statements.ts';
import type { Row, Tables } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { isVisibleTo, type RmaRow, type RmaTableName } from './visibility.ts';

/** The queries speak of one table; either kind's may be meant, since they touch only columns that both have. */
export const from = (db: Db | Trx, table: RmaTableName) => db.selectFrom(table as 'offline_repairs');

const byId = onePer((ctx) => {
  const of = (table: RmaTableName) =>
    gather((ids: string[]) => findAll(ctx, table, ids), { most: 100, sideBySide: 2 });
  return { offline_repairs: of('offline_repairs'), trade_returns: of('trade_returns') };
});

const findAll = async ({ reads, oneOf, known }: Context, table: RmaTableName, ids: string[]) => {
  const statement = known(
    `${table} by id`,
    () =>
      from(reads, table)
        .select(RMA_COLUMNS[table])
        .where(sql<boolean>`id ${oneOf('id', blank('ids'))}`),
    { ids: [...new Set(ids)] },
  );
  const { rows } = await reads.executeQuery(statement);
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

export const updateRma = <Table extends RmaTableName>(
  trx: Trx,
  table: Table,
  id: string,
  change: Updateable<Tables[Table]>,
): Write =>
  trx
    .updateTable(table as 'offline_repairs')
    .set(change as Updateable<Tables['offline_repairs']>)
    .where('id', '=', id)
    .compile();

/** The texts staff may search by, as one lower-case text. */
export const searchText = (...parts: (string | null)[]): string =>
  parts
    .filter((part) => part !== null)
    .join(' ')
    .toLowerCase();
