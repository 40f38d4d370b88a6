import {
  Card,
  Checkbox,
  Group,
  NativeSelect,
  Paper,
  Stack,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { type MouseEvent, type ReactNode, useEffect, useRef } from 'react';
import type { ReturnSort } from '../../../../contract/return-order.ts';
import { TextLink } from '../../ui/links.tsx';
import { columnClass, type PlainColumn, PlainTable } from '../../ui/plain-table.tsx';
import { RelativeTime, RelativeTimeAndDate } from '../../ui/relative-time.tsx';
import { Hint } from '../../ui/two-lines.tsx';
import { Assignee, Due, StatusBadge } from '../badges.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import { type ListOrder, ORDER_LABELS, orderAfterClick } from './list-order.ts';
import styles from './returns-table.module.css';

/** A column between the status and the times, which every list has. */
export interface ReturnColumn<Item> {
  header: string;
  cell(item: Item): ReactNode;
  width?: string;
  /** The table shows it only on screens from 1200 or from 1408 pixels on. */
  wideOnly?: 'wide' | 'widest';
  isNumber?: boolean;
  /** A card shows the cell without the header. */
  noLabel?: boolean;
}

interface Props<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  items: readonly Item[];
  isSelected(id: string): boolean;
  select(items: readonly Item[], on: boolean): void;
  onAssign(item: Item): void;
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

const useRows = <Item extends AnyReturn>({ kind, items, isSelected, select, onAssign }: Props<Item>) => {
  const open = useOpenRow(kind);
  const count = items.filter(({ id }) => isSelected(id)).length;
  return {
    selectAll: (label?: string) => (
      <Checkbox
        size="xs"
        label={label}
        aria-label={label ? undefined : 'Select all on this page'}
        checked={count === items.length}
        indeterminate={count > 0 && count < items.length}
        onChange={({ currentTarget }) => select(items, currentTarget.checked)}
      />
    ),
    selectOne: (item: Item) => (
      <Checkbox
        size="xs"
        aria-label={`Select ${item.rmaNumber}`}
        checked={isSelected(item.id)}
        onChange={({ currentTarget }) => select([item], currentTarget.checked)}
      />
    ),
    link: ({ id, rmaNumber }: Item) => (
      <TextLink
        to={kind.detail}
        params={{ id }}
        className={styles['link'] ?? ''}
        size="sm"
        fw={600}
        preload={false}
      >
        {rmaNumber}
      </TextLink>
    ),
    assignee: (item: Item) =>
      item.erasedAt === null ? (
        <UnstyledButton className={styles['assignee']} onClick={() => onAssign(item)}>
          <VisuallyHidden>Assign {item.rmaNumber}, now </VisuallyHidden>
          <Assignee person={item.assignee} />
        </UnstyledButton>
      ) : (
        <Assignee person={item.assignee} />
      ),
    /** The keyboard uses the link inside. */
    rowProps: (item: Item) => ({
      className: styles['row'] ?? '',
      'data-selected': isSelected(item.id) || undefined,
      onClick: (event: MouseEvent<HTMLElement>) => open(event, item),
    }),
  };
};

const INTERACTIVE = 'a, button, input, label, select, [role="button"]';
/** A second click within this time selects a word. */
const DOUBLE_CLICK_MS = 200;

/** A click on a row opens its return, unless it was on a control or selected a text. */
const useOpenRow = (kind: Kind) => {
  const navigate = useNavigate();
  const opening = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(opening.current), []);
  return (event: MouseEvent<HTMLElement>, item: AnyReturn): void => {
    clearTimeout(opening.current);
    const target = event.target as Element;
    if (event.detail > 1 || target.closest(INTERACTIVE) || isSelecting(event.currentTarget)) return;
    if (event.ctrlKey || event.metaKey) window.open(`/admin${kind.path}/${item.id}`, '_blank', 'noopener');
    else
      opening.current = setTimeout(
        () => void navigate({ to: kind.detail, params: { id: item.id } }),
        DOUBLE_CLICK_MS,
      );
  };
};

const isSelecting = (row: HTMLElement): boolean => {
  const selection = window.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(row, true);
};

const shownOn = (wideOnly: 'wide' | 'widest' | undefined): string | undefined =>
  wideOnly ? styles[`${wideOnly}-only`] : undefined;

/** Room for the longest number in any font: the header's figures are smaller than the rows', and cells have a margin. */
const numberWidth = (items: readonly AnyReturn[]): string =>
  `calc(${Math.max(...items.map(({ rmaNumber }) => rmaNumber.length)) + 3}ch + 1.25rem)`;

