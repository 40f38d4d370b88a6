import type { ExactMatch, FoundReturn, SearchResult } from '../../contract/admin-search.ts';
import { rmaNumber, rmaNumberFilter } from '../../contract/common.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { instant } from '../instant.ts';
import type { RmaTableName } from '../rma/visibility.ts';
import { type FoundRow, findExact, findText, LOOKED_UP, MOST_FOUND } from './statements.ts';

const TABLES = ['offline_repairs', 'trade_returns'] as const;
/** Whatever somebody types, a statement has no more words than this. */
const MOST_WORDS = 8;

/** Returns of both kinds: exact matches first, then what holds every word; the newest first. */
export const searchReturns = async (ctx: Context, caller: Caller, q: string): Promise<SearchResult> => {
  const found = await Promise.all(
    TABLES.flatMap((table) => [...exactMatches(ctx, caller, table, q), textMatches(ctx, caller, table, q)]),
  );
  const byId = new Map<string, FoundReturn>();
  for (const each of found.flat().toSorted(exactThenNewest)) if (!byId.has(each.id)) byId.set(each.id, each);
  return { items: [...byId.values()].slice(0, MOST_FOUND) };
};

/** Both kinds share a shop's numbers, and a number has at least six digits. */
const exactThenNewest = (one: FoundReturn, other: FoundReturn): number =>
  Number(one.match === null) - Number(other.match === null) ||
  other.rmaNumber.length - one.rmaNumber.length ||
  (one.rmaNumber < other.rmaNumber ? 1 : -1);

const exactMatches = (ctx: Context, caller: Caller, table: RmaTableName, q: string) => {
  const number = rmaNumberFilter.safeParse(q).data;
  return Object.entries(LOOKED_UP[table]).map(async ([match, column]) => {
    const value = match === 'number' ? number : q;
    if (value === undefined) return [];
    const values = { shop: caller.shop.id, value, limit: MOST_FOUND };
    const { rows } = await ctx.reads.executeQuery<FoundRow>(ctx.fill(findExact({ table, column }), values));
    return rows.map((row) => viewFound(table, row, match as ExactMatch));
  });
};

const textMatches = async (ctx: Context, caller: Caller, table: RmaTableName, q: string) => {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  const named = Object.fromEntries(words.map((word, i) => [`word${i}`, word]));
  const values = { shop: caller.shop.id, limit: MOST_FOUND, ...named };
  const statement = findText({ table, words: words.length });
  const { rows } = await ctx.db.executeQuery<FoundRow>(ctx.fill(statement, values));
  return rows.map((row) => viewFound(table, row, isSame(row.tracking_number, q) ? 'tracking' : null));
};

const isSame = (one: string | null | undefined, other: string): boolean =>
  one?.toLowerCase() === other.toLowerCase();

const KINDS = { offline_repairs: 'OFFLINE_REPAIR', trade_returns: 'TRADE_RETURN' } as const;

const viewFound = (table: RmaTableName, row: FoundRow, match: ExactMatch | null): FoundReturn => ({
  kind: KINDS[table],
  id: row.id,
  rmaNumber: rmaNumber(row.number),
  status: row.status,
  customerName: row.customer_name,
  about: row.company_name ?? productOf(row.faulty_item ?? ''),
  orderNumber: row.order_number ?? row.trade_order_number ?? '',
  match,
  updatedAt: instant(row.updated_at),
});

/** A row that cannot be read is found all the same. */
const productOf = (faultyItem: string): string => {
  try {
    return String(JSON.parse(faultyItem).productName ?? '');
  } catch {
    return '';
  }
};
