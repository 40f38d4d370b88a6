import { OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../../../contract/lifecycle.ts';
import type { ReturnSort, SortOrder } from '../../../../contract/return-order.ts';
import { LIST_ORDER, type ListSearch } from '../../list-search.ts';
import { texts } from '../../texts.ts';
import { calendarDaysBetween } from '../../ui/relative-time.tsx';
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
  dueAt: 'asc',
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
export const ORDER_LABELS: Record<ReturnSort, Record<SortOrder, string>> = texts.list.orders;

/** Sorts items that were read by number; equal items stay in the order of their numbers. What is not due comes last. */
export const sortItems = <Item extends AnyReturn>(
  items: readonly Item[],
  { sort, order }: ListOrder,
): Item[] => {
  if (sort === 'number') return [...items];
  const sign = order === 'asc' ? 1 : -1;
  const placeOf = (item: Item) => (sort === 'status' ? STATUSES.indexOf(item.status) : item[sort]);
  return items.toSorted((one, other) => {
    const [first, second] = [placeOf(one), placeOf(other)];
    if (first === second) return 0;
    if (first === null || second === null) return first === null ? 1 : -1;
    return first < second ? -sign : sign;
  });
};
const STATUSES: readonly string[] = [...OFFLINE_REPAIR_STATUSES, ...TRADE_RETURN_STATUSES];

type Group = keyof typeof texts.list.groups;

const groupOf = ({ dueAt, waitingFor }: Pick<AnyReturn, 'dueAt' | 'waitingFor'>, nowMs: number): Group => {
  if (waitingFor) return 'waiting';
  if (dueAt === null) return 'none';
  const due = Date.parse(dueAt);
  if (due <= nowMs) return 'overdue';
  const days = calendarDaysBetween(nowMs, due);
  if (days <= 1) return days === 0 ? 'today' : 'tomorrow';
  // Monday is the first day of a week.
  return days <= 6 - ((new Date(nowMs).getDay() + 6) % 7) ? 'week' : 'later';
};

/** A list in the order of due times has a heading for each of its parts; others are one part without. */
export const groupsOf = <Item extends AnyReturn>(
  items: readonly Item[],
  { sort }: ListOrder,
  nowMs: number,
): [group: Group | null, items: Item[]][] => {
  if (sort !== 'dueAt') return [[null, [...items]]];
  return [...Map.groupBy(items, (item) => groupOf(item, nowMs))];
};
