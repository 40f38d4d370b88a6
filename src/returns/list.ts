import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Page } from '../../contract/common.ts';
import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../contract/return-order.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { type Engine, rowCount, statement, statementsBy } from '../db/statements.ts';
import { answerPage, type PageAnswer, totalOfLastPage } from '../paging/page-answer.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { readTargets } from '../shops/settings.ts';
import { dueTimes, isEnded, isOpen, isOverdue, statusRank } from './open.ts';
import { digitsOf } from './search.ts';
import { columnsOf, from, isApiClient, type ReturnRow, type RmaTableName } from './store.ts';
import { type Origin, totalOf } from './totals.ts';

// Lists of returns. To add a filter: its value in `RmaFilters`, its condition in `CONDITIONS`, and when it is asked for in `listQuery`.

/** What a list may be narrowed by, of either kind. All but `updatedSince` is for staff only. */
export interface RmaFilters extends Page {
  updatedSince?: number | undefined;
  /** Free text, every word of which must be found. */
  q?: string | undefined;
  /** Made by programs or by people. */
  origin?: Origin | undefined;
  open?: boolean | undefined;
  /** `me`, `none` or an id. */
  assignee?: string | undefined;
  overdue?: 'true' | undefined;
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  /** A part of the store's id, or of the company's id or name. */
  store?: string | undefined;
  company?: string | undefined;
  sort?: ReturnSort | undefined;
  order?: SortOrder | undefined;
}

export type Equal = Partial<
  Record<keyof Tables['offline_repairs'] | keyof Tables['trade_returns'], string | number | undefined>
> & { status: string | undefined };

/** What the text of a list's statements depends on. */
interface ListShape {
  table: RmaTableName;
  equal: string[];
  conditions: Condition[];
  /** How many words are searched for, and whether they may be a phone number. */
  words: number;
  phone: boolean;
  /** The statuses that have target days, where only what is overdue is asked for. */
  dueStatuses: string[];
  sort: ReturnSort;
  order: SortOrder;
}

/** By column, filter or word (`word0`, `word1` …). */
type ListValues = { shop: string; limit: number; offset: number } & Record<string, unknown>;

type ToCondition = (params: ListValues, engine: Engine, shape: ListShape) => RawBuilder<SqlBool>;

/** The stores are found first, of which there are few: from each the index leads to the next. */
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

/** The search text has both, and an index; but it has more than that. */
const hasCompanyLike: ToCondition = ({ company }, { contains, containsAnyCase }) => {
  const part = company as string;
  const inEither = ['company_name', 'company_id'].map((name) => containsAnyCase(name, part));
  return sql<SqlBool>`${contains('search_text', part)} and (${sql.join(inEither, sql` or `)})`;
};

/** All words, or the digits of a phone number that is written in another way. */
const hasWords: ToCondition = (params, { contains }, { words, phone }) => {
  const has = (name: string) => contains('search_text', params[name] as string);
  const all = sql<SqlBool>`${sql.join(
    Array.from({ length: words }, (_, i) => has(`word${i}`)),
    sql` and `,
  )}`;
  return phone ? sql<SqlBool>`((${all}) or ${has('phone')})` : all;
};

const CONDITIONS = {
  fromApi: () => sql`client_id is not null`,
  fromStaff: () => sql`client_id is null`,
  open: (_params, _engine, { table }) => isOpen(table),
  ended: (_params, _engine, { table }) => isEnded(table),
  updatedSince: ({ updatedSince }) => sql`updated_at >= ${updatedSince}`,
  createdFrom: ({ createdFrom }) => sql`created_at >= ${createdFrom}`,
  createdTo: ({ createdTo }) => sql`created_at < ${createdTo}`,
  assigned: ({ assignee }) => sql`assignee_id = ${assignee}`,
  unassigned: () => sql`assignee_id is null`,
  overdue: (params, _engine, { dueStatuses }) => isOverdue(dueStatuses, params),
  store: hasStoreLike,
  company: hasCompanyLike,
  words: hasWords,
} satisfies Record<string, ToCondition>;
type Condition = keyof typeof CONDITIONS;

