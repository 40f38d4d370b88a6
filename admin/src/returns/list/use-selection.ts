import { useState } from 'react';
import type { AnyReturn } from '../kinds.ts';

/** The selected items, across the pages of a list. `items` are those of the current page. */
export const useSelection = <Item extends AnyReturn>(items: readonly Item[]) => {
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const current = new Map(items.map((item) => [item.id, item]));
  return {
    // An item of another page may have changed since; the service decides when it is moved.
    selected: [...selected.values()].map((item) => current.get(item.id) ?? item),
    isSelected: (id: string) => selected.has(id),
    select: (some: readonly Item[], on: boolean) => {
      const next = new Map(selected);
      for (const item of some) on ? next.set(item.id, item) : next.delete(item.id);
      setSelected(next);
    },
    selectOnly: (some: readonly Item[]) => setSelected(new Map(some.map((item) => [item.id, item]))),
  };
};
