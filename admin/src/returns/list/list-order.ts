import { DEFAULT_ORDER, type ReturnSort, type SortOrder } from '../../../../contract/return-order.ts';
import type { ListSearch } from '../../list-search.ts';
import type { AnyReturn } from '../kinds.ts';

export interface ListOrder {
  sort: ReturnSort;
  order: SortOrder;
}

export const orderOf = ({ sort, order }: ListSearch): ListOrder => ({
  sort: sort ?? DEFAULT_ORDER.sort,
  order: order ?? DEFAULT_ORDER.order,
});

/** For the address, which leaves out the default. */
export const orderInSearch = ({ sort, order }: ListOrder): Pick<ListSearch, 'sort' | 'order'> => ({
  sort: sort === DEFAULT_ORDER.sort ? undefined : sort,
  order: order === DEFAULT_ORDER.order ? undefined : order,
});

/** The direction after the first click: new returns on top, statuses in the order of the work. */
const FIRST_DIRECTION: Record<ReturnSort, SortOrder> = { number: 'desc', updatedAt: 'desc', status: 'asc' };

/** The first click on a column header sorts by it, the next one reverses the order. */
export const orderAfterClick = (current: ListOrder, sort: ReturnSort): ListOrder =>
  current.sort === sort
    ? { sort, order: current.order === 'asc' ? 'desc' : 'asc' }
    : { sort, order: FIRST_DIRECTION[sort] };

/** For the caption of a table, and for narrow screens without column headers. */
export const ORDER_LABELS: Record<ReturnSort, Record<SortOrder, string>> = {
  number: { desc: 'Newest first', asc: 'Oldest first' },
  updatedAt: { desc: 'Last changed first', asc: 'Longest unchanged first' },
  status: { asc: 'By status', desc: 'By status, backwards' },
};

/** Sorts items that were read by number; equal items stay in the order of their numbers. */
export const sortItems = <Item extends AnyReturn>(
  items: readonly Item[],
  { sort, order }: ListOrder,
): Item[] => {
  if (sort === 'number') return [...items];
  const sign = order === 'asc' ? 1 : -1;
  return items.toSorted((one, other) =>
    one[sort] === other[sort] ? 0 : one[sort] < other[sort] ? -sign : sign,
  );
};
