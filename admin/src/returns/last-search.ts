import type { ListSearch } from '../list-search.ts';
import type { Kind } from './kinds.ts';

/** The last search of each list, so that the link back from a return leads to the same page. */
const last = new Map<Kind['path'], ListSearch>();

export const rememberSearch = ({ path }: Kind, search: ListSearch): void => {
  last.set(path, search);
};
export const lastSearch = ({ path }: Kind): ListSearch => last.get(path) ?? {};

/** What was searched for may be a customer's name. */
export const forgetSearches = (): void => last.clear();
