import { ActionIcon, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { ListSearch } from '../../list-search.ts';
import { texts } from '../../texts.ts';
import { useShortcuts } from '../../ui/shortcuts.ts';
import { readTab, writeTab } from '../../ui/tab-storage.ts';
import type { AnyReturn, Kind } from '../kinds.ts';
import { BackToList, lastSearch, usePageSize } from '../links.tsx';
import { type ListPage, listQuery } from '../queries.ts';

const words = texts.detail;

const STEPS = [
  { step: -1, label: words.previous, key: 'k', icon: ChevronUp },
  { step: 1, label: words.next, key: 'j', icon: ChevronDown },
] as const;

export const WalkBar = ({ kind, id }: { kind: Kind; id: string }) => {
  const { position, total, has, go } = useWalk(kind, id);
  return (
    <Group justify="space-between" gap="sm" mih={30} className="not-printed">
      <BackToList kind={kind} />
      {position > 0 ? (
        <Group gap={6} role="group" aria-label={words.walk}>
          <Text size="sm" c="dimmed" className="tabular-numbers" mr={4}>
            {words.position(position, total)}
          </Text>
          {STEPS.map(({ step, label, key, icon: Icon }) => (
            <ActionIcon
              key={key}
              variant="default"
              aria-label={label(kind.one)}
              title={`${label(kind.one)} (${key.toUpperCase()})`}
              disabled={!has[step]}
              onClick={() => void go(step)}
            >
              <Icon />
            </ActionIcon>
          ))}
        </Group>
      ) : null}
    </Group>
  );
};

// Next and previous of the list that one came from, as it was then: a return that a move takes out of the list keeps its place.

interface Page extends Pick<ListPage<AnyReturn>, 'page' | 'limit' | 'total'> {
  ids: string[];
  search: ListSearch;
}

const nameOf = ({ path }: Kind): string => `handback.walk.${path}`;

const pageOf = (search: ListSearch, { items, page, limit, total }: ListPage<AnyReturn>): Page => {
  const ids = items.map(({ id }) => id);
  return { ids, page, limit, total, search };
};

const useWalk = (kind: Kind, id: string) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [pageSize] = usePageSize();
  const current = useMemo(() => {
    const search = lastSearch(kind);
    const shown = queryClient.getQueryData(listQuery<AnyReturn>(kind, search, pageSize).queryKey);
    const fresh = shown ? pageOf(search, shown) : null;
    return [fresh, readTab<Page>(nameOf(kind))].find((page) => page?.ids.includes(id)) ?? null;
  }, [kind, id, queryClient, pageSize]);
  useEffect(() => {
    if (current) writeTab(nameOf(kind), current);
  }, [kind, current]);

  const index = current?.ids.indexOf(id) ?? -1;
  const position = current ? (current.page - 1) * current.limit + index + 1 : 0;
  const go = async (step: 1 | -1): Promise<void> => {
    if (!current) return;
    const neighbour = current.ids[index + step] ?? (await firstOfPage(current, step));
    if (neighbour) await navigate({ to: kind.detail, params: { id: neighbour } });
  };
  const firstOfPage = async ({ page, limit, search }: Page, step: 1 | -1): Promise<string | undefined> => {
    const there = { ...search, page: page + step };
    const found = await queryClient.fetchQuery(listQuery<AnyReturn>(kind, there, limit));
    writeTab(nameOf(kind), pageOf(there, found));
    return found.items.at(step === 1 ? 0 : -1)?.id;
  };
  const total = Math.max(current?.total ?? 0, position);
  const has = { [-1]: position > 1, 1: current !== null && position < total };
  const toList = () => navigate({ to: kind.path, search: lastSearch(kind) });
  useShortcuts([
    ...STEPS.toReversed()
      .filter(({ step }) => has[step])
      .map(({ step, label, key }) => ({ key, label: label(kind.one), run: () => void go(step) })),
    { key: 'u', label: words.backToList, run: () => void toList() },
  ]);
  return { position, total, has, go };
};
