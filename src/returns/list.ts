import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { RmaFilters } from '../../contract/admin-returns.ts';
import type { ReturnTable } from '../../contract/kinds.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Tables } from '../db/schema.ts';
import { statement, statementsBy } from '../db/statements.ts';
import type { Db, Engine } from '../db/types.ts';
import { fold } from '../lib/fold.ts';
import { type PageResponse, totalOfLastPage } from '../paging/page-response.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets } from '../shops/settings.ts';
import { KINDS } from './kinds/kinds.ts';
import { emailSpellings, searchedFor } from './search-text.ts';
import type { ReturnServices } from './services.ts';
import {
  from,
  hasEndedStatus,
  isApiClient,
  isOpen,
  type ReturnRow,
  returnColumns,
  statusRank,
} from './store.ts';
import { isTotalKept, keptTotal, type Origin } from './totals.ts';
import { dueAtSql, IS_NOT_WAITING, IS_WAITING, type TargetParams, targetParams } from './waiting.ts';

// Lists of returns. To add a filter: its schema, and under the same name its column in `EQUAL` or its condition in `CONDITIONS`.

/** The parameters that determine the text of a list's statements. */
interface ListShape {
  table: ReturnTable;
  conditions: Condition[];
  words: number;
  phone: boolean;
  /** The number of spellings of an email to look up; most have one. */
  emails: number;
  /** The statuses with target days, if the list needs due times. */
  dueStatuses: string[];
  sort: ReturnSort;
  order: SortOrder;
}

/** Values by filter, condition, word (`word0`, `word1` …) or spelling of an email (`email0` …). */
type ListValues = { shop: string; limit: number; offset: number } & Record<string, unknown>;

type ToCondition = (params: ListValues, engine: Engine, shape: ListShape) => RawBuilder<SqlBool>;

/** It finds the stores first, of which there are few: the index leads from each to the next. */
const hasStoreLike: ToCondition = ({ shop, store }, { containsAnyCase }) => {
  const next = (after: RawBuilder<SqlBool>) =>
    sql`(select min(store_id) from offline_repairs where shop_id = ${shop} and ${after})`;
  return sql<SqlBool>`store_id in (
    with recursive store(store_id) as (
      select ${next(sql<SqlBool>`true`)}
      union all select ${next(sql<SqlBool>`offline_repairs.store_id > store.store_id`)} from store where store.store_id is not null
    )
    select store.store_id from store where ${containsAnyCase('store.store_id', store as string)})`;
};

/** The search text has an index and contains the company, but also other texts, so the column is compared as well. */
const hasCompanyLike: ToCondition = ({ company, companyWords }, { contains, containsAnyCase }) => {
  const inEither = ['company_name', 'company_id'].map((name) => containsAnyCase(name, company as string));
  return sql<SqlBool>`${contains('search_text', companyWords as string)} and (${sql.join(inEither, sql` or `)})`;
};

/** The index contains the email in lower case. Rows with one spelling are sorted by number. */
const hasCustomerEmail: ToCondition = (params, _engine, { emails }) => {
  const spellings = Array.from({ length: emails }, (_, i) => params[`email${i}`]);
  const column = sql`lower(customer_email)`;
  return emails === 1
    ? sql<SqlBool>`${column} = ${spellings[0]}`
    : sql<SqlBool>`${column} in (${sql.join(spellings)})`;
};

/** Matches all words, or the digits of a phone number in another spelling. */
const hasWords: ToCondition = (params, { contains }, { words, phone }) => {
  const has = (name: string) => contains('search_text', params[name] as string);
  const all = sql<SqlBool>`${sql.join(
    Array.from({ length: words }, (_, i) => has(`word${i}`)),
    sql` and `,
  )}`;
  return phone ? sql<SqlBool>`((${all}) or ${has('phone')})` : all;
};