export const ReturnsTable = <Item extends AnyReturn>(props: Props<Item>) => {
  const { kind, columns, items, order, onOrder } = props;
  const { selectAll, selectOne, link, assignee, rowProps } = useRows(props);
  const sortable = (sort: ReturnSort, label: string, width: string) => ({
    key: sort,
    header: <SortButton sort={sort} label={label} order={order} onOrder={onOrder} />,
    head: {
      style: { width },
      ...(order.sort === sort ? { 'aria-sort': ARIA_SORT[order.order] } : {}),
    },
  });
  const all: PlainColumn<Item>[] = [
    { key: 'select', header: selectAll(), cell: selectOne, className: styles['checkbox'] },
    { ...sortable('number', 'Number', numberWidth(items)), isName: true, cell: link },
    {
      ...sortable('status', 'Status', '9.75rem'),
      cell: ({ status, dueAt }) => (
        <div className={styles['status']}>
          <StatusBadge status={status} />
          <Due dueAt={dueAt} />
        </div>
      ),
    },
    ...columns.map(({ header, cell, wideOnly, isNumber, width }) => ({
      header,
      cell,
      className: isNumber ? columnClass('number') : shownOn(wideOnly),
      head: width ? { style: { width } } : {},
    })),
    { header: 'Assigned to', cell: assignee, head: { style: { width: '7.75rem' } } },
    {
      header: 'Created',
      cell: ({ createdAt }) => <RelativeTimeAndDate at={createdAt} />,
      className: `${shownOn('widest')} ${styles['time']}`,
      head: { style: { width: '8rem' } },
    },
    {
      ...sortable('updatedAt', 'Last change', '7.75rem'),
      cell: ({ updatedAt }) => <RelativeTimeAndDate at={updatedAt} />,
      className: styles['time'],
    },
  ];
  return (
    <Paper withBorder className={styles['frame'] ?? ''}>
      <PlainTable
        caption={`${kind.title}, ${ORDER_LABELS[order.sort][order.order].toLowerCase()}`}
        className={styles['table']}
        headClassName={styles['head']}
        columns={all}
        rows={items}
        keyOf={({ id }) => id}
        rowProps={rowProps}
      />
    </Paper>
  );
};

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;

interface SortProps extends Pick<Props<never>, 'order' | 'onOrder'> {
  sort: ReturnSort;
  label: string;
}

const SortButton = ({ sort, label, order, onOrder }: SortProps) => {
  const direction = order.sort === sort ? order.order : null;
  const Icon = direction === null ? ChevronsUpDown : direction === 'asc' ? ArrowUp : ArrowDown;
  return (
    <UnstyledButton
      className={styles['header']}
      data-ordered={direction ?? undefined}
      onClick={() => onOrder(orderAfterClick(order, sort))}
    >
      {label}
      <Icon size={14} aria-hidden />
    </UnstyledButton>
  );
};

export const ReturnsCards = <Item extends AnyReturn>(props: Props<Item>) => {
  const { columns, items, order, onOrder } = props;
  const { selectAll, selectOne, link, assignee, rowProps } = useRows(props);
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        {selectAll('Select all on this page')}
        <OrderSelect order={order} onOrder={onOrder} />
      </Group>
      <Stack gap="xs" component="ul" className={styles['cards']}>
        {items.map((item) => (
          <Card key={item.id} component="li" withBorder padding="sm" {...rowProps(item)}>
            <Group gap="sm" wrap="nowrap" mb={6}>
              {selectOne(item)}
              {link(item)}
              <StatusBadge status={item.status} ml="auto" />
            </Group>
            {columns.map(({ header, cell, noLabel }) =>
              noLabel ? (
                <div key={header}>{cell(item)}</div>
              ) : (
                <Group key={header} gap={6} align="baseline" wrap="nowrap">
                  <Hint>{header}</Hint>
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
              <div className={styles['card-assignee']}>{assignee(item)}</div>
            </Group>
          </Card>
        ))}
      </Stack>
    </Stack>
  );
};

const ORDERS = Object.entries(ORDER_LABELS).flatMap(([sort, labels]) =>
  Object.entries(labels).map(([order, label]) => ({ value: `${sort} ${order}`, label })),
);

/** Cards have no column headers to click on. */
const OrderSelect = ({ order, onOrder }: Pick<Props<never>, 'order' | 'onOrder'>) => (
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
