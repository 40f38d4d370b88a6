import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { PeopleList, StoreList } from '../../../contract/admin-returns.ts';
import type { FoundReturn, SearchResult } from '../../../contract/admin-search.ts';
import type { SavedView } from '../../../contract/admin-work.ts';
import type { listEnvelope, Timeline, TimelineEntry } from '../../../contract/common.ts';
import { api } from '../api.ts';
import { LIST_ORDER, type ListSearch, listSearch } from '../list-search.ts';
import { getQuery, overviewQuery, REFETCH_MS } from '../shop-queries.ts';
import { texts } from '../texts.ts';
import { type Kind, ofKnownKinds } from './kinds.ts';
import { withFullNumber } from './return-number.ts';

export type ListPage<Item> = ReturnType<typeof listEnvelope<Item>>;

/** What shows a list, or a part of one. */
export interface ListProps {
  kind: Kind;
  search: ListSearch;
  onSearch(search: ListSearch): void;
}

/** The filters that this kind's list knows, as the service takes them; it refuses others. */
export const filtersOf = (kind: Kind, search: ListSearch): Record<string, string | undefined> => {
  const { q, status, origin, open, assignee, overdue, waitingFor } = search;
  const { dueFrom, dueTo, createdFrom, createdTo } = search;
  const own = kind.filters.map((name) => [name, search[name]?.toString()] as const);
  return {
    q: q && withFullNumber(q),
    status,
    origin,
    open: status === undefined ? OPEN[open ?? 'open'] : undefined,
    assignee,
    overdue: overdue?.toString(),
    waitingFor,
    dueFrom,
    dueTo,
    createdFrom,
    createdTo,
    ...Object.fromEntries(own),
  };
};
const OPEN = { open: 'true', ended: 'false', all: undefined };

export const isFiltered = (kind: Kind, search: ListSearch): boolean =>
  Object.entries(filtersOf(kind, search)).some(([name, value]) => name !== 'open' && value !== undefined);

export const fetchPage = <Item>(
  kind: Kind,
  search: ListSearch,
  limit: number,
  signal?: AbortSignal,
): Promise<ListPage<Item>> => {
  const { sort, order } = { ...LIST_ORDER, ...search };
  const query = { ...filtersOf(kind, search), sort, order, page: search.page, limit };
  return api.get<ListPage<Item>>(kind.path, query, signal);
};

export const listQuery = <Item>(kind: Kind, search: ListSearch, limit: number) =>
  queryOptions({
    queryKey: [kind.path, 'list', search, limit],
    queryFn: ({ signal }) => fetchPage<Item>(kind, search, limit, signal),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });

export const detailQuery = <Item>(kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id],
    queryFn: ({ signal }) => api.get<Item>(`${kind.path}/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: REFETCH_MS,
  });

/** Reads every page. The oldest entries come first, so an entry that is added meanwhile is on the last page. */
const fetchTimeline = async (kind: Kind, id: string, signal: AbortSignal): Promise<TimelineEntry[]> => {
  const entries: TimelineEntry[] = [];
  for (let page = 1; ; page += 1) {
    const path = `${kind.path}/${encodeURIComponent(id)}/timeline`;
    const { items, totalPages } = await api.get<z.infer<typeof Timeline>>(path, { page }, signal);
    entries.push(...items);
    if (page >= totalPages) return entries;
  }
};

export const timelineQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind.path, id, 'timeline'],
    queryFn: ({ signal }) => fetchTimeline(kind, id, signal),
    refetchInterval: REFETCH_MS,
  });

export const refetchReturns = (queryClient: QueryClient, kind: Kind): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: [kind.path] }),
    queryClient.invalidateQueries({ queryKey: overviewQuery.queryKey }),
  ]);

const A_MINUTE = { staleTime: 60_000 };
export const peopleQuery = getQuery<z.infer<typeof PeopleList>>('people', A_MINUTE);
export const storesQuery = getQuery<StoreList>('stores', A_MINUTE);

// Lists under a name: those that every person has, and those that people save.

export const viewsQuery = getQuery<{ items: SavedView[] }>('views', A_MINUTE);

const { builtIn } = texts.list;

/** Each with the figure of the overview that counts its rows. */
export const BUILT_IN_VIEWS = [
  { name: builtIn.open, search: {}, figure: 'open' },
  { name: builtIn.mine, search: { assignee: 'me' }, figure: 'mine' },
  { name: builtIn.unassigned, search: { assignee: 'none' }, figure: 'unassigned' },
  { name: builtIn.overdue, search: { overdue: true }, figure: 'overdue' },
  { name: builtIn.waiting, search: { waitingFor: 'any' }, figure: 'waiting' },
  { name: builtIn.all, search: { open: 'all', order: 'desc' }, figure: 'all' },
] as const satisfies { name: string; search: ListSearch; figure: string }[];

export const viewCountQuery = (kind: Kind, search: ListSearch) =>
  queryOptions({
    queryKey: [kind.path, 'count', search],
    queryFn: async ({ signal }) => (await fetchPage(kind, search, 1, signal)).total,
    ...A_MINUTE,
    refetchInterval: 4 * REFETCH_MS,
  });

export const savedSearch = (kind: Kind, search: ListSearch): Record<string, string> => {
  const { sort, order } = { ...LIST_ORDER, ...search };
  const all: Record<string, string | undefined> = { ...filtersOf(kind, search), sort, order };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
};

const OPEN_OF_VIEW: Record<string, ListSearch['open']> = { true: undefined, false: 'ended' };

export const searchOfView = ({ search: { open, ...rest } }: SavedView): ListSearch => {
  const isAll = open === undefined && rest['status'] === undefined;
  return listSearch({ ...rest, open: isAll ? 'all' : OPEN_OF_VIEW[open ?? 'true'] });
};

const sameText = (search: ListSearch): string => {
  const { page: _, ...rest } = listSearch({ ...search });
  return JSON.stringify(Object.entries(rest).sort(([one], [other]) => one.localeCompare(other)));
};

/** Whether two searches show the same rows in the same order, on whatever page. */
export const isSameSearch = (one: ListSearch, other: ListSearch): boolean =>
  sameText(one) === sameText(other);

export const isOfKind = (kind: Kind, view: SavedView): boolean => view.kind === kind.savedKind;

export const findReturns = async (text: string, signal?: AbortSignal): Promise<FoundReturn[]> => {
  const { items } = await api.get<SearchResult>('/search', { q: withFullNumber(text) }, signal);
  return ofKnownKinds(items);
};

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => findReturns(text, signal),
    enabled: text !== '',
    staleTime: 2_000,
  });

/** The one return that a whole number, serial, tracking number, reference or order means, or the only one there is. */
export const onlyMatch = (found: readonly FoundReturn[]): FoundReturn | null => {
  const exact = found.filter(({ match }) => match !== null);
  const candidates = exact.length > 0 ? exact : found;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
};