/** With these alone, and a status, the total is one that is kept with every change. */
const KEPT: readonly Condition[] = ['fromApi', 'fromStaff', 'open', 'ended'];

const isTotalKept = ({ equal, conditions }: ListShape): boolean =>
  equal.every((column) => column === 'status') && conditions.every((name) => KEPT.includes(name));

/** With these alone an index leads to the rows in the order of their numbers. */
const IN_ORDER: readonly Condition[] = [...KEPT, 'assigned', 'unassigned'];

const isInOrder = ({ sort, conditions }: ListShape): boolean =>
  sort === 'number' && conditions.every((name) => IN_ORDER.includes(name));

/** Few rows have the same value, and an index leads to them: counting them takes less time than another statement. */
const REFERENCES = ['number', 'serial_number', 'external_ref', 'order_number', 'trade_order_number'];

const isByReference = ({ equal }: ListShape): boolean => equal.some((column) => REFERENCES.includes(column));

const originFor = (caller: Caller, { origin }: RmaFilters): Origin | undefined =>
  isApiClient(caller) ? 'API' : origin;

const listQuery = (
  caller: Caller,
  table: RmaTableName,
  filters: RmaFilters,
  equal: Equal,
  due: ReturnType<typeof dueTimes> | null,
): { shape: ListShape; values: ListValues } => {
  const { page, limit, q, assignee, store, company, updatedSince, createdFrom, createdTo } = filters;
  const words = q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const phone = phoneDigitsOf(q);
  const origin = originFor(caller, filters);
  const open = due ? true : filters.open;
  const asked: Record<Condition, unknown> = {
    ...{ updatedSince, createdFrom, createdTo, store, company },
    fromApi: origin === 'API',
    fromStaff: origin === 'STAFF',
    open: open === true,
    ended: open === false,
    assigned: assignee !== undefined && assignee !== 'none',
    unassigned: assignee === 'none',
    overdue: due !== null,
    words: words.length > 0,
  };
  const isAsked = (name: Condition) => asked[name] !== undefined && asked[name] !== false;
  const shape: ListShape = {
    table,
    equal: Object.keys(equal).filter((column) => equal[column as keyof typeof equal] !== undefined),
    conditions: (Object.keys(CONDITIONS) as Condition[]).filter(isAsked),
    words: words.length,
    phone: phone !== undefined,
    dueStatuses: due?.statuses ?? [],
    sort: filters.sort ?? DEFAULT_ORDER.sort,
    order: filters.order ?? DEFAULT_ORDER.order,
  };
  const values: ListValues = {
    ...equal,
    ...due?.values,
    ...Object.fromEntries(words.map((word, i) => [`word${i}`, word])),
    ...{ phone, updatedSince, createdFrom, createdTo },
    assignee: assignee === 'me' ? caller.actor.id : assignee,
    store: store?.toLowerCase(),
    company: company?.toLowerCase(),
    shop: caller.shop.id,
    limit,
    offset: (page - 1) * limit,
  };
  return { shape, values };
};

type Matching = SelectQueryBuilder<Tables, 'offline_repairs', object>;

const matching = (engine: Engine, shape: ListShape, params: ListValues): Matching => {
  let found: Matching = from(engine.db, shape.table).where('shop_id', '=', params.shop);
  for (const column of shape.equal) found = found.where(sql.ref(column), '=', params[column]);
  for (const name of shape.conditions) found = found.where(CONDITIONS[name](params, engine, shape));
  return found;
};

const SORT_COLUMNS = { updatedAt: 'updated_at', statusSince: 'status_since' } as const;

interface PageShape extends ListShape {
  whole: boolean;
  /** So few match that they are sorted: looking for them among all numbers of a million returns took 0.6 s. */
  few: boolean;
}

