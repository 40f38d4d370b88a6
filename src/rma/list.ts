import { sql } from 'kysely';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { RMA_COLUMNS } from '../db/columns.ts';
import type { Db } from '../db/database.ts';
import { rowCount, statement, statementsBy } from '../db/statements.ts';
import { answerPage, type PageAnswer, totalOfLastPage, WHOLE_ROWS } from '../paging/page-answer.ts';
import { readTargets } from '../shops/target-days.ts';
import {
  type Equal,
  isTotalKept,
  type ListShape,
  listQuery,
  matching,
  ordered,
  originFor,
  type RmaFilters,
  type Values,
} from './list-query.ts';
import { dueTimes } from './overdue.ts';
import { from } from './store.ts';
import { totalOf } from './totals.ts';
import { isProgram, type RmaRow, type RmaTableName } from './visibility.ts';

/** A row as lists read it: without the text for searches. */
type ListedRow<Table extends RmaTableName> = Omit<RmaRow<Table>, 'search_text'>;

const columnsOf = (table: RmaTableName) => RMA_COLUMNS[table].filter((column) => column !== 'search_text');

const pageOfList = statementsBy((shape: ListShape & { whole: boolean }) =>
  statement((engine, params: Values) =>
    ordered(matching(engine, shape, params), shape)
      .select(shape.whole ? columnsOf(shape.table) : ['id'])
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset)),
  ),
);

const countOfList = statementsBy((shape: ListShape) =>
  statement((engine, params: Values) =>
    matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total')),
  ),
);

const rowsById = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { ids }: { ids: string[] }) =>
    from(db, table)
      .select(columnsOf(table))
      .where(sql<boolean>`id ${oneOf('id', ids)}`),
  ),
);

/** What programs ask never shares connections with the admin app. */
export const listsFor = (ctx: Context, caller: Caller): Db => (isProgram(caller) ? ctx.lists : ctx.db);

/** Newest first unless asked otherwise. */
export const listRmas = async <Table extends RmaTableName, Item>(
  ctx: Context,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Equal<Table>,
  view: (row: ListedRow<Table>) => Item,
): Promise<PageAnswer<Item>> => {
  const shopId = caller.shop.id;
  const db = listsFor(ctx, caller);
  const due = filters.overdue ? dueTimes(await readTargets(ctx, shopId), table, ctx.clock.now()) : null;
  const { shape, values } = listQuery(caller, table, filters, equal, due);
  const whole = filters.limit <= WHOLE_ROWS;
  const [{ rows }, kept] = await Promise.all([
    db.executeQuery<ListedRow<Table>>(ctx.fill(pageOfList({ ...shape, whole }), values)),
    isTotalKept(shape)
      ? totalOf(ctx, shopId, table, {
          status: equal.status,
          open: filters.open,
          origin: originFor(caller, filters),
        })
      : null,
  ]);
  const count = async () => (await db.executeQuery(ctx.fill(countOfList(shape), values))).rows[0]?.total;
  const total = kept ?? totalOfLastPage(filters, rows.length) ?? (await count()) ?? 0;
  const source = {
    name: table,
    view,
    keyOf: ({ id }: ListedRow<Table>) => id,
    readRows: async (ids: string[]) =>
      (await db.executeQuery<ListedRow<Table>>(ctx.fill(rowsById(table), { ids }))).rows,
  };
  const found = whole ? { rows, keys: [], total } : { rows: [], keys: rows.map(({ id }) => id), total };
  return answerPage(ctx, shopId, source, found, filters);
};
