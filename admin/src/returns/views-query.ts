import { queryOptions } from '@tanstack/react-query';
import type { SavedView } from '../../../contract/admin-work.ts';
import { api } from '../api.ts';
import { LIST_ORDER, type ListSearch, listSearch } from '../list-search.ts';
import type { Kind } from './kinds.ts';
import { filtersOf } from './queries.ts';

// Lists under a name: those that everybody has, and those that people save.

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: () => api.get<{ items: SavedView[] }>('/views'),
  staleTime: 60_000,
});

export interface BuiltInView {
  name: string;
  search: ListSearch;
  /** Which figure of the overview counts its rows. */
  figure: 'open' | 'mine' | 'unassigned' | 'overdue' | 'all';
}

export const BUILT_IN_VIEWS: readonly BuiltInView[] = [
  { name: 'Open', search: {}, figure: 'open' },
  { name: 'Mine', search: { assignee: 'me' }, figure: 'mine' },
  { name: 'Unassigned', search: { assignee: 'none' }, figure: 'unassigned' },
  { name: 'Overdue', search: { overdue: true }, figure: 'overdue' },
  { name: 'All', search: { open: 'all', order: 'desc' }, figure: 'all' },
];

/** A search as the service keeps it: filters and order by name. */
export const savedSearch = (kind: Kind, search: ListSearch): Record<string, string> => {
  const { sort, order } = { ...LIST_ORDER, ...search };
  const all: Record<string, string | undefined> = { ...filtersOf(kind, search), sort, order };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
};

const OPEN: Record<string, ListSearch['open']> = { true: undefined, false: 'ended' };

/** The other way round. */
export const searchOfView = ({ search: { open, ...rest } }: SavedView): ListSearch => {
  const isAll = open === undefined && rest['status'] === undefined;
  return listSearch({ ...rest, open: isAll ? 'all' : OPEN[open ?? 'true'] });
};

const sameText = (search: ListSearch): string => {
  const { page: _, ...rest } = listSearch({ ...search });
  return JSON.stringify(Object.entries(rest).sort(([one], [other]) => one.localeCompare(other)));
};

/** Whether two searches show the same rows in the same order, on whatever page. */
export const isSameSearch = (one: ListSearch, other: ListSearch): boolean =>
  sameText(one) === sameText(other);

export const isOfKind = (kind: Kind, view: SavedView): boolean => view.kind === kind.savedKind;
