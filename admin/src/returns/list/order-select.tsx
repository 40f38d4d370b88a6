import { NativeSelect } from '@mantine/core';
import { type ListOrder, ORDER_LABELS } from './list-order.ts';

const ORDERS = Object.entries(ORDER_LABELS).flatMap(([sort, labels]) =>
  Object.entries(labels).map(([order, label]) => ({ value: `${sort} ${order}`, label })),
);

/** For narrow screens, which have no column headers to click on. */
export const OrderSelect = ({ order, onOrder }: { order: ListOrder; onOrder(order: ListOrder): void }) => (
  <NativeSelect
    aria-label="Order"
    size="xs"
    data={ORDERS}
    value={`${order.sort} ${order.order}`}
    onChange={({ currentTarget }) => {
      const [sort, direction] = currentTarget.value.split(' ');
      onOrder({ sort, order: direction } as ListOrder);
    }}
  />
);
