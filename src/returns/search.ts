import { type RawBuilder, sql } from 'kysely';
import type { FaultList, RelatedReturn, RelatedReturns } from '../../contract/admin-returns.ts';
import type { ExactMatch, FoundReturn, SearchResult } from '../../contract/admin-search.ts';
import { RETURN_TABLES, type ReturnTable } from '../../contract/kinds.ts';
import type { Db } from '../db/types.ts';
import { toIso } from '../lib/time.ts';
import { viewRow } from '../paging/page-response.ts';
import type { Core } from '../platform/core.ts';
import type { Caller } from '../shops/plans.ts';
import { KINDS } from './kinds/kinds.ts';
import { itemTexts, searchedFor } from './search-text.ts';
import type { ReturnServices } from './services.ts';
import { briefOf, findReturn, from, type ReturnRow } from './store.ts';

const MOST_FOUND = 10;

const NONE = sql<string | null>`null`;
const columnOrNone = (column: string | undefined) => (column ? sql<string | null>`${sql.ref(column)}` : NONE);

/** The columns that are compared exactly. Other cases and tracking numbers are compared in the matches of the free text. */
const exactColumns = (table: ReturnTable): [ExactMatch, string][] => {
  const { order, serial } = KINDS[table].searched;
  const columns = { number: 'number', reference: 'external_ref', ...(serial && { serial }), order };
  return Object.entries(columns) as [ExactMatch, string][];
};

const newestOf = (db: Db, table: ReturnTable, shop: string, most = MOST_FOUND) =>
  from(db, table).where('shop_id', '=', shop).orderBy('number', 'desc').limit(sql.lit(most));

const readFound = (table: ReturnTable, found: ReturnType<typeof newestOf>) =>
  found
    .select(['id', 'number', 'status', 'customer_name', 'updated_at', 'external_ref'])
    .select([
      sql<string>`${sql.ref(KINDS[table].searched.about)}`.as('about'),
      sql<string>`${sql.ref(KINDS[table].searched.order)}`.as('order_number'),
      columnOrNone(KINDS[table].searched.tracking).as('tracking'),
      columnOrNone(KINDS[table].searched.serial).as('serial'),
    ])
    .execute();
type FoundRow = Awaited<ReturnType<typeof readFound>>[number];

/** Finds returns of all kinds: exact matches first, then those with all words; newest first in each group. */
export const searchReturns = async (
  ctx: ReturnServices,
  caller: Caller,
  q: string,
): Promise<SearchResult> => {
  const matches = await Promise.all(
    RETURN_TABLES.flatMap((table) => [
      ...exactMatches(ctx, caller, table, q),
      textMatches(ctx, caller, table, q),
    ]),
  );
  const byId = new Map<string, FoundReturn>();
  for (const each of matches.flat().toSorted(exactThenNewest))
    if (!byId.has(each.id)) byId.set(each.id, each);
  return { items: [...byId.values()].slice(0, MOST_FOUND) };
};

/** All kinds share a shop's numbers, and a number has at least six digits. */
const exactThenNewest = (one: FoundReturn, other: FoundReturn): number =>
  Number(one.match === null) - Number(other.match === null) ||
  other.rmaNumber.length - one.rmaNumber.length ||
  (one.rmaNumber < other.rmaNumber ? 1 : -1);