const EXACT_FILTERS = {
  rmaNumber: 'number',
  status: 'status',
  externalRef: 'external_ref',
  externalSource: 'external_source',
  orderNumber: 'order_number',
  storeId: 'store_id',
  serialNumber: 'serial_number',
  disposition: 'offline_disposition',
  isDangerous: 'is_dangerous',
  tradeOrderNumber: 'trade_order_number',
  companyId: 'company_id',
  assigned: 'assignee_id',
} as const;
const equalTo = Object.entries(EXACT_FILTERS).map(([name, column]): [string, ToCondition] => [
  name,
  (params) => sql`${sql.ref(column)} = ${params[name]}`,
]);

const CONDITIONS = {
  ...(Object.fromEntries(equalTo) as Record<keyof typeof EXACT_FILTERS, ToCondition>),
  fromApi: () => sql`receiver_id is not null`,
  fromStaff: () => sql`receiver_id is null`,
  open: (_params, _engine, { table }) => isOpen(table),
  ended: (_params, _engine, { table }) => hasEndedStatus(table),
  customerEmail: hasCustomerEmail,
  updatedSince: ({ updatedSince }) => sql`updated_at >= ${updatedSince}`,
  createdFrom: ({ createdFrom }) => sql`created_at >= ${createdFrom}`,
  createdTo: ({ createdTo }) => sql`created_at < ${createdTo}`,
  unassigned: () => sql`assignee_id is null`,
  dueFrom: (params, _engine, { dueStatuses }) =>
    sql`${dueAtSql(dueStatuses, params)} >= ${params['dueFrom']}`,
  // `enteredBefore` is earlier by the shortest target, so that the index on `status_since` can be used.
  dueTo: (params, _engine, { dueStatuses }) =>
    sql`status_since < ${params['enteredBefore']} and ${dueAtSql(dueStatuses, params)} < ${params['dueTo']}`,
  waiting: () => IS_WAITING,
  notWaiting: () => IS_NOT_WAITING,
  waitingFor: ({ waitingFor }) => sql`waiting_for = ${waitingFor}`,
  store: hasStoreLike,
  company: hasCompanyLike,
  words: hasWords,
} satisfies Record<string, ToCondition>;
type Condition = keyof typeof CONDITIONS;

/** For these filters, and those with stored totals, an index has the rows sorted by number. */
const IN_ORDER: readonly string[] = [...Object.keys(EXACT_FILTERS), 'customerEmail', 'unassigned'];

const isInOrder = ({ sort, conditions, emails }: ListShape): boolean =>
  sort === 'number' && emails <= 1 && isTotalKept(conditions.filter((name) => !IN_ORDER.includes(name)));

/** References have an index, and few returns of a shop have the same one. */
const REFERENCES: readonly Condition[] = [
  'externalRef',
  'orderNumber',
  'serialNumber',
  'tradeOrderNumber',
  'customerEmail',
];

/** Two references do not count: an index finds the returns with one of them, which may be many without the other. */
const isByReference = (shape: ListShape): boolean => {
  const [reference, another] = withoutOrigin(shape);
  return isInOrder(shape) && another === undefined && REFERENCES.some((name) => name === reference);
};

const withoutOrigin = ({ conditions }: ListShape): Condition[] =>
  conditions.filter((name) => name !== 'fromApi' && name !== 'fromStaff');

/** A number identifies one return, whatever the other filters are. */
const isOneReturn = ({ conditions }: ListShape): boolean => conditions.includes('rmaNumber');

const isCountedWithPage = (shape: ListShape): boolean => isTotalKept(shape.conditions) || isOneReturn(shape);

/** These filters may match few of many numbers. */
const COUNTED_FIRST: readonly Condition[] = ['updatedSince', 'dueFrom', 'dueTo', 'waiting'];

const originFor = (caller: Caller, { origin }: RmaFilters): Origin | undefined =>
  isApiClient(caller) ? 'API' : origin;

