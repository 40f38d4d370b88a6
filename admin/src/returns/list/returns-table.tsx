import { Paper, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import type { ReturnSort } from '../../../../contract/return-order.ts';
import plain from '../../ui/plain-table.module.css';
import { RelativeTimeAndDate } from '../../ui/relative-time.tsx';
import type { AnyReturn } from '../kinds.ts';
import { StatusBadge } from '../status-badge.tsx';
import { type ListOrder, ORDER_LABELS, orderAfterClick } from './list-order.ts';
import { openOnClick, ReturnLink, type RowsProps, SelectAll, SelectOne } from './returns-rows.tsx';
import styles from './returns-table.module.css';

interface OrderProps {
  order: ListOrder;
  onOrder(order: ListOrder): void;
}

export const ReturnsTable = <Item extends AnyReturn>(props: RowsProps<Item> & OrderProps) => {
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
            <th className={styles['checkbox']}>
              <SelectAll {...props} />
            </th>
            <SortHeader sort="number" label="Number" {...sortable} />
            <SortHeader sort="status" label="Status" {...sortable} />
            {columns.map(({ header, wideOnly }) => (
              <th key={header} scope="col" className={wideOnly ? styles['wide-only'] : undefined}>
                {header}
              </th>
            ))}
            <th scope="col">Created</th>
            <SortHeader sort="updatedAt" label="Last change" {...sortable} />
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr
              key={item.id}
              className={styles['row']}
              data-selected={isSelected(item.id) || undefined}
              onClick={openOnClick}
            >
              <td className={styles['above']}>
                <SelectOne item={item} isSelected={isSelected} select={select} />
              </td>
              <th scope="row">
                <ReturnLink kind={kind} item={item} />
              </th>
              <td>
                <StatusBadge status={item.status} />
              </td>
              {columns.map(({ header, cell, wideOnly }) => (
                <td key={header} className={wideOnly ? styles['wide-only'] : undefined}>
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

/** The header of a column by which the list can be sorted. */
const SortHeader = ({ sort, label, order, onOrder }: OrderProps & { sort: ReturnSort; label: string }) => {
  const direction = order.sort === sort ? order.order : null;
  const Icon = direction === null ? ChevronsUpDown : direction === 'asc' ? ArrowUp : ArrowDown;
  return (
    <th scope="col" className={styles['time']} {...(direction ? { 'aria-sort': ARIA_SORT[direction] } : {})}>
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
