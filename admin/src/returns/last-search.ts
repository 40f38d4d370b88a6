import type { ListSearch } from '../list-search.ts';
import type { Kind } from './kinds.ts';

/** How each list was last looked at, so that the way back from a return leads to the same page of it. */
const last = new Map<Kind['path'], ListSearch>();

export const rememberSearch = ({ path }: Kind, search: ListSearch): void => {
  last.set(path, search);
};
export const lastSearch = ({ path }: Kind): ListSearch => last.get(path) ?? {};
