import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { answerPage, type PageAnswer, toldByLastPage } from '../paging/page-answer.ts';
import { longestText } from '../paging/row-size.ts';
import {
  countAll,
  findPage,
  leadOf,
  numbered,
  type Plan,
  type Query,
  type RmaFilters,
  SHORT,
  wordsOf,
} from './list-statements.ts';
import { type ListedRow, readListed } from './listed.ts';
import { totalOf } from './totals.ts';
import { isProgram, type RmaTableName } from './visibility.ts';

/** Columns that must have these values, where there is one. */
type Equal<Table extends RmaTableName> = Partial<Record<keyof Tables[Table], string | number | undefined>> & {
  status: string | undefined;
};

const PLANS = {
  search: { connection: 'db', total: 'counted' },
  updatedSince: { connection: 'db', total: 'counted' },
  reference: { connection: 'lists', total: 'with page' },
  statusOnly: { connection: 'lists', total: 'kept' },
  otherColumns: { connection: 'lists', total: 'counted' },
} as const satisfies Record<string, Plan>;

const planOf = ({ q, updatedSince }: RmaFilters, named: string[]): Plan => {
  if (q) return PLANS.search;
  if (updatedSince !== undefined) return PLANS.updatedSince;
  if (leadOf(named) !== undefined) return PLANS.reference;
  return named.every((column) => column === 'status') ? PLANS.statusOnly : PLANS.otherColumns;
};

/** Newest first unless asked otherwise: a shop's numbers rise with every creation, so their order is stable and has an index. */
export const listRmas = async <Table extends RmaTableName, Item>(
  ctx: Context,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Equal<Table>,
  view: (row: ListedRow<Table>) => Item,
): Promise<PageAnswer<Item>> => {
  const offset = (filters.page - 1) * filters.limit;
  const { updatedSince, limit } = filters;
  const longest = longestText(limit);
  const named = Object.keys(equal).filter((column) => equal[column as keyof typeof equal] !== undefined);
  const plan = planOf(filters, named);
  const words = wordsOf(filters.q);
  const values = { ...equal, ...numbered(words), shop: caller.shop.id, updatedSince, limit, offset, longest };
  const query = { ctx, table, caller, filters, offset, named, words: words.length, plan, values };
  const [{ rows, counted }, kept] = await Promise.all([
    findPage<Table>(query),
    plan.total === 'kept' ? keptTotal(query, equal.status) : null,
  ]);
  const total = kept ?? totalToldBy(query, rows.length, counted) ?? (await countAll(query));
  const source = {
    name: table,
    view,
    keyOf: ({ id }: ListedRow<Table>) => id,
    readWhole: (ids: string[]) => readListed(ctx, table, ids),
  };
  return answerPage(ctx, caller.shop.id, source, { rows, total }, filters);
};

const keptTotal = ({ ctx, table, caller, filters }: Query, status: string | undefined): Promise<number> =>
  totalOf(ctx, caller.shop.id, table, { status, origin: isProgram(caller) ? 'API' : filters.origin });

/** What the page itself tells of the total: the last page all of it, a statement that counted by the way up to `SHORT`. */
const totalToldBy = ({ filters }: Query, rows: number, counted: number | undefined): number | null =>
  toldByLastPage(filters, rows) ?? (counted !== undefined && counted <= SHORT ? counted : null);
