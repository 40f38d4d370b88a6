import { Card, Group, NativeSelect, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Due, StatusBadge } from '../badges.tsx';
import type { AnyReturn } from '../kinds.ts';
import { type ListOrder, ORDER_LABELS } from './list-order.ts';
import {
  AssigneeButton,
  ReturnLink,
  type RowsProps,
  SelectAll,
  SelectOne,
  useOpenRow,
} from './returns-rows.tsx';
import styles from './returns-table.module.css';

/** For narrow screens. */
export const ReturnsCards = <Item extends AnyReturn>(props: RowsProps<Item> & { orderSelect: ReactNode }) => (
  <Stack gap="xs">
    <Group justify="space-between" gap="xs">
      <SelectAll {...props} label="Select all on this page" />
      {props.orderSelect}
    </Group>
    <Stack gap="xs" component="ul" className={styles['cards']}>
      {props.items.map((item) => (
        <ReturnCard key={item.id} {...props} item={item} />
      ))}
    </Stack>
  </Stack>
);

const ReturnCard = <Item extends AnyReturn>({ item, ...props }: RowsProps<Item> & { item: Item }) => {
  const { kind, columns, isSelected, select, onAssign } = props;
  const open = useOpenRow(kind);
  return (
    <Card
      component="li"
      withBorder
      padding="sm"
      className={styles['row']}
      data-selected={isSelected(item.id) || undefined}
      onClick={(event) => open(event, item)}
    >
      <Group gap="sm" wrap="nowrap" mb={6}>
        <SelectOne item={item} isSelected={isSelected} select={select} />
        <ReturnLink kind={kind} item={item} />
        <StatusBadge status={item.status} ml="auto" />
      </Group>
      {columns.map(({ header, cell, noLabel }) =>
        noLabel ? (
          <div key={header}>{cell(item)}</div>
        ) : (
          <Group key={header} gap={6} align="baseline" wrap="nowrap">
            <Text size="sm" c="dimmed">
              {header}
            </Text>
            {cell(item)}
          </Group>
        ),
      )}
      <Text size="sm" c="dimmed" w="fit-content">
        Created <RelativeTime at={item.createdAt} />
        {item.updatedAt === item.createdAt ? null : (
          <>
            , changed <RelativeTime at={item.updatedAt} />
          </>
        )}
      </Text>
      <Group gap="sm" wrap="nowrap" mt={4}>
        <Due dueAt={item.dueAt} />
        <div className={styles['card-assignee']}>
          <AssigneeButton item={item} onAssign={onAssign} />
        </div>
      </Group>
    </Card>
  );
};

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
