import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { listEnvelope, Timeline, TimelineEntry } from '../../../contract/common.ts';
import type { OfflineRepair } from '../../../contract/offline-repair.ts';
import type { TradeReturn } from '../../../contract/trade-return.ts';
import { api } from '../api.ts';
import type { ListSearch } from '../list-search.ts';
import { overviewQuery } from '../overview-query.ts';

/** What both kinds of return have in common, and where each is found. */
export type AnyReturn = OfflineRepair | TradeReturn;

export const REPAIRS = {
  path: '/offline-repairs',
  detail: '/offline-repairs/$id',
  add: '/offline-repairs/new',
  overview: 'offlineRepairs',
  title: 'Offline repairs',
  one: 'repair',
  many: 'repairs',
  reference: 'storeId',
  referenceLabel: 'Store',
} as const;
export const TRADE_RETURNS = {
  path: '/trade-returns',
  detail: '/trade-returns/$id',
  add: '/trade-returns/new',
  overview: 'tradeReturns',
  title: 'Trade returns',
  one: 'trade return',
  many: 'trade returns',
  reference: 'companyId',
  referenceLabel: 'Company id',
} as const;
export type Kind = typeof REPAIRS | typeof TRADE_RETURNS;

export const countOf = (count: number, { one, many }: Kind): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

export type Listed<Item> = ReturnType<typeof listEnvelope<Item>>;

/** Others work on the same returns: what is on the screen is asked for again this often. */
const REFETCH_MS = 30_000;
const PAGE_SIZE = 25;

/** What of the address narrows this kind's list; the API refuses what it does not know. */
export const filtersOf = (kind: Kind, { q, status, origin, ...rest }: ListSearch) => ({
  q,
  status,
  origin,
  [kind.reference]: rest[kind.reference],
});

export const isFiltered = (kind: Kind, search: ListSearch): boolean =>
  Object.values(filtersOf(kind, search)).some((value) => value !== undefined);

export const fetchPage = <Item>(kind: Kind, search: ListSearch, limit: number): Promise<Listed<Item>> => {
  const { page, sort, order } = search;
  return api.get<Listed<Item>>(kind.path, { ...filtersOf(kind, search), sort, order, page, limit });
};

export const listQuery = <Item>(kind: Kind, search: ListSearch) =>
  queryOptions({
    queryKey: [kind.path, 'list', search],
    queryFn: () => fetchPage<Item>(kind, search, PAGE_SIZE),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });

export const detailQuery = <Item>(kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id],
    queryFn: () => api.get<Item>(`${kind.path}/${encodeURIComponent(id)}`),
    refetchInterval: REFETCH_MS,
  });

/** Every entry, page by page. The oldest come first, so what is added meanwhile is on the last page. */
const readTimeline = async (kind: Kind, id: string): Promise<TimelineEntry[]> => {
  const entries: TimelineEntry[] = [];
  for (let page = 1; ; page += 1) {
    const path = `${kind.path}/${encodeURIComponent(id)}/timeline`;
    const { items, totalPages } = await api.get<z.infer<typeof Timeline>>(path, { page });
    entries.push(...items);
    if (page >= totalPages) return entries;
  }
};

export const timelineQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id, 'timeline'],
    queryFn: () => readTimeline(kind, id),
    refetchInterval: REFETCH_MS,
  });

/** What lists and counts of this kind show is no longer so. */
export const refetchLists = (queryClient: QueryClient, kind: Kind): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: [kind.path] }),
    queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey }),
  ]);
