import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { dayOf } from '../../format.ts';
import type { ListSearch } from '../../list-search.ts';
import { texts } from '../../texts.ts';
import { notify, notifyFailed } from '../../ui/notify.ts';
import { saveFile } from '../../ui/save-file.ts';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { fetchPage, filtersOf } from '../queries.ts';
import { type CsvColumn, csvText } from './csv.ts';
import { orderOf, sortItems } from './list-order.ts';

/** Exports everything that the filters match, not only the page on the screen. */
export const useCsvExport = <Item extends AnyReturn>(
  kind: Kind,
  search: ListSearch,
  columns: readonly CsvColumn<Item>[],
) => {
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async () => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setProgress({ done: 0, total: 0 });
    try {
      const items = await readAll<Item>(queryClient, kind, search, { signal, onProgress: setProgress });
      // For the audit log: without its entry nothing is saved.
      await api.post('/exports', { kind: kind.savedKind, count: items.length });
      saveFile(`${kind.path.slice(1)}-${dayOf(new Date())}.csv`, csvText(columns, items), 'text/csv');
      notifyExported(kind, items.length);
    } catch (error) {
      if (signal.aborted) return;
      notifyFailed(texts.list.exportFailed, error);
    } finally {
      if (!signal.aborted) setProgress(null);
    }
  };
  const stop = () => {
    running.current?.abort();
    setProgress(null);
  };
  return { progress, run, stop };
};

const notifyExported = (kind: Kind, count: number): void =>
  void notify(
    count === MAX_ROWS
      ? {
          color: 'orange',
          title: texts.list.exportedInPart(countOf(MAX_ROWS, kind)),
          message: texts.list.exportLimit,
        }
      : { message: texts.list.exported(countOf(count, kind)) },
  );

const PAGE_SIZE = 100;
/** More would be too much for a browser, and for a spreadsheet. */
const MAX_ROWS = 20_000;

interface ReadOptions {
  signal: AbortSignal;
  onProgress(progress: { done: number; total: number }): void;
}

/**
 * Reads every page that the filters match. It reads by number, because no change moves a return to another page then, and sorts at
 * the end. New returns push others onto the next page, so an item may come twice.
 */
const readAll = async <Item extends AnyReturn>(
  queryClient: QueryClient,
  kind: Kind,
  search: ListSearch,
  { signal, onProgress }: ReadOptions,
): Promise<Item[]> => {
  const { sort: _, ...byNumber } = search;
  const found = new Map<string, Item>();
  for (let page = 1, pages = 1; page <= pages && found.size < MAX_ROWS; page++) {
    const { items, total, totalPages } = await queryClient.fetchQuery({
      queryKey: [kind.path, 'export', filtersOf(kind, search), search.order, page],
      queryFn: () => fetchPage<Item>(kind, { ...byNumber, page }, PAGE_SIZE, signal),
      staleTime: 0,
      gcTime: 0,
    });
    signal.throwIfAborted();
    for (const item of items) found.set(item.id, item);
    pages = totalPages;
    onProgress({ done: found.size, total: Math.min(total, MAX_ROWS) });
  }
  return sortItems([...found.values()].slice(0, MAX_ROWS), orderOf(search));
};
