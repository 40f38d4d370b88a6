import { sql } from 'kysely';
import type { ExactMatch, FoundReturn, SearchResult } from '../../contract/admin-search.ts';
import { rmaNumber, rmaNumberFilter } from '../../contract/common.ts';
import type { Db } from '../db/database.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { from, type ReturnRow, type RmaTableName } from './store.ts';

// What staff search in: one text for each return, in lower case.

const NOT_DIGITS = /\D+/g;
export const digitsOf = (text: string): string => text.replaceAll(NOT_DIGITS, '');

/** Columns whose change renews the text. */
export const SEARCHED_COLUMNS: readonly string[] = [
  'customer_name',
  'customer_email',
  'customer_phone',
  'company_name',
  'faulty_item',
  'serial_number',
  'tracking_number',
];

/** `own` is what only this kind of return is found by. */
export const searchText = (row: ReturnRow, own: (string | null)[]): string =>
  [
    rmaNumber(row.number),
    ...own,
    row.customer_name,
    row.customer_email,
    row.external_ref,
    row.customer_phone,
    // Also without spaces and brackets, which people write in different ways.
    row.customer_phone === null ? null : digitsOf(row.customer_phone),
  ]
    .filter(Boolean)
    .join(' ')
    .toLowerCase();

/** Of all names together. Many long ones would slow the index down, which all shops share. */
const NAMES_LENGTH = 2_000;

/** Skus and product names, of one item or many. A row whose items are damaged is still found by the rest. */
export const itemTexts = (json: string): string[] => {
  try {
    const items = [JSON.parse(json)].flat();
    const textsOf = (field: 'sku' | 'productName') =>
      items.map((item) => item[field]).filter((value): value is string => typeof value === 'string');
    return [...textsOf('sku'), [...new Set(textsOf('productName'))].join(' ').slice(0, NAMES_LENGTH)];
  } catch {
    return [];
  }
};

const MOST_FOUND = 10;
/** A statement has no more words than this, whatever was typed. */
const MOST_WORDS = 8;

const SHARED = ['id', 'number', 'status', 'customer_name', 'updated_at'] as const;

interface FoundRow extends Pick<ReturnRow, (typeof SHARED)[number]> {
  order_number: string;
  about: string;
  tracking_number?: string | null;
}

/** What a search reads of each kind, and the columns that are looked up to the letter. Tracking numbers are found by the free text. */
const KINDS = {
  offline_repairs: {
    name: 'OFFLINE_REPAIR',
    columns: [...SHARED, 'order_number', 'faulty_item as about', 'tracking_number'],
    exact: { number: 'number', serial: 'serial_number', reference: 'external_ref', order: 'order_number' },
  },
  trade_returns: {
    name: 'TRADE_RETURN',
    columns: [...SHARED, 'trade_order_number as order_number', 'company_name as about'],
    exact: { number: 'number', reference: 'external_ref', order: 'trade_order_number' },
  },
} as const;
const TABLES = ['offline_repairs', 'trade_returns'] as const;

const newestOf = (db: Db, table: RmaTableName, shop: string) =>
  from(db, table).where('shop_id', '=', shop).orderBy('number', 'desc').limit(sql.lit(MOST_FOUND));

/** Both kinds, typed as if they were one. */
const readFound = (table: RmaTableName, found: ReturnType<typeof newestOf>): Promise<FoundRow[]> =>
  found
    .select(KINDS[table].columns as unknown as typeof SHARED)
    .$castTo<FoundRow>()
    .execute();

/** Returns of both kinds: exact matches first, then what holds every word; the newest first. */
export const searchReturns = async (ctx: Context, caller: Caller, q: string): Promise<SearchResult> => {
  const matches = await Promise.all(
    TABLES.flatMap((table) => [...exactMatches(ctx, caller, table, q), textMatches(ctx, caller, table, q)]),
  );
  const byId = new Map<string, FoundReturn>();
  for (const each of matches.flat().toSorted(exactThenNewest))
    if (!byId.has(each.id)) byId.set(each.id, each);
  return { items: [...byId.values()].slice(0, MOST_FOUND) };
};

/** Both kinds share a shop's numbers, and a number has at least six digits. */
const exactThenNewest = (one: FoundReturn, other: FoundReturn): number =>
  Number(one.match === null) - Number(other.match === null) ||
  other.rmaNumber.length - one.rmaNumber.length ||
  (one.rmaNumber < other.rmaNumber ? 1 : -1);

const exactMatches = ({ db }: Context, { shop }: Caller, table: RmaTableName, q: string) =>
  Object.entries(KINDS[table].exact).map(async ([match, column]) => {
    const value = match === 'number' ? rmaNumberFilter.safeParse(q).data : q;
    if (value === undefined) return [];
    const rows = await readFound(table, newestOf(db, table, shop.id).where(sql.ref(column), '=', value));
    return rows.map((row) => viewFound(table, row, match as ExactMatch));
  });

/** Rows that hold every word are found in an index, and only those of the answer are read. */
const textMatches = async (
  { scans, contains }: Context,
  { shop }: Caller,
  table: RmaTableName,
  q: string,
) => {
  let matching = newestOf(scans, table, shop.id).select('number');
  for (const word of q.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS))
    matching = matching.where(contains('search_text', word));
  const rows = await readFound(table, newestOf(scans, table, shop.id).where('number', 'in', matching));
  const isTracking = (row: FoundRow) => row.tracking_number?.toLowerCase() === q.toLowerCase();
  return rows.map((row) => viewFound(table, row, isTracking(row) ? 'tracking' : null));
};

const viewFound = (table: RmaTableName, row: FoundRow, match: ExactMatch | null): FoundReturn => ({
  kind: KINDS[table].name,
  id: row.id,
  rmaNumber: rmaNumber(row.number),
  status: row.status,
  customerName: row.customer_name,
  about: table === 'trade_returns' ? row.about : productOf(row.about),
  orderNumber: row.order_number,
  match,
  updatedAt: toIso(row.updated_at),
});

/** A row that cannot be read is found all the same. */
const productOf = (faultyItem: string): string => {
  try {
    return String(JSON.parse(faultyItem).productName ?? '');
  } catch {
    return '';
  }
};