const listQuery = (
  caller: Caller,
  table: ReturnTable,
  filters: RmaFilters,
  targets: TargetParams | null,
  nowMs: number,
): { shape: ListShape; values: ListValues } => {
  const { page, limit, q, assignee, isDangerous } = filters;
  const { words, phone } = q === undefined ? { words: [], phone: undefined } : searchedFor(q);
  const emails = filters.customerEmail === undefined ? [] : emailSpellings(filters.customerEmail);
  const origin = originFor(caller, filters);
  // Overdue returns were due before now.
  const dueTo = filters.overdue ? Math.min(nowMs + 1, filters.dueTo ?? nowMs + 1) : filters.dueTo;
  const waits = filters.waitingFor !== undefined && filters.waitingFor !== 'none';
  const open = waits || filters.dueFrom !== undefined || dueTo !== undefined ? true : filters.open;
  /** The value of each filter, or whether it is used if it has none. */
  const asked: Record<string, unknown> = {
    ...filters,
    dueTo,
    isDangerous: isDangerous === undefined ? undefined : Number(isDangerous),
    store: filters.store?.toLowerCase(),
    company: filters.company?.toLowerCase(),
    companyWords: filters.company === undefined ? undefined : fold(filters.company),
    fromApi: origin === 'API',
    fromStaff: origin === 'STAFF',
    open: open === true,
    ended: open === false,
    assigned: assignee === 'me' ? caller.actor.id : assignee !== 'none' && assignee,
    unassigned: assignee === 'none',
    waiting: waits,
    notWaiting: filters.waitingFor === 'none',
    waitingFor: waits && filters.waitingFor !== 'any' && filters.waitingFor,
    words: words.length > 0,
  };
  const isAsked = (name: Condition) => asked[name] !== undefined && asked[name] !== false;
  const shape: ListShape = {
    table,
    conditions: (Object.keys(CONDITIONS) as Condition[]).filter(isAsked),
    words: words.length,
    phone: phone !== undefined,
    emails: emails.length,
    dueStatuses: targets?.statuses ?? [],
    // Without targets nothing is due.
    sort:
      filters.sort === 'dueAt' && targets?.statuses.length === 0
        ? 'number'
        : (filters.sort ?? DEFAULT_ORDER.sort),
    order: filters.order ?? DEFAULT_ORDER.order,
  };
  const values: ListValues = {
    ...asked,
    ...targets?.values,
    ...Object.fromEntries(words.map((word, i) => [`word${i}`, word])),
    ...Object.fromEntries(emails.map((email, i) => [`email${i}`, email])),
    phone,
    enteredBefore: dueTo === undefined ? undefined : dueTo - (targets?.shortestMs ?? 0),
    shop: caller.shop.id,
    limit,
    offset: (page - 1) * limit,
  };
  return { shape, values };
};

type Matching = SelectQueryBuilder<Tables, 'offline_repairs', object>;

const matchingReturns = (engine: Engine, shape: ListShape, params: ListValues): Matching => {
  let found: Matching = from(engine.db, shape.table).where('shop_id', '=', params.shop);
  for (const name of shape.conditions) found = found.where(CONDITIONS[name](params, engine, shape));
  return found;
};

const SORT_COLUMNS = { updatedAt: 'updated_at', statusSince: 'status_since' } as const;

interface PageShape extends ListShape {
  readsFullRows: boolean;
  /** Whether the matches are sorted because they are few: finding them among all numbers of a million returns took 0.6 s. */
  sortsMatches: boolean;
}

/**
 * A shop's numbers increase with every creation, and so do the times, whose index has the same order. With it a deep page of half a
 * million returns took 51 ms instead of 1,046.
 */
