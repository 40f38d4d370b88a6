import type { ListSearch } from '../list-search.ts';
import type { Kind } from './kinds.ts';

// The last search of each list, so that the link back from a return leads to the same page. In the tab's storage, which signing out
// empties: a search may hold a customer's name.

const nameOf = ({ path }: Kind): string => `handback.search.${path}`;

export const rememberSearch = (kind: Kind, search: ListSearch): void => {
  try {
    sessionStorage.setItem(nameOf(kind), JSON.stringify(search));
  } catch {
    // The storage is full or forbidden: the link leads to the whole list.
  }
};

export const lastSearch = (kind: Kind): ListSearch => {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(kind)) ?? '{}');
  } catch {
    return {};
  }
};
