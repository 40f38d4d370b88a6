import { DEFAULT_ORDER } from '../../contract/return-order.ts';
import { type Engine, statement, statementsBy } from '../db/statements.ts';
import { rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { columnOf, isByCreation, type Matching, matching, type Shape, shapeOf } from './list-conditions.ts';
import type { Query, RmaFilters, Values } from './list-query.ts';
import { LISTED_COLUMNS, type ListedRow } from './listed.ts';
import { statusRank } from './open.ts';
import { from } from './store.ts';
import type { RmaTableName } from './visibility.ts';

// The statements of a list: its page, and the count of all that match.

const SORT_COLUMNS = { updatedAt: 'updated_at', status: 'status', statusSince: 'status_since' } as const;

/** So many rows are read, or counted, in no time. */
export const SHORT = 200;

/** By number, which every index ends with, or by a column that does not lead: the table's, since a page may leave its value out. */
const ordered = (engine: Engine, shape: Shape, found: Matching): Matching => {
  const { table, sort = DEFAULT_ORDER.sort, order = DEFAULT_ORDER.order } = shape;
  if (sort === 'number' && isByCreation(shape)) found = found.orderBy('created_at', order);
  if (sort === 'number') return found.orderBy('number', order);
  const column = columnOf(engine, shape, `${table}.${SORT_COLUMNS[sort]}`);
  const by = sort === 'status' ? statusRank(table, column) : column;
  return found.orderBy(by, order).orderBy('number', order);
};

interface PageShape extends Shape {
  /** What lies before the page is passed over by number alone. */
  byNumber: boolean;
  /** Also counts how many match, where it is no more than `SHORT`. */
  countsFew: boolean;
}

const paged = (engine: Engine, shape: PageShape, params: Values): Matching => {
  const page = ordered(engine, shape, matching(engine, shape, params))
    .limit(rowCount(params.limit))
    .offset(rowCount(params.offset));
  if (!shape.byNumber) return page;
  const own = from(engine.db, shape.table).where('shop_id', '=', params.shop);
  return ordered(engine, shape, own).where('number', 'in', page.select('number'));
};

/** No index has this order: all that match are sorted, so as little as possible is read of each. */
const isSortedByHand = ({ sort, open }: RmaFilters): boolean =>
  sort === 'status' || sort === 'statusSince' || (sort === 'updatedAt' && open === true);

const countingFew = (engine: Engine, shape: Shape, params: Values) =>
  engine.db
    .selectFrom(
      matching(engine, shape, params)
        .select('number')
        .limit(SHORT + 1)
        .as('few'),
    )
    .select((eb) => eb.fn.countAll<number>().as('counted'));

const pageOfList = statementsBy((shape: PageShape) =>
  statement((engine, params: Values) =>
    paged(engine, shape, params)
      .select(sizedColumns(LISTED_COLUMNS[shape.table], params.longest))
      .$if(shape.countsFew, (page) => page.select(countingFew(engine, shape, params).as('counted'))),
  ),
);

const countOfList = statementsBy((shape: Shape) =>
  statement((engine, params: Values) =>
    matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total')),
  ),
);

export const findPage = async <Table extends RmaTableName>(
  query: Query,
): Promise<{ rows: Sized<ListedRow<Table>>[]; counted: number | undefined }> => {
  const { ctx, plan, filters, offset, words, values } = query;
  const isShort = plan.total !== 'counted' && filters.origin === undefined && offset + filters.limit <= SHORT;
  const page = pageOfList({
    ...shapeOf(query),
    // A search reads what lies before the page from an index, and nothing else looks at a row's texts.
    byNumber: words > 0 || offset > SHORT || isSortedByHand(filters),
    countsFew: plan.total === 'with page',
  });
  const { rows } = await ctx[isShort ? 'reads' : plan.connection].executeQuery<
    Sized<ListedRow<Table>> & { counted?: number | null }
  >(ctx.fill(page, values));
  return { rows, counted: rows[0]?.counted ?? undefined };
};

export const countAll = async (query: Query): Promise<number> => {
  const { ctx, plan, values } = query;
  const { rows } = await ctx[plan.connection].executeQuery(ctx.fill(countOfList(shapeOf(query)), values));
  return rows[0]?.total ?? 0;
};
