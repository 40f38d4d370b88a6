import { Card, Checkbox, Group, Paper, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ReturnSort } from '../../../../contract/return-order.ts';
import { TextLink } from '../../ui/links.tsx';
import plain from '../../ui/plain-table.module.css';
import { RelativeTime, RelativeTimeAndDate } from '../../ui/relative-time.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { StatusBadge } from '../status-badge.tsx';
import { type ListOrder, ORDER_LABELS, orderAfterClick } from './list-order.ts';
import styles from './returns-table.module.css';

/** A column between the status and the time, which every list has. */
export interface ReturnColumn<Item> {
  header: string;
  cell(item: Item): ReactNode;
  /** Shown on wide screens only. */
  wide?: boolean;
  /** Shown on a card without its name. */
  plain?: boolean;
}

interface Props<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  items: readonly Item[];
  isSelected(id: string): boolean;
  select(items: readonly Item[], on: boolean): void;
}

interface Ordered {
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

export const ReturnsTable = <Item extends AnyReturn>(props: Props<Item> & Ordered) => {
  const { kind, columns, items, isSelected, select, order, onOrder } = props;
  const sortable = { order, onOrder };
  return (
    <Paper withBorder className={plain['frame'] ?? ''}>
      <table className={plain['table']}>
        <caption className={styles['caption']}>
          <VisuallyHidden>
            {kind.title}, {ORDER_LABELS[order.sort][order.order].toLowerCase()}
          </VisuallyHidden>
        </caption>
        <thead>
          <tr>
            <th className={styles['tick']}>
              <SelectAll {...props} />
            </th>
            <SortHead sort="number" label="Number" {...sortable} />
            <SortHead sort="status" label="Status" {...sortable} />
            {columns.map(({ header, wide }) => (
              <th key={header} scope="col" className={wide ? styles['wide'] : undefined}>
                {header}
              </th>
            ))}
            <th scope="col">Created</th>
            <SortHead sort="updatedAt" label="Last change" {...sortable} />
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id} className={styles['row']} data-selected={isSelected(item.id) || undefined}>
              <td className={styles['above']}>
                <SelectOne item={item} isSelected={isSelected} select={select} />
              </td>
              <th scope="row">
                <ReturnLink kind={kind} item={item} />
              </th>
              <td>
                <StatusBadge status={item.status} />
              </td>
              {columns.map(({ header, cell, wide }) => (
                <td key={header} className={wide ? styles['wide'] : undefined}>
                  {cell(item)}
                </td>
              ))}
              <td className={`${styles['above']} ${styles['time']}`}>
                <RelativeTimeAndDate at={item.createdAt} />
              </td>
              <td className={`${styles['above']} ${styles['time']}`}>
                <RelativeTimeAndDate at={item.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Paper>
  );
};

/** The head of a column that the list can be ordered by. */
const SortHead = ({ sort, label, order, onOrder }: Ordered & { sort: ReturnSort; label: string }) => {
  const way = order.sort === sort ? order.order : null;
  const Icon = way === null ? ChevronsUpDown : way === 'asc' ? ArrowUp : ArrowDown;
  return (
    <th scope="col" className={styles['time']} {...(way ? { 'aria-sort': SAID[way] } : {})}>
      <UnstyledButton
        className={styles['head']}
        data-ordered={way ?? undefined}
        onClick={() => onOrder(orderAfterClick(order, sort))}
      >
        {label}
        <Icon size={14} aria-hidden />
      </UnstyledButton>
    </th>
  );
};
const SAID = { asc: 'ascending', desc: 'descending' } as const;

/** The same as a list of cards, for narrow screens. */
export const ReturnsCards = <Item extends AnyReturn>(props: Props<Item> & { above: ReactNode }) => {
  const { kind, columns, items, isSelected, select } = props;
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <SelectAll {...props} label="Select all on this page" />
        {props.above}
      </Group>
      <Stack gap="xs" component="ul" className={styles['cards']}>
        {items.map((item) => (
          <Card
            key={item.id}
            component="li"
            withBorder
            padding="sm"
            className={styles['row']}
            data-selected={isSelected(item.id) || undefined}
          >
            <Group gap="sm" wrap="nowrap" mb={6}>
              <div className={styles['above']}>
                <SelectOne item={item} isSelected={isSelected} select={select} />
              </div>
              <ReturnLink kind={kind} item={item} />
              <StatusBadge status={item.status} ml="auto" />
            </Group>
            {columns.map(({ header, cell, plain }) =>
              plain ? (
                <div key={header}>{cell(item)}</div>
              ) : (
                <Group key={header} gap={6} align="baseline">
                  <Text size="sm" c="dimmed">
                    {header}
                  </Text>
                  {cell(item)}
                </Group>
              ),
            )}
            <Text size="sm" c="dimmed" className={styles['above']} w="fit-content">
              Created <RelativeTime at={item.createdAt} />
              {item.updatedAt === item.createdAt ? null : (
                <>
                  , changed <RelativeTime at={item.updatedAt} />
                </>
              )}
            </Text>
          </Card>
        ))}
      </Stack>
    </Stack>
  );
};

const ReturnLink = ({ kind, item }: { kind: Kind; item: AnyReturn }) => (
  <TextLink
    to={kind.detail}
    params={{ id: item.id }}
    className={styles['link'] ?? ''}
    size="sm"
    fw={600}
    preload={false}
  >
    {item.rmaNumber}
  </TextLink>
);

const SelectAll = <Item extends AnyReturn>({
  items,
  isSelected,
  select,
  label,
}: Props<Item> & { label?: string }) => {
  const count = items.filter(({ id }) => isSelected(id)).length;
  return (
    <Checkbox
      size="xs"
      label={label}
      aria-label={label ? undefined : 'Select all on this page'}
      checked={count === items.length}
      indeterminate={count > 0 && count < items.length}
      onChange={({ currentTarget }) => select(items, currentTarget.checked)}
    />
  );
};

const SelectOne = <Item extends AnyReturn>({
  item,
  isSelected,
  select,
}: Pick<Props<Item>, 'isSelected' | 'select'> & { item: Item }) => (
  <Checkbox
    size="xs"
    aria-label={`Select ${item.rmaNumber}`}
    checked={isSelected(item.id)}
    onChange={({ currentTarget }) => select([item], currentTarget.checked)}
  />
);
