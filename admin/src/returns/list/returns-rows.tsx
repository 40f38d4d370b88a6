import { Checkbox } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import { TextLink } from '../../ui/links.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import styles from './returns-table.module.css';

// What the table and the cards have in common.

/** A column between the status and the times, which every list has. */
export interface ReturnColumn<Item> {
  header: string;
  cell(item: Item): ReactNode;
  /** Only wide screens show it. */
  wideOnly?: boolean;
  /** A card shows the cell without the header. */
  noLabel?: boolean;
}

export interface RowsProps<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  items: readonly Item[];
  isSelected(id: string): boolean;
  select(items: readonly Item[], on: boolean): void;
}

/** A click on a row's text opens it like a click beside the text, unless somebody selects that text. */
export const openOnClick = ({ target, currentTarget }: MouseEvent<HTMLElement>): void => {
  const isOwnControl = (target as Element).closest('a, button, input, label, time') !== null;
  if (isOwnControl || window.getSelection()?.isCollapsed === false) return;
  currentTarget.querySelector('a')?.click();
};

export const ReturnLink = ({ kind, item }: { kind: Kind; item: AnyReturn }) => (
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

export const SelectAll = <Item extends AnyReturn>({
  items,
  isSelected,
  select,
  label,
}: RowsProps<Item> & { label?: string }) => {
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

export const SelectOne = <Item extends AnyReturn>({
  item,
  isSelected,
  select,
}: Pick<RowsProps<Item>, 'isSelected' | 'select'> & { item: Item }) => (
  <Checkbox
    size="xs"
    aria-label={`Select ${item.rmaNumber}`}
    checked={isSelected(item.id)}
    onChange={({ currentTarget }) => select([item], currentTarget.checked)}
  />
);
