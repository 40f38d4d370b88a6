import { type SelectQueryBuilder, sql } from 'kysely';
import type { Page } from '../../contract/common.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { type Engine, statement, statementsBy } from '../db/statements.ts';
import type { Tables } from '../db/tables.ts';
import { rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { LISTED_COLUMNS, type ListedRow } from './listed.ts';
import { from } from './store.ts';
import type { Origin } from './totals.ts';
import { isProgram, isVisible, type RmaTableName } from './visibility.ts';

// The statements of a list: its page, and the count of all that match.

/** What a list may be narrowed by, of either kind. */
export interface RmaFilters extends Page {
  updatedSince?: number | undefined;
  /** Staff only: free text, every word of which must be found. */
  q?: string | undefined;
  /** Staff only: made by programs or by people. */
  origin?: Origin | undefined;
  /** Staff only: newest first without. */
  sort?: ReturnSort | undefined;
  order?: SortOrder | undefined;
}

/** Each leads an index, whose end the tie-breaking number is or continues. */
const SORT_COLUMNS = { number: 'number', updatedAt: 'updated_at', status: 'status' } as const;

/** Columns by which a shop's own systems look for their RMAs. Each has an index; few rows have the value of the first. */
const REFERENCES = ['number', 'serial_number', 'external_ref', 'order_number', 'trade_order_number'];

/** The column whose index leads to the rows, whatever else they must match. */
export const leadOf = (named: string[]): string | undefined =>
  REFERENCES.find((column) => named.includes(column));

/** So many rows are read, or counted, in no time. */
export const SHORT = 200;

/** How a list is found, and where its total comes from. */
export interface Plan {
  /** `db` where the best plan depends on the values; otherwise an index leads to the page, and often straight. */
  connection: 'db' | 'lists';
  /** Kept with every change, counted in the page's own statement up to `SHORT`, or counted where the page does not tell. */
  total: 'kept' | 'with page' | 'counted';
}

/** A list that was asked for, with the values of its statements. */
export interface Query {
  ctx: Context;
  table: RmaTableName;
  caller: Caller;
  filters: RmaFilters;
  offset: number;
  /** Columns that must have a value of their own. */
  named: string[];
  /** How many words are searched for. */
  words: number;
  plan: Plan;
  values: Values;
}

/** Also the columns that must have a value, and the words that must be found: `word0`, `word1` … */
type Values = {
  shop: string;
  updatedSince: number | undefined;
  limit: number;
  offset: number;
  longest: number;
} & Record<string, unknown>;

export const wordsOf = (q: string | undefined): string[] =>
  q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];

export const numbered = (words: string[]): Record<string, string> =>
  Object.fromEntries(words.map((word, i) => [`word${i}`, word]));

/** What the text of a list's statements depends on. */
interface Shape extends Pick<RmaFilters, 'origin' | 'sort' | 'order'> {
  table: RmaTableName;
  forProgram: boolean;
  named: string[];
  since: boolean;
  words: number;
}

const shapeOf = ({
  table,
  caller,
  filters: { updatedSince, origin, sort, order },
  named,
  words,
}: Query): Shape => ({
  table,
  forProgram: isProgram(caller),
  named,
  since: updatedSince !== undefined,
  origin,
  sort,
  order,
  words,
});

type Matching = SelectQueryBuilder<Tables, 'offline_repairs', object>;

/** A column other than the lead. */
const columnOf = <Column extends string>({ beside }: Engine, { named }: Shape, column: Column) => {
  const lead = leadOf(named);
  return lead === undefined || lead === column ? sql.ref(column) : beside(column);
};

const matching = (engine: Engine, shape: Shape, params: Values): Matching => {
  const { table, forProgram, named, since, origin, words } = shape;
  const { db, contains } = engine;
  let found: Matching = from(db, table).where(isVisible(params.shop, forProgram));
  for (const column of named) found = found.where(columnOf(engine, shape, column), '=', params[column]);
  if (since) found = found.where(columnOf(engine, shape, 'updated_at'), '>=', params.updatedSince);
  if (origin) found = found.where('client_id', origin === 'API' ? 'is not' : 'is', null);
  for (let i = 0; i < words; i++) found = found.where(contains('search_text', params[`word${i}`] as string));
  return found;
};

/** By number, which every index ends with, or by a column that does not lead: the table's, since a page may leave its value out. */
const ordered = (engine: Engine, shape: Shape, found: Matching): Matching => {
  const { sort = DEFAULT_ORDER.sort, order = DEFAULT_ORDER.order } = shape;
  if (sort === 'number') return found.orderBy('number', order);
  const column = `${shape.table}.${SORT_COLUMNS[sort]}`;
  return found.orderBy(columnOf(engine, shape, column), order).orderBy('number', order);
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
    byNumber: words > 0 || offset > SHORT,
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
