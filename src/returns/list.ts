import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { RMA_COLUMNS } from '../db/schema.ts';
import { type Engine, rowCount, statement, statementsBy } from '../db/statements.ts';
import { answerPage, type PageAnswer, totalOfLastPage } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets } from '../shops/target-days.ts';
import {
  type Equal,
  isByReference,
  isInOrder,
  isTotalKept,
  type ListShape,
  listQuery,
  matching,
  ordered,
  originFor,
  type PageShape,
  type RmaFilters,
  type Values,
} from './list-query.ts';
import { dueTimes } from './open.ts';
import { from, isApiClient, type ReturnRow, type RmaTableName } from './store.ts';
import { totalOf } from './totals.ts';

const columnsOf = (table: RmaTableName) => RMA_COLUMNS[table].filter((column) => column !== 'search_text');

const counting = (engine: Engine, shape: ListShape, params: Values) =>
  matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total'));

const pageOfList = statementsBy((shape: PageShape) =>
  statement((engine, params: Values) =>
    ordered(matching(engine, shape, params), shape)
      .select(shape.whole ? columnsOf(shape.table) : ['number'])
      .$if(isByReference(shape), (page) => page.select(counting(engine, shape, params).as('total')))
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset)),
  ),
);

const countOfList = statementsBy((shape: ListShape) =>
  statement((engine, params: Values) => counting(engine, shape, params)),
);

const rowsByNumber = statementsBy((table: RmaTableName) =>
  statement(({ db, oneOf }, { shop, numbers }: { shop: string; numbers: number[] }) =>
    from(db, table)
      .select(columnsOf(table))
      .where('shop_id', '=', shop)
      .where(sql<boolean>`number ${oneOf('integer', numbers)}`),
  ),
);

/** Up to this limit a page reads whole rows: 6 MB of repairs at the most, 12 MB of trade returns. */
const WHOLE_ROWS = { offline_repairs: 100, trade_returns: 50 };

/** A page of a program that ends within so many rows, with a kept total, is a short read. */
const SHORT = 200;

/** Up to so many that changed lately are sorted; beyond, the page is found sooner among all numbers. */
const FEW = 10_000;

/** What programs ask never shares connections with the admin app. */
export const listsFor = (ctx: Context, caller: Caller): Db => (isApiClient(caller) ? ctx.lists : ctx.db);

/** Newest first unless asked otherwise. */
export const listRmas = async <Table extends RmaTableName, Item>(
  ctx: Context,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Equal<Table>,
  view: (row: ReturnRow<Table>) => Item,
): Promise<PageAnswer<Item>> => {
  const shopId = caller.shop.id;
  const due = filters.overdue ? dueTimes(await readTargets(ctx, shopId), table, ctx.clock.now()) : null;
  const { shape, values } = listQuery(caller, table, filters, equal, due);
  const isQuick = isTotalKept(shape) && isInOrder(shape);
  const db = isQuick || isApiClient(caller) ? listsFor(ctx, caller) : ctx.scans;
  const count = async () => (await db.executeQuery(ctx.fill(countOfList(shape), values))).rows[0]?.total ?? 0;
  // Kept plans know no values, so the count decides how the page is read.
  const counted = filters.updatedSince === undefined ? null : await count();
  const few = counted !== null && counted <= FEW;
  // Otherwise numbers are found first, which most indexes have. SQLite sorted whole rows: 2.5 s instead of 0.6 s for a million.
  const whole = filters.limit <= WHOLE_ROWS[table] && isInOrder(shape);
  const page = pageOfList({ ...shape, whole, few });
  // On the same connections as its total, which then joins larger batches: 0.69 ms of processor time a list instead of 0.91.
  const isShort = isApiClient(caller) && isTotalKept(shape) && values.offset + filters.limit <= SHORT;
  const pages = isShort ? ctx.reads : db;
  const [{ rows }, kept] = await Promise.all([
    counted === 0
      ? { rows: [] }
      : pages.executeQuery<ReturnRow<Table> & { total?: number }>(ctx.fill(page, values)),
    isTotalKept(shape)
      ? totalOf(ctx, shopId, table, {
          status: equal.status,
          open: filters.open,
          origin: originFor(caller, filters),
        })
      : counted,
  ]);
  const total = kept ?? rows[0]?.total ?? totalOfLastPage(filters, rows.length) ?? (await count());
  const source = {
    name: table,
    view,
    keyOf: ({ number }: ReturnRow<Table>) => number,
    readRows: async (numbers: number[]) =>
      (
        await listsFor(ctx, caller).executeQuery<ReturnRow<Table>>(
          ctx.fill(rowsByNumber(table), { shop: shopId, numbers }),
        )
      ).rows,
  };
  const found = whole
    ? { rows, keys: [], total }
    : { rows: [], keys: rows.map(({ number }) => number), total };
  return answerPage(ctx, shopId, source, found, filters);
};
