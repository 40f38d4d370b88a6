import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../../../contract/return-order.ts';
import type { ListSearch } from '../../list-search.ts';
import type { AnyReturn } from '../kinds.ts';

/** What a list is ordered by, and which way. */
export interface ListOrder {
  sort: ReturnSort;
  order: SortOrder;
}

export const orderOf = ({ sort, order }: ListSearch): ListOrder => ({
  sort: sort ?? DEFAULT_ORDER.sort,
  order: order ?? DEFAULT_ORDER.order,
});

/** As it stands in the address, which says nothing of what is so anyway. */
export const orderInSearch = ({ sort, order }: ListOrder): Pick<ListSearch, 'sort' | 'order'> => ({
  sort: sort === DEFAULT_ORDER.sort ? undefined : sort,
  order: order === DEFAULT_ORDER.order ? undefined : order,
});

/** The way each is looked at first: what is new on top, statuses in their order. */
const FIRST: Record<ReturnSort, SortOrder> = { number: 'desc', updatedAt: 'desc', status: 'asc' };

/** What a click on a column's head asks for: its order, or the other way round where it is ordered by it already. */
export const orderAfterClick = (now: ListOrder, sort: ReturnSort): ListOrder =>
  now.sort === sort ? { sort, order: now.order === 'asc' ? 'desc' : 'asc' } : { sort, order: FIRST[sort] };

/** Every order in words, for a table's caption and where there is no head to click on. */
export const ORDER_LABELS: Record<ReturnSort, Record<SortOrder, string>> = {
  number: { desc: 'Newest first', asc: 'Oldest first' },
  updatedAt: { desc: 'Last changed first', asc: 'Longest unchanged first' },
  status: { asc: 'By status', desc: 'By status, backwards' },
};

/** What was read in the order of its numbers, ordered as asked; among equals the numbers' order stays. */
export const inOrder = <Item extends AnyReturn>(
  items: readonly Item[],
  { sort, order }: ListOrder,
): Item[] => {
  if (sort === 'number') return [...items];
  const way = order === 'asc' ? 1 : -1;
  return items.toSorted((one, other) =>
    one[sort] === other[sort] ? 0 : one[sort] < other[sort] ? -way : way,
  );
};
