import { Paper, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReturnSort } from '../../../../contract/return-order.ts';
import plain from '../../ui/plain-table.module.css';
import { RelativeTimeAndDate } from '../../ui/relative-time.tsx';
import { Due, StatusBadge } from '../badges.tsx';
import type { AnyReturn } from '../kinds.ts';
import { type ListOrder, ORDER_LABELS, orderAfterClick } from './list-order.ts';
import {
  AssigneeButton,
  ReturnLink,
  type RowsProps,
  SelectAll,
  SelectOne,
  useOpenRow,
} from './returns-rows.tsx';
import styles from './returns-table.module.css';

interface OrderProps {
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

export const ReturnsTable = <Item extends AnyReturn>(props: RowsProps<Item> & OrderProps) => {
  const { kind, items, order } = props;
  return (
    <Paper withBorder className={styles['frame'] ?? ''}>
      <table className={`${plain['table']} ${styles['table']}`}>
        <caption className={styles['caption']}>
          <VisuallyHidden>
            {kind.title}, {ORDER_LABELS[order.sort][order.order].toLowerCase()}
          </VisuallyHidden>
        </caption>
        <Head {...props} />
        <tbody>
          {items.map((item) => (
            <Row key={item.id} {...props} item={item} />
          ))}
        </tbody>
      </table>
    </Paper>
  );
};

/** Some columns need room that a narrower screen does not have. */
const shownOn = (wideOnly: 'wide' | 'widest' | undefined): string | undefined =>
  wideOnly ? styles[`${wideOnly}-only`] : undefined;

/** Room for the longest number in whatever font there is: the header's figures are smaller than the rows', and cells have a margin. */
const numberWidth = (items: readonly AnyReturn[]): string =>
  `calc(${Math.max(...items.map(({ rmaNumber }) => rmaNumber.length)) + 3}ch + 1.25rem)`;

const Head = <Item extends AnyReturn>(props: RowsProps<Item> & OrderProps) => {
  const { columns, order, onOrder } = props;
  const sortable = { order, onOrder };
  return (
    <thead className={styles['head']}>
      <tr>
        <th className={styles['checkbox']}>
          <SelectAll {...props} />
        </th>
        <SortHeader sort="number" label="Number" width={numberWidth(props.items)} {...sortable} />
        <SortHeader sort="status" label="Status" width="9.75rem" {...sortable} />
        {columns.map(({ header, wideOnly, width }) => (
          <th key={header} scope="col" className={shownOn(wideOnly)} style={width ? { width } : {}}>
            {header}
          </th>
        ))}
        <th scope="col" style={{ width: '7.75rem' }}>
          Assigned to
        </th>
        <th scope="col" className={shownOn('widest')} style={{ width: '8rem' }}>
          Created
        </th>
        <SortHeader sort="updatedAt" label="Last change" width="7.75rem" {...sortable} />
      </tr>
    </thead>
  );
};

const Row = <Item extends AnyReturn>({ item, ...props }: RowsProps<Item> & { item: Item }) => {
  const { kind, columns, isSelected, select, onAssign } = props;
  const open = useOpenRow(kind);
  return (
    // The keyboard uses the link inside.
    <tr
      className={styles['row']}
      data-selected={isSelected(item.id) || undefined}
      onClick={(event) => open(event, item)}
    >
      <td>
        <SelectOne item={item} isSelected={isSelected} select={select} />
      </td>
      <th scope="row">
        <ReturnLink kind={kind} item={item} />
      </th>
      <td>
        <div className={styles['status']}>
          <StatusBadge status={item.status} />
          <Due dueAt={item.dueAt} />
        </div>
      </td>
      {columns.map(({ header, cell, wideOnly }) => (
        <td key={header} className={shownOn(wideOnly)}>
          {cell(item)}
        </td>
      ))}
      <td>
        <AssigneeButton item={item} onAssign={onAssign} />
      </td>
      <td className={`${shownOn('widest')} ${styles['time']}`}>
        <RelativeTimeAndDate at={item.createdAt} />
      </td>
      <td className={styles['time']}>
        <RelativeTimeAndDate at={item.updatedAt} />
      </td>
    </tr>
  );
};

interface SortProps extends OrderProps {
  sort: ReturnSort;
  label: string;
  width: string;
}

/** The header of a column by which the list can be sorted. */
const SortHeader = ({ sort, label, width, order, onOrder }: SortProps) => {
  const direction = order.sort === sort ? order.order : null;
  const Icon = direction === null ? ChevronsUpDown : direction === 'asc' ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      className={styles['time']}
      style={{ width }}
      {...(direction ? { 'aria-sort': ARIA_SORT[direction] } : {})}
    >
      <UnstyledButton
        className={styles['header']}
        data-ordered={direction ?? undefined}
        onClick={() => onOrder(orderAfterClick(order, sort))}
      >
        {label}
        <Icon size={14} aria-hidden />
      </UnstyledButton>
    </th>
  );
};
const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;