/** People skip the letters and zeros of "#RMA-000123". */
const typedNumber = (q: string): number | undefined => {
  const digits = /^(?:#?RMA-)?(\d{1,15})$/i.exec(q.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
};

const exactMatches = ({ db }: Core, { shop }: Caller, table: ReturnTable, q: string) =>
  exactColumns(table).map(async ([match, column]) => {
    const value = match === 'number' ? typedNumber(q) : q;
    if (value === undefined) return [];
    const rows = await readFound(table, newestOf(db, table, shop.id).where(sql.ref(column), '=', value));
    return rows.map((row) => viewFound(table, row, match));
  });

/** An index finds the rows with all words, and only those of the response are read. */
const textMatches = async ({ scans, contains }: Core, { shop }: Caller, table: ReturnTable, q: string) => {
  const { words, phone } = searchedFor(q);
  const holdsAll = sql.join(
    words.map((word) => contains('search_text', word)),
    sql` and `,
  );
  const holds = phone === undefined ? holdsAll : sql`(${holdsAll}) or ${contains('search_text', phone)}`;
  const matching = newestOf(scans, table, shop.id).select('number').where(sql<boolean>`(${holds})`);
  const rows = await readFound(table, newestOf(scans, table, shop.id).where('number', 'in', matching));
  return rows.map((row) => viewFound(table, row, matchInAnyCase(row, q)));
};

const matchInAnyCase = (row: FoundRow, q: string): ExactMatch | null => {
  const { serial, tracking, external_ref: reference, order_number: order } = row;
  const values = { serial, tracking, reference, order };
  const names = ['serial', 'tracking', 'reference', 'order'] as const;
  return names.find((name) => values[name]?.toLowerCase() === q.toLowerCase()) ?? null;
};

/** Returns an empty title if the column is damaged, so that the return is still found. */
const aboutOf = (table: ReturnTable, { about }: FoundRow): string => {
  try {
    return KINDS[table].searched.aboutIn(about);
  } catch {
    return '';
  }
};

const viewFound = (table: ReturnTable, row: FoundRow, match: ExactMatch | null): FoundReturn => ({
  ...briefOf(table, row),
  about: aboutOf(table, row),
  orderNumber: row.order_number,
  match,
  updatedAt: toIso(row.updated_at),
});

// --- related returns ---

const MOST_RELATED = 5;

type Related = RelatedReturns['sameSerial'];

/** Earlier returns, which have a lower number. The condition `by` has an index that ends with the number. */
const relatedOf = async (
  ctx: ReturnServices,
  { shop_id, number }: ReturnRow,
  table: ReturnTable,
  by: RawBuilder<boolean>,
): Promise<Related> => {
  const matching = from(ctx.db, table).where('shop_id', '=', shop_id).where(by).where('number', '<', number);
  const rows = await matching
    .select(['id', 'number', 'status', 'customer_name', 'created_at'])
    .select(sql<string>`${sql.ref(KINDS[table].searched.about)}`.as('about'))
    .select(matching.select((eb) => eb.fn.countAll<number>().as('total')).as('total'))
    .orderBy('number', 'desc')
    .limit(sql.lit(MOST_RELATED))
    .execute();
  const view = (row: (typeof rows)[number]): RelatedReturn => ({
    ...briefOf(table, row),
    title: KINDS[table].searched.aboutIn(row.about),
    createdAt: toIso(row.created_at),
  });
  const items = rows.flatMap((row) => viewRow(ctx, { name: 'related returns', view }, row) ?? []);
  return { items, total: rows[0]?.total ?? 0 };
};

const together = (found: Related[]): Related => ({
  items: found
    .flatMap(({ items }) => items)
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.rmaNumber.localeCompare(a.rmaNumber))
    .slice(0, MOST_RELATED),
  total: found.reduce((sum, { total }) => sum + total, 0),
});

/** Each kind lacks columns of the others. */
type EitherRow = ReturnRow & { serial_number?: string | null; company_id?: string };

/** Earlier repairs of the same serial number, and earlier returns of the same customer or company. */
export const findRelated = async (
  ctx: ReturnServices,
  table: ReturnTable,
  caller: Caller,
  id: string,
): Promise<RelatedReturns> => {
  const row: EitherRow = await findReturn(ctx, table, caller, id);
  const { serial_number: serial = null, company_id: company = null } = row;
  // All erased returns have one email address.
  const email = row.erased_at === null ? row.customer_email : '';
  const byEmail = sql<boolean>`lower(customer_email) = lower(${email})`;
  const ofKind = (by: RawBuilder<boolean>, kind = table) => relatedOf(ctx, row, kind, by);
  const others = RETURN_TABLES.filter((kind) => kind !== table);
  const [sameSerial, ...sameCustomer] = await Promise.all([
    serial === null ? { items: [], total: 0 } : ofKind(sql`serial_number = ${serial}`),
    ...others.map((kind) => ofKind(byEmail, kind)),
    ofKind(company === null ? byEmail : sql`${byEmail} and company_id <> ${company}`),
    ...(company === null ? [] : [ofKind(sql`company_id = ${company}`)]),
  ]);
  return { sameSerial, sameCustomer: together(sameCustomer) };
};

// --- frequent faults ---

const FAULTS_SHOWN = 6;
/** Longer descriptions are individual and not worth suggesting. */
const LONGEST_FAULT = 60;
const REPAIRS_READ = 2_000;

/** The most frequent short fault descriptions of a SKU among the shop's newest repairs, ignoring case, each in its newest spelling. */
export const frequentFaults = async (
  { scans, contains }: Core,
  { shop }: Caller,
  sku: string,
): Promise<FaultList> => {
  const newest = newestOf(scans, 'offline_repairs', shop.id, REPAIRS_READ).select([
    'number',
    'faulty_item',
    'fault_description',
    'erased_at',
  ]);
  const rows = await scans
    .selectFrom(newest.as('newest'))
    .select(['faulty_item', 'fault_description'])
    .where('erased_at', 'is', null)
    .where(sql<boolean>`length(trim(fault_description)) <= ${sql.lit(LONGEST_FAULT)}`)
    .where(contains('faulty_item', JSON.stringify(sku)))
    .orderBy('number', 'desc')
    .execute();
  const texts = rows
    .filter(({ faulty_item }) => itemTexts(faulty_item)[0] === sku)
    .map(({ fault_description }) => fault_description.trim());
  const faults = [...Map.groupBy(texts, (text) => text.toLowerCase()).values()];
  const items = faults.map((same) => ({ text: same[0] ?? '', count: same.length }));
  return { items: items.sort((one, other) => other.count - one.count).slice(0, FAULTS_SHOWN) };
};
