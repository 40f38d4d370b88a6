import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Tables } from '../db/tables.ts';
import { answerPage, type PageAnswer, toldByLastPage } from '../paging/page-answer.ts';
import { longestText } from '../paging/row-size.ts';
import { readTargets } from '../shops/target-days.ts';
import { leadOf, numbered, phoneDigitsOf, wordsOf } from './list-conditions.ts';
import type { Plan, Query, RmaFilters } from './list-query.ts';
import { countAll, findPage, SHORT } from './list-statements.ts';
import { type ListedRow, readListed } from './listed.ts';
import { dueTimes } from './overdue.ts';
import { totalOf } from './totals.ts';
import { isProgram, type RmaTableName } from './visibility.ts';

/** Columns that must have these values, where there is one. */
type Equal<Table extends RmaTableName> = Partial<Record<keyof Tables[Table], string | number | undefined>> & {
  status: string | undefined;
};

const PLANS = {
  search: { connection: 'scans', total: 'counted' },
  workFilters: { connection: 'scans', total: 'counted' },
  updatedSince: { connection: 'db', total: 'counted' },
  reference: { connection: 'lists', total: 'with page' },
  statusOnly: { connection: 'lists', total: 'kept' },
  otherColumns: { connection: 'lists', total: 'counted' },
} as const satisfies Record<string, Plan>;

/** Filters of the staff whose totals are not kept. */
const WORK_FILTERS = ['assignee', 'overdue', 'createdFrom', 'createdTo', 'store', 'company'] as const;

const planOf = (filters: RmaFilters, named: string[]): Plan => {
  const { q, updatedSince } = filters;
  if (q) return PLANS.search;
  if (WORK_FILTERS.some((name) => filters[name] !== undefined)) return PLANS.workFilters;
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
  const query = await queryOf(ctx, table, caller, filters, equal);
  const { plan } = query;
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

const queryOf = async <Table extends RmaTableName>(
  ctx: Context,
  table: Table,
  caller: Caller,
  filters: RmaFilters,
  equal: Equal<Table>,
): Promise<Query> => {
  const { limit, page, q, assignee, store, company, updatedSince, createdFrom, createdTo } = filters;
  const offset = (page - 1) * limit;
  const named = Object.keys(equal).filter((column) => equal[column as keyof typeof equal] !== undefined);
  const words = wordsOf(q);
  const due = filters.overdue
    ? dueTimes(await readTargets(ctx, caller.shop.id), table, ctx.clock.now())
    : null;
  const values = {
    ...equal,
    ...numbered(words),
    ...due?.values,
    shop: caller.shop.id,
    updatedSince,
    createdFrom,
    createdTo,
    assignee: assignee === 'me' ? caller.actor.id : assignee,
    store: store?.toLowerCase(),
    company: company?.toLowerCase(),
    phone: phoneDigitsOf(q),
    limit,
    offset,
    longest: longestText(limit),
  };
  const plan = planOf(filters, named);
  return {
    ctx,
    table,
    caller,
    filters,
    offset,
    named,
    words: words.length,
    dueStatuses: due?.statuses,
    plan,
    values,
  };
};

const keptTotal = ({ ctx, table, caller, filters }: Query, status: string | undefined): Promise<number> =>
  totalOf(ctx, caller.shop.id, table, {
    status,
    open: filters.open,
    origin: isProgram(caller) ? 'API' : filters.origin,
  });

/** What the page itself tells of the total: the last page all of it, a statement that counted by the way up to `SHORT`. */
const totalToldBy = ({ filters }: Query, rows: number, counted: number | undefined): number | null =>
  toldByLastPage(filters, rows) ?? (counted !== undefined && counted <= SHORT ? counted : null);
