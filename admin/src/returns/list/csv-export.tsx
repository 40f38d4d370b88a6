import { Button, Group, Progress, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { notify } from '../../ui/notify.ts';
import { type AnyReturn, countOf, type Kind } from '../kinds.ts';
import { fetchPage, filtersOf } from '../queries.ts';
import { type CsvColumn, csvText } from './csv.ts';
import { inOrder, orderOf } from './list-order.ts';

const PER_PAGE = 100;
/** Beyond this a browser is the wrong tool; a spreadsheet as well. */
const MOST_ROWS = 20_000;

interface Props<Item> {
  kind: Kind;
  search: ListSearch;
  columns: readonly CsvColumn<Item>[];
  disabled: boolean;
}

/** Everything the filters find, not just the page on the screen. */
export const CsvExport = <Item extends AnyReturn>({ kind, search, columns, disabled }: Props<Item>) => {
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const run = async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    stop.current = stopping;
    setProgress({ done: 0, total: 0 });
    // Read by number, which no change of a return moves to another page, and ordered as asked at the end. New returns push
    // others onto the next page: what comes twice is kept once.
    const { sort: _, ...byNumber } = search;
    const found = new Map<string, Item>();
    try {
      for (let page = 1, pages = 1; page <= pages && found.size < MOST_ROWS; page++) {
        const { items, total, totalPages } = await queryClient.fetchQuery({
          queryKey: [kind.path, 'export', filtersOf(kind, search), search.order, page],
          queryFn: () => fetchPage<Item>(kind, { ...byNumber, page }, PER_PAGE),
          staleTime: 0,
          gcTime: 0,
        });
        if (signal.aborted) return;
        for (const item of items) found.set(item.id, item);
        pages = totalPages;
        setProgress({ done: found.size, total: Math.min(total, MOST_ROWS) });
      }
      const items = inOrder([...found.values()].slice(0, MOST_ROWS), orderOf(search));
      save(`${kind.path.slice(1)}-${new Date().toISOString().slice(0, 10)}.csv`, csvText(columns, items));
      void notify(
        items.length === MOST_ROWS
          ? {
              color: 'orange',
              title: `${countOf(MOST_ROWS, kind)} exported, but not all`,
              message: 'One file holds no more. Narrow the list to export the rest.',
            }
          : { message: `${countOf(items.length, kind)} exported` },
      );
    } catch (error) {
      if (signal.aborted) return;
      void notify({
        color: 'red',
        title: 'The export did not finish',
        message: error instanceof Error ? error.message : 'Something went wrong.',
      });
    } finally {
      if (!signal.aborted) setProgress(null);
    }
  };

  if (progress)
    return (
      <Group gap="xs" wrap="nowrap">
        <Progress
          w={90}
          value={progress.total === 0 ? 0 : (100 * progress.done) / progress.total}
          aria-label="Export"
        />
        <Text size="sm" className="tabular-numbers" role="status">
          {progress.done.toLocaleString()} of {progress.total.toLocaleString()}
        </Text>
        <Button
          variant="default"
          size="compact-sm"
          onClick={() => {
            stop.current?.abort();
            setProgress(null);
          }}
        >
          Stop
        </Button>
      </Group>
    );
  return (
    <Button
      variant="default"
      leftSection={<Download size={16} aria-hidden />}
      onClick={run}
      disabled={disabled}
    >
      Export CSV
    </Button>
  );
};

const save = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
};
