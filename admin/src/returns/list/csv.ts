import type { QueryClient } from '@tanstack/react-query';
import type { ListSearch } from '../../list-search.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { fetchPage, filtersOf } from '../queries.ts';
import { orderOf, sortItems } from './list-order.ts';

export interface CsvColumn<Item> {
  header: string;
  value(item: Item): string | number | boolean | null;
}

/** A spreadsheet runs a cell that begins like this as a formula, unless an apostrophe stands in front. */
const FORMULA = /^[\s=+\-@＝＋－＠]/u;
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/u;

/** A time as a spreadsheet reads it, in the reader's time zone: `2026-11-16 09:30`. */
export const csvTime = (at: string): string => {
  const time = new Date(at);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace('T', ' ');
};

export const csvCell = (value: string | number | boolean | null): string => {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** RFC 4180, with the byte order mark by which spreadsheets recognise UTF-8. */
export const csvText = <Item>(columns: readonly CsvColumn<Item>[], items: readonly Item[]): string => {
  const lines = [
    columns.map(({ header }) => csvCell(header)),
    ...items.map((item) => columns.map(({ value }) => csvCell(value(item)))),
  ];
  return `\uFEFF${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`;
};

const PAGE_SIZE = 100;
/** More would be too much for a browser, and for a spreadsheet. */
export const MAX_ROWS = 20_000;

interface Options {
  signal: AbortSignal;
  onProgress(progress: { done: number; total: number }): void;
}

/**
 * Reads every page that the filters match; null if it was aborted. It reads by number, because no change moves a return to
 * another page then, and sorts at the end. New returns push others onto the next page, so an item may come twice.
 */
export const readAll = async <Item extends AnyReturn>(
  queryClient: QueryClient,
  kind: Kind,
  search: ListSearch,
  { signal, onProgress }: Options,
): Promise<Item[] | null> => {
  const { sort: _, ...byNumber } = search;
  const found = new Map<string, Item>();
  for (let page = 1, pages = 1; page <= pages && found.size < MAX_ROWS; page++) {
    const { items, total, totalPages } = await queryClient.fetchQuery({
      queryKey: [kind.path, 'export', filtersOf(kind, search), search.order, page],
      queryFn: () => fetchPage<Item>(kind, { ...byNumber, page }, PAGE_SIZE),
      staleTime: 0,
      gcTime: 0,
    });
    if (signal.aborted) return null;
    for (const item of items) found.set(item.id, item);
    pages = totalPages;
    onProgress({ done: found.size, total: Math.min(total, MAX_ROWS) });
  }
  return sortItems([...found.values()].slice(0, MAX_ROWS), orderOf(search));
};
