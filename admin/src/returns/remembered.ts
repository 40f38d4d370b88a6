import { useState } from 'react';
import type { ListSearch } from '../list-search.ts';
import { useSession } from '../session/session.ts';
import type { Kind } from './kinds.ts';

// The last search of each list, so that the link back from a return leads to the same page. In the tab's storage, which signing out
// empties: a search may hold a customer's name.

const searchName = ({ path }: Kind): string => `handback.search.${path}`;

export const rememberSearch = (kind: Kind, search: ListSearch): void => {
  try {
    sessionStorage.setItem(searchName(kind), JSON.stringify(search));
  } catch {
    // The storage is full or forbidden: the link leads to the whole list.
  }
};

export const lastSearch = (kind: Kind): ListSearch => {
  try {
    return JSON.parse(sessionStorage.getItem(searchName(kind)) ?? '{}');
  } catch {
    return {};
  }
};

export const PAGE_SIZES = [20, 50, 100] as const;
type PageSize = (typeof PAGE_SIZES)[number];

const nameFor = (userId: string): string => `handback.page-size.${userId}`;

const kept = (userId: string): PageSize =>
  PAGE_SIZES.find((size) => String(size) === localStorage.getItem(nameFor(userId))) ?? PAGE_SIZES[0];

/** How many rows a page has: this browser remembers it for each person. */
export const usePageSize = (): [PageSize, (size: number) => void] => {
  const { user } = useSession();
  const [size, setSize] = useState(() => kept(user.id));
  return [
    size,
    (next) => {
      localStorage.setItem(nameFor(user.id), String(next));
      setSize(kept(user.id));
    },
  ];
};
