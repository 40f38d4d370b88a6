import { Checkbox, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { TextLink } from '../../ui/links.tsx';
import { Assignee } from '../badges.tsx';
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

const INTERACTIVE = 'a, button, input, label, select, [role="button"]';
/** A second click within this time selects a word. */
const DOUBLE_CLICK_MS = 200;

/** A click on a row opens its return, unless it was on a control or selected a text. */
export const useOpenRow = (kind: Kind) => {
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

/** The selected items, across the pages of a list. `items` are those of the current page. */
export const useSelection = <Item extends AnyReturn>(items: readonly Item[]) => {
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const current = new Map(items.map((item) => [item.id, item]));
  return {
    // An item of another page may have changed since; the service decides when it is moved.
    selected: [...selected.values()].map((item) => current.get(item.id) ?? item),
    isSelected: (id: string) => selected.has(id),
    select: (some: readonly Item[], on: boolean) => {
      const next = new Map(selected);
      for (const item of some) on ? next.set(item.id, item) : next.delete(item.id);
      setSelected(next);
    },
    selectOnly: (some: readonly Item[]) => setSelected(new Map(some.map((item) => [item.id, item]))),
  };
};
