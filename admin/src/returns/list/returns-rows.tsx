import { Checkbox, UnstyledButton, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { TextLink } from '../../ui/links.tsx';
import { Assignee } from '../assignee.tsx';
import type { AnyReturn, Kind } from '../kinds.ts';
import styles from './returns-table.module.css';

// What the table and the cards have in common.

/** A column between the status and the times, which every list has. */
export interface ReturnColumn<Item> {
  header: string;
  cell(item: Item): ReactNode;
  /** Of the table, where it has a width of its own. */
  width?: string;
  /** The table shows it only on screens from 1200 or from 1408 pixels on. */
  wideOnly?: 'wide' | 'widest';
  /** A card shows the cell without the header. */
  noLabel?: boolean;
}

export interface RowsProps<Item> {
  kind: Kind;
  columns: readonly ReturnColumn<Item>[];
  items: readonly Item[];
  isSelected(id: string): boolean;
  select(items: readonly Item[], on: boolean): void;
  onAssign(item: Item): void;
}

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

/** Who works on it; a click chooses somebody else. */
export const AssigneeButton = <Item extends AnyReturn>({
  item,
  onAssign,
}: Pick<RowsProps<Item>, 'onAssign'> & { item: Item }) => (
  <UnstyledButton className={styles['assignee']} onClick={() => onAssign(item)}>
    <VisuallyHidden>Assign {item.rmaNumber}, now </VisuallyHidden>
    <Assignee person={item.assignee} />
  </UnstyledButton>
);

export const SelectAll = <Item extends AnyReturn>({
  items,
  isSelected,
  select,
  label,
}: Pick<RowsProps<Item>, 'items' | 'isSelected' | 'select'> & { label?: string }) => {
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
