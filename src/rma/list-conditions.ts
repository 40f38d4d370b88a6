import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../db/schema.ts';
import type { Engine } from '../db/statements.ts';
import type { Query, RmaFilters, Values } from './list-query.ts';
import { isEnded, isOpen } from './open.ts';
import { digitsOf } from './search-text.ts';
import { from } from './store.ts';
import { isApiClient, isVisible, type RmaTableName } from './visibility.ts';

// Which rows a list has: each filter as a condition, and which of them leads to the rows.

/** Columns by which a shop's own systems look for their RMAs. Each has an index; few rows have the value of the first. */
const REFERENCES = ['number', 'serial_number', 'external_ref', 'order_number', 'trade_order_number'];

/** The reference whose index leads to the rows, whatever else they must match. */
export const leadOf = (named: string[]): string | undefined =>
  REFERENCES.find((column) => named.includes(column));

export const wordsOf = (q: string | undefined): string[] =>
  q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];

export const numbered = (words: string[]): Record<string, string> =>
  Object.fromEntries(words.map((word, i) => [`word${i}`, word]));

const PHONE = /^[+(]?[\d\s().+/-]+$/;
const FEWEST_DIGITS = 5;

/** The digits of a text that may be a phone number, without the zeros that stand for a country; undefined for any other text. */
export const phoneDigitsOf = (q: string | undefined): string | undefined => {
  if (q === undefined || !PHONE.test(q)) return undefined;
  const digits = digitsOf(q).replace(/^0+/, '');
  return digits.length >= FEWEST_DIGITS ? digits : undefined;
};

/** What the text of a list's statements depends on. */
export interface Shape extends Pick<RmaFilters, 'origin' | 'open' | 'sort' | 'order'> {
  table: RmaTableName;
  forProgram: boolean;
  named: string[];
  words: number;
  assignee: 'nobody' | 'somebody' | undefined;
  dueStatuses: string[] | undefined;
  /** Values that are there. */
  given: Given;
}
type Given = Record<(typeof GIVEN)[number], boolean>;
const GIVEN = ['updatedSince', 'createdFrom', 'createdTo', 'store', 'company', 'phone'] as const;

export const shapeOf = ({ table, caller, filters, named, words, dueStatuses, values }: Query): Shape => {
  const { origin, open, assignee, sort, order } = filters;
  return {
    table,
    forProgram: isApiClient(caller),
    named,
    words,
    origin,
    open: dueStatuses ? true : open,
    assignee: assignee === undefined ? undefined : assignee === 'none' ? 'nobody' : 'somebody',
    dueStatuses,
    given: Object.fromEntries(GIVEN.map((name) => [name, values[name] !== undefined])) as Given,
    sort,
    order,
  };
};

export type Matching = SelectQueryBuilder<Tables, 'offline_repairs', object>;

/** The column whose index leads to the rows; `open` stands for the index of all that is open, which is in the order of the numbers. */
const leadIn = ({ table, named, dueStatuses, assignee, open, sort }: Shape): string | undefined => {
  const reference = leadOf(named);
  if (reference) return reference;
  if (dueStatuses || (open && sort === 'statusSince')) return `${table}.status_since`;
  if (assignee === 'somebody') return 'assignee_id';
  return open ? 'open' : undefined;
};

/** Where the time of creation leads, it also gives the order: times of creation rise with the numbers. */
export const isByCreation = (shape: Shape): boolean =>
  (shape.given.createdFrom || shape.given.createdTo) && leadIn(shape) === undefined;

/** A column, marked where another one leads. */
export const columnOf = ({ beside }: Engine, shape: Shape, column: string): RawBuilder<unknown> => {
  const lead = leadIn(shape);
  return lead === undefined || lead === column ? sql.ref(column) : beside(column);
};

export const matching = (engine: Engine, shape: Shape, params: Values): Matching => {
  const { table, forProgram, named, origin, open, given } = shape;
  const column = (name: string) => columnOf(engine, shape, name);
  let found: Matching = from(engine.db, table).where(isVisible(params.shop, forProgram));
  for (const name of named) found = found.where(column(name), '=', params[name]);
  if (given.updatedSince) found = found.where(column('updated_at'), '>=', params.updatedSince);
  if (given.createdFrom) found = found.where(column('created_at'), '>=', params['createdFrom']);
  if (given.createdTo) found = found.where(column('created_at'), '<', params['createdTo']);
  if (origin) found = found.where('client_id', origin === 'API' ? 'is not' : 'is', null);
  if (open !== undefined) found = found.where(open ? isOpen(table) : isEnded(table));
  for (const condition of conditionsOf(engine, shape, params)) found = found.where(condition);
  return found;
};

/** Those filters that take more than a comparison. */
const conditionsOf = (engine: Engine, shape: Shape, params: Values): RawBuilder<SqlBool>[] => {
  const { table, assignee, dueStatuses, given, words } = shape;
  const column = (name: string) => columnOf(engine, shape, name);
  return [
    ...(assignee === 'somebody' ? [sql<SqlBool>`${column('assignee_id')} = ${params['assignee']}`] : []),
    ...(assignee === 'nobody' ? [sql<SqlBool>`${column('assignee_id')} is null`] : []),
    ...(dueStatuses ? [isOverdue(engine, table, dueStatuses, params)] : []),
    ...(given.store ? [hasStoreLike(engine, params)] : []),
    ...(given.company ? [hasCompanyLike(engine, params)] : []),
    ...(words > 0 ? [hasWords(engine, shape, params)] : []),
  ];
};

/** By status, the latest time since which a return is overdue, as parameters of these names. */
export const dueParam = (status: string): string => `due ${status}`;
/** The latest of all, by which the index is read. */
export const DUE_PARAM = 'due';

export const isOverdue = (
  { beside }: Engine,
  table: RmaTableName,
  statuses: string[],
  params: Record<string, unknown>,
): RawBuilder<SqlBool> => {
  if (statuses.length === 0) return sql<SqlBool>`1 = 0`;
  const since = sql.ref(`${table}.status_since`);
  const each = statuses.map(
    (status) => sql`(${beside('status')} = ${sql.lit(status)} and ${since} <= ${params[dueParam(status)]})`,
  );
  return sql<SqlBool>`${since} <= ${params[DUE_PARAM]} and (${sql.join(each, sql` or `)})`;
};

/** The stores are found first, of which there are few: from each the index leads to the next. */
const hasStoreLike = ({ containsAnyCase }: Engine, { shop, store }: Values): RawBuilder<SqlBool> => {
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
const hasCompanyLike = ({ contains, containsAnyCase }: Engine, params: Values): RawBuilder<SqlBool> => {
  const part = params['company'] as string;
  const inEither = ['company_name', 'company_id'].map((name) => containsAnyCase(name, part));
  return sql<SqlBool>`${contains('search_text', part)} and (${sql.join(inEither, sql` or `)})`;
};

/** All words, or the digits of a phone number that is written in another way. */
const hasWords = ({ contains }: Engine, { words, given }: Shape, params: Values): RawBuilder<SqlBool> => {
  const each = Array.from({ length: words }, (_, i) => contains('search_text', params[`word${i}`] as string));
  const all = sql<SqlBool>`${sql.join(each, sql` and `)}`;
  return given.phone
    ? sql<SqlBool>`((${all}) or ${contains('search_text', params['phone'] as string)})`
    : all;
};
