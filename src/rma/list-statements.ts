import type { Compilable, SelectQueryBuilder } from 'kysely';
import type { Page } from '../../contract/common.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/database.ts';
import { blank } from '../db/known-statements.ts';
import type { Tables } from '../db/tables.ts';
import { rowCount, type Sized, sizedColumns } from '../paging/row-size.ts';
import { LISTED_COLUMNS, type ListedRow } from './listed.ts';
import { from } from './store.ts';
import type { Origin } from './totals.ts';
import { isProgram, type RmaTableName, visibleTo } from './visibility.ts';

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

/** So many rows are read, or counted, in no time. */
export const SHORT = 200;

/** How a list is found, and where its total comes from. */
export interface Plan {
  /** `db` where the best plan depends on the values; otherwise an index leads to the page, and often straight. */
  connection: 'db' | 'steady';
  /** Kept with every change, counted in the page's own statement up to `SHORT`, or counted where the page does not tell. */
  total: 'kept' | 'with page' | 'counted';
}
/** A list that was asked for, with all that its statements are made of. */
export interface Query {
  ctx: Context;
  table: RmaTableName;
  caller: Caller;
  filters: RmaFilters;
  offset: number;
  /** Columns that must have a value of their own. */
  named: string[];
  plan: Plan;
  db: Db;
  values: Record<string, unknown>;
}

type Matching = SelectQueryBuilder<Tables, 'offline_repairs', object>;

/** A search is built anew with its words; any other list is a statement that is known, with other values. */
const valueIn = <Value>({ filters, values }: Query, name: string): Value =>
  filters.q ? (values[name] as Value) : blank(name);

const run = async <Result>(
  query: Query,
  db: Db,
  what: string,
  build: () => Compilable<Result>,
): Promise<Result[]> => {
  const { ctx, table, caller, filters, named, values } = query;
  const { q, updatedSince, origin, sort, order } = filters;
  const shape = [what, table, isProgram(caller), named, updatedSince !== undefined, origin, sort, order].join(
    ' ',
  );
  const statement = q ? build().compile() : ctx.known(shape, build, values);
  return (await db.executeQuery(statement)).rows;
};

const wordsOf = (q: string | undefined): string[] => q?.split(/\s+/).filter(Boolean) ?? [];

const matching = (query: Query): Matching => {
  const { ctx, table, caller, filters, named, db } = query;
  const { updatedSince, origin, q } = filters;
  let found: Matching = from(db, table).where(visibleTo(caller, valueIn(query, 'shop')));
  for (const column of named)
    found = found.where(column as 'order_number', '=', valueIn<string>(query, column));
  if (updatedSince !== undefined)
    found = found.where('updated_at', '>=', valueIn<number>(query, 'updatedSince'));
  if (origin) found = found.where('client_id', origin === 'API' ? 'is not' : 'is', null);
  for (const word of wordsOf(q)) found = found.where(ctx.contains('search_text', word.toLowerCase()));
  return found;
};

const ordered = ({ filters }: Query, found: Matching): Matching => {
  const { sort = DEFAULT_ORDER.sort, order = DEFAULT_ORDER.order } = filters;
  const first = found.orderBy(SORT_COLUMNS[sort], order);
  return sort === 'number' ? first : first.orderBy('number', order);
};

/** What lies before a page is passed over by number alone: a search reads that from an index, and nothing else looks at a row's texts. */
const isChosenByNumber = ({ filters, offset }: Query): boolean => Boolean(filters.q) || offset > SHORT;

const paged = (query: Query): Matching => {
  const page = ordered(query, matching(query))
    .limit(rowCount(valueIn(query, 'limit')))
    .offset(rowCount(valueIn(query, 'offset')));
  if (!isChosenByNumber(query)) return page;
  const own = from(query.db, query.table).where('shop_id', '=', valueIn<string>(query, 'shop'));
  return ordered(query, own).where('number', 'in', page.select('number'));
};

/** How many match, where it is no more than `SHORT`. */
const countingFew = (query: Query) =>
  query.db
    .selectFrom(
      matching(query)
        .select('number')
        .limit(SHORT + 1)
        .as('few'),
    )
    .select((eb) => eb.fn.countAll<number>().as('counted'));

export const findPage = async <Table extends RmaTableName>(
  query: Query,
): Promise<{ rows: Sized<ListedRow<Table>>[]; counted: number | undefined }> => {
  const { ctx, table, plan, filters, offset, db } = query;
  const isShort = plan.total !== 'counted' && filters.origin === undefined && offset + filters.limit <= SHORT;
  const what = isChosenByNumber(query) ? 'page by number' : 'page';
  const rows = await run(query, isShort ? ctx.reads : db, what, () =>
    paged(query)
      .select(sizedColumns(LISTED_COLUMNS[table], valueIn(query, 'longest')))
      .$if(plan.total === 'with page', (page) => page.select(countingFew(query).as('counted'))),
  );
  const found = rows as unknown as Sized<ListedRow<Table>>[];
  return { rows: found, counted: rows[0]?.counted ?? undefined };
};

export const countAll = async (query: Query): Promise<number> => {
  const counting = () => matching(query).select((eb) => eb.fn.countAll<number>().as('total'));
  return (await run(query, query.db, 'count', counting))[0]?.total ?? 0;
};
