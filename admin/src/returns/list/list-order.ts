import { OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../../../contract/lifecycle.ts';
import type { ReturnSort, SortOrder } from '../../../../contract/return-order.ts';
import { LIST_ORDER, type ListSearch } from '../../list-search.ts';
import type { AnyReturn } from '../kinds.ts';

export interface ListOrder {
  sort: ReturnSort;
  order: SortOrder;
}

export const orderOf = ({ sort, order }: ListSearch): ListOrder => ({
  sort: sort ?? LIST_ORDER.sort,
  order: order ?? LIST_ORDER.order,
});

export const orderInSearch = ({ sort, order }: ListOrder): Pick<ListSearch, 'sort' | 'order'> => ({
  sort: sort === LIST_ORDER.sort ? undefined : sort,
  order: order === LIST_ORDER.order ? undefined : order,
});

/** The direction after the first click: what has waited longest on top, statuses in the order of the work. */
const FIRST_DIRECTION: Record<ReturnSort, SortOrder> = {
  number: 'asc',
  updatedAt: 'desc',
  status: 'asc',
  statusSince: 'asc',
};

/** The first click on a column header sorts by it, the next one reverses the order. */
export const orderAfterClick = (current: ListOrder, sort: ReturnSort): ListOrder =>
  current.sort === sort
    ? { sort, order: current.order === 'asc' ? 'desc' : 'asc' }
    : { sort, order: FIRST_DIRECTION[sort] };

/** For the caption of a table, and for narrow screens without column headers. */
export const ORDER_LABELS: Record<ReturnSort, Record<SortOrder, string>> = {
  number: { asc: 'Oldest first', desc: 'Newest first' },
  updatedAt: { desc: 'Last changed first', asc: 'Longest unchanged first' },
  status: { asc: 'By status', desc: 'By status, backwards' },
  statusSince: { asc: 'Longest in its status first', desc: 'Shortest in its status first' },
};

/** Sorts items that were read by number; equal items stay in the order of their numbers. */
export const sortItems = <Item extends AnyReturn>(
  items: readonly Item[],
  { sort, order }: ListOrder,
): Item[] => {
  if (sort === 'number') return [...items];
  const sign = order === 'asc' ? 1 : -1;
  const placeOf = (item: Item) => (sort === 'status' ? STATUSES.indexOf(item.status) : item[sort]);
  return items.toSorted((one, other) => {
    const [first, second] = [placeOf(one), placeOf(other)];
    return first === second ? 0 : first < second ? -sign : sign;
  });
};
const STATUSES: readonly string[] = [...OFFLINE_REPAIR_STATUSES, ...TRADE_RETURN_STATUSES];
