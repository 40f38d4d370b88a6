import { useState } from 'react';
import { useSession } from '../../session/session.ts';

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