/**
 * A shop's numbers rise with every creation, and so do the times, whose index has the order too: a deep page of half a million took
 * 51 ms instead of 1,046.
 */
const ordered = (found: Matching, { table, sort, order, conditions, few }: PageShape): Matching => {
  if (sort === 'status') found = found.orderBy(statusRank(table), order);
  else if (sort !== 'number') found = found.orderBy(SORT_COLUMNS[sort], order);
  else if (conditions.includes('createdFrom') || conditions.includes('createdTo'))
    found = found.orderBy('created_at', order);
  // Of an expression no engine thinks that an index has its order.
  return found.orderBy(few ? sql`number + 0` : sql.ref('number'), order);
};

const PHONE = /^[+(]?[\d\s().+/-]+$/;
const FEWEST_DIGITS = 5;

/** The digits of a text that may be a phone number, without the zeros that stand for a country; undefined for any other text. */
const phoneDigitsOf = (q: string | undefined): string | undefined => {
  if (q === undefined || !PHONE.test(q)) return undefined;
  const digits = digitsOf(q).replace(/^0+/, '');
  return digits.length >= FEWEST_DIGITS ? digits : undefined;
};

const counting = (engine: Engine, shape: ListShape, params: ListValues) =>
  matching(engine, shape, params).select((eb) => eb.fn.countAll<number>().as('total'));

const pageOfList = statementsBy((shape: PageShape) =>
  statement((engine, params: ListValues) =>
    ordered(matching(engine, shape, params), shape)
      .select(shape.whole ? columnsOf(shape.table) : ['number'])
      .$if(isByReference(shape), (page) => page.select(counting(engine, shape, params).as('total')))
      .limit(rowCount(params.limit))
      .offset(rowCount(params.offset)),
  ),
);

const countOfList = statementsBy((shape: ListShape) =>
  statement((engine, params: ListValues) => counting(engine, shape, params)),
);

/** Up to this limit a page reads whole rows: 6 MB of repairs at the most, 12 MB of trade returns. */
const WHOLE_RETURNS = { offline_repairs: 100, trade_returns: 50 };

/** Up to so many that changed lately are sorted; beyond, the page is found sooner among all numbers. */
const FEW = 10_000;

/** What programs ask never shares connections with the admin app. */
export const listsFor = (ctx: Context, caller: Caller): Db => (isApiClient(caller) ? ctx.lists : ctx.db);

/** Newest first unless asked otherwise. */
export const listRmas = async <Item>(
  ctx: Context,
  table: RmaTableName,
  caller: Caller,
  filters: RmaFilters,
  equal: Equal,
  view: (row: ReturnRow) => Item,
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
  const whole = filters.limit <= WHOLE_RETURNS[table] && isInOrder(shape);
  const page = pageOfList({ ...shape, whole, few });
  const wanted = { status: equal.status, open: filters.open, origin: originFor(caller, filters) };
  const [{ rows }, kept] = await Promise.all([
    counted === 0 ? { rows: [] } : db.executeQuery<ReturnRow & { total?: number }>(ctx.fill(page, values)),
    isTotalKept(shape) ? totalOf(ctx, shopId, table, wanted) : counted,
  ]);
  const total = kept ?? rows[0]?.total ?? totalOfLastPage(filters, rows.length) ?? (await count());
  const source = {
    name: table,
    view,
    keyOf: ({ number }: ReturnRow) => number,
    readRows: (numbers: number[]) =>
      from(listsFor(ctx, caller), table)
        .select(columnsOf(table))
        .where('shop_id', '=', shopId)
        .where(sql<boolean>`number ${ctx.oneOf('integer', numbers)}`)
        .$castTo<ReturnRow>()
        .execute(),
  };
  const found = whole
    ? { rows, keys: [], total }
    : { rows: [], keys: rows.map(({ number }) => number), total };
  return answerPage(ctx, shopId, source, found, filters);
};