const inOrder = (found: Matching, shape: PageShape, params: ListValues): Matching => {
  const { table, sort, order, conditions, sortsMatches } = shape;
  if (sort === 'status') found = found.orderBy(statusRank(table), order);
  else if (sort === 'dueAt') {
    const open = dueAtSql(shape.dueStatuses, params);
    const dueAt = conditions.includes('open') ? open : sql`case when erased_at is null then ${open} end`;
    found = found.orderBy(dueAt, (by) => by[order]().nullsLast());
  } else if (sort !== 'number') found = found.orderBy(SORT_COLUMNS[sort], order);
  else if (conditions.includes('createdFrom') || conditions.includes('createdTo'))
    found = found.orderBy('created_at', order);
  // With an expression, no engine uses the index for the order.
  return found.orderBy(sortsMatches ? sql`number + 0` : sql.ref('number'), order);
};

const countMatches = (engine: Engine, shape: ListShape, params: ListValues) =>
  matchingReturns(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total'));

const pageOfList = statementsBy((shape: PageShape) =>
  statement((engine, params: ListValues) => {
    const total = isTotalKept(shape.conditions)
      ? keptTotal(shape.table, shape.conditions, params)
      : sql<number>`(${countMatches(engine, shape, params)})`;
    return (
      inOrder(matchingReturns(engine, shape, params), shape, params)
        .select(shape.readsFullRows ? returnColumns(shape.table) : ['number'])
        // The total is in the same statement, since a packet to PostgreSQL takes as long as reading ten rows.
        .$if(isCountedWithPage(shape), (page) => page.select(total.as('total')))
        .limit(params.limit)
        .offset(params.offset)
    );
  }),
);

/** The returns with one reference, of both origins: no index contains the origin, so a filter by it could skip many rows. */
const returnsOfReference = statementsBy((shape: ListShape) =>
  statement((engine, params: ListValues) =>
    matchingReturns(engine, shape, params)
      .select(returnColumns(shape.table))
      .orderBy('number', shape.order)
      .limit(sql.lit(FEW_OF_REFERENCE + 1)),
  ),
);

const countOfList = statementsBy((shape: ListShape) =>
  statement((engine, params: ListValues) =>
    isTotalKept(shape.conditions)
      ? engine.db.selectNoFrom(keptTotal(shape.table, shape.conditions, params).as('total'))
      : countMatches(engine, shape, params),
  ),
);

/** Up to this many matches are sorted. Above, scanning all numbers for the page is faster. */
const MAX_SORTED = 10_000;

/** A reference of more returns than this is looked up separately from other requests. */
const FEW_OF_REFERENCE = 50;

/** A page that reads at most this many rows shares a connection with other lists. */
const MAX_SHARED_PAGE = 100;
/** A page that skips at most this many rows is read beside other requests, which takes SQLite about a millisecond. */
const MAX_LIGHT_DEPTH = 2_000;

/** API clients and the admin app have separate connections. */
export const listsFor = (ctx: ReturnServices, caller: Caller): Db =>
  isApiClient(caller) ? ctx.lists : ctx.db;

/** Lists returns, newest first by default. A list that may read many rows does not delay other shops (`Database.scans`, `HeavyLists`). */
export const listRmas = async <Item>(
  ctx: ReturnServices,
  table: ReturnTable,
  caller: Caller,
  filters: RmaFilters,
  view: (row: ReturnRow) => Item,
): Promise<PageResponse<Item>> => {
  const shopId = caller.shop.id;
  const asksDue = filters.overdue || filters.dueFrom !== undefined || filters.dueTo !== undefined;
  const targets =
    asksDue || filters.sort === 'dueAt' ? targetParams(await readTargets(ctx, shopId), table) : null;
  const { shape, values } = listQuery(caller, table, filters, targets, ctx.clock.now());
  const depth = filters.page * filters.limit;
  const inScan = () => {
    const find = () => findPage(ctx, shape, values, filters, ctx.scans);
    return isApiClient(caller) ? ctx.heavyLists.run(shopId, find) : find();
  };
  const light = lightDb(ctx, caller, depth);
  const { rows, total } = isByReference(shape)
    ? ((await findByReference(ctx, shape, values, light)) ?? (await inScan()))
    : (await isLight(ctx, caller, shape, filters))
      ? await findPage(ctx, shape, values, filters, light)
      : await inScan();
  const source = {
    name: table,
    view,
    keyOf: ({ number }: ReturnRow) => number,
    readRows: (numbers: number[]) =>
      from(listsFor(ctx, caller), table)
        .select(returnColumns(table))
        .where('shop_id', '=', shopId)
        .where(sql<boolean>`number ${ctx.oneOf('integer', numbers)}`)
        .$castTo<ReturnRow>()
        .execute(),
  };
  const found = readsFullRows(shape, filters)
    ? { rows, keys: [], total }
    : { rows: [], keys: rows.map(({ number }) => number), total };
  return ctx.pageResponses.build(shopId, source, found, filters);
};

/** Whether an index finds the page and few rows are skipped: those of earlier pages and of the other origin. */
const isLight = async (
  { recentTotals }: ReturnServices,
  caller: Caller,
  shape: ListShape,
  filters: RmaFilters,
): Promise<boolean> => {
  const depth = filters.page * filters.limit;
  if (isOneReturn(shape)) return true;
  if (!isTotalKept(shape.conditions) || !isInOrder(shape) || depth > MAX_LIGHT_DEPTH) return false;
  const origin = originFor(caller, filters);
  if (origin === undefined) return true;
  return (
    depth + (await recentTotals.ofOthers(caller.shop.id, shape.table, origin, filters.status)) <=
    MAX_LIGHT_DEPTH
  );
};

const lightDb = (ctx: ReturnServices, caller: Caller, depth: number): Db =>
  isApiClient(caller) && depth <= MAX_SHARED_PAGE ? ctx.shortLists : listsFor(ctx, caller);

/** Otherwise the numbers are found first, which most indexes contain. SQLite sorts full rows in 2.5 s instead of 0.6 s for a million. */
const readsFullRows = (shape: ListShape, { limit }: RmaFilters): boolean =>
  limit <= KINDS[shape.table].maxFullRows && isInOrder(shape);

const findByReference = async (
  ctx: ReturnServices,
  shape: ListShape,
  values: ListValues,
  db: Db,
): Promise<FoundReturns | null> => {
  const query = ctx.fill(returnsOfReference({ ...shape, conditions: withoutOrigin(shape) }), values);
  const { rows } = await db.executeQuery<ReturnRow>(query);
  if (rows.length > FEW_OF_REFERENCE) return null;
  const isAsked = ({ receiver_id }: ReturnRow) =>
    !(values['fromApi'] && receiver_id === null) && !(values['fromStaff'] && receiver_id !== null);
  const found = rows.filter(isAsked);
  return { rows: found.slice(values.offset, values.offset + values.limit), total: found.length };
};

interface FoundReturns {
  rows: ReturnRow[];
  total: number;
}

const findPage = async (
  ctx: ReturnServices,
  shape: ListShape,
  values: ListValues,
  filters: RmaFilters,
  db: Db,
): Promise<FoundReturns> => {
  const count = async () =>
    (await ctx.scans.executeQuery(ctx.fill(countOfList(shape), values))).rows[0]?.total ?? 0;
  // Prepared plans do not depend on values, so the count decides how the page is read.
  const countedFirst = shape.conditions.some((name) => COUNTED_FIRST.includes(name)) ? await count() : null;
  if (countedFirst === 0) return { rows: [], total: 0 };
  const sortsMatches = countedFirst !== null && countedFirst <= MAX_SORTED;
  const page = pageOfList({ ...shape, readsFullRows: readsFullRows(shape, filters), sortsMatches });
  const { rows } = await db.executeQuery<ReturnRow & { total?: number }>(ctx.fill(page, values));
  return {
    rows,
    total: rows[0]?.total ?? countedFirst ?? totalOfLastPage(filters, rows.length) ?? (await count()),
  };
};
