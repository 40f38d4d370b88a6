import { queryOptions } from '@tanstack/react-query';
import type { FoundReturn, SearchResult } from '../../../contract/admin-search.ts';
import { api } from '../api.ts';

export const findReturns = async (text: string): Promise<FoundReturn[]> =>
  (await api.get<SearchResult>('/search', { q: text })).items;

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: () => findReturns(text),
    enabled: text !== '',
    staleTime: 2_000,
  });

/** The one return that a whole number, serial, tracking number, reference or order means, or the only one there is. */
export const onlyMatch = (found: readonly FoundReturn[]): FoundReturn | null => {
  const exact = found.filter(({ match }) => match !== null);
  const candidates = exact.length > 0 ? exact : found;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
};
