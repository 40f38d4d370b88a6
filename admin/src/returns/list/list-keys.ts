import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useBlocked } from '../../session/blocked.tsx';
import { texts } from '../../texts.ts';
import { useShortcuts } from '../../ui/shortcuts.ts';
import type { AnyReturn, Kind } from '../kinds.ts';

const { keys } = texts.list;

/** No return has this as its id. */
export const SELECTED = 'selected';

const rowOf = (id: string): HTMLElement | null => document.querySelector(`[data-return="${id}"]`);

/** The rows in the order in which they are shown, which groups may change. */
const shownIds = (): string[] =>
  [...document.querySelectorAll<HTMLElement>('[data-return]')].map(({ dataset }) => dataset['return'] ?? '');

interface Cursor {
  /** Its list, by what is shown there. */
  list: string;
  id: string;
  /** Which row of the list it is. */
  at: number;
}

/** The row at which the list was left, for the way back. */
let lastCursor: Cursor | null = null;

interface Options<Item> {
  kind: Kind;
  /** What is shown: the same filters, page and order are the same list. */
  list: string;
  /** The rows are still those of the list before. */
  isStale: boolean;
  items: readonly Item[];
  selected: readonly unknown[];
  isSelected(id: string): boolean;
  select(items: readonly Item[], on: boolean): void;
  onClear(): void;
  /** A row by its id, or what is selected. */
  onAssign(which: string): void;
}

/** Keys of a list. Its cursor is the focus on the number of a row, so that Enter opens it as every link. */
export const useListKeys = <Item extends AnyReturn>(options: Options<Item>) => {
  const { kind, list, isStale, items, selected, isSelected, select, onClear, onAssign } = options;
  const [cursor, setCursor] = useState(lastCursor);
  const [isPreviewed, setPreviewed] = useState(false);
  const navigate = useNavigate();
  const blocked = useBlocked();
  const current = items.find(({ id }) => id === cursor?.id);
  const putCursor = (id: string): void => {
    lastCursor = { list, id, at: shownIds().indexOf(id) };
    setCursor(lastCursor);
  };
  /** A move takes a row out of the list: the one that has come to its place is next. */
  const keepPlace = useEffectEvent(() => {
    if (current || isStale || cursor?.list !== list) return;
    const ids = shownIds();
    const next = ids[Math.min(cursor.at, ids.length - 1)];
    if (next !== undefined) putCursor(next);
  });
  useEffect(() => {
    if (items.length > 0) keepPlace();
  }, [items]);

  const moveTo = (id: string): void => {
    const row = rowOf(id);
    row?.querySelector<HTMLElement>('a')?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  };
  const step = (by: 1 | -1, isExtending = false): void => {
    const ids = shownIds();
    const at = current ? ids.indexOf(current.id) : -1;
    // The first key takes up the row at which one was before.
    const isOn = current !== undefined && rowOf(current.id)?.contains(document.activeElement);
    const next = isOn || isPreviewed ? ids[at + by] : (current?.id ?? ids[0]);
    isEarly.current = ids.length === 0;
    if (next === undefined) return;
    moveTo(next);
    if (isExtending)
      select(
        items.filter(({ id }) => id === next || id === current?.id),
        true,
      );
  };
  /** Pressed before there were rows. */
  const isEarly = useRef(false);
  const catchUp = useEffectEvent(() => isEarly.current && step(1));
  useEffect(() => {
    if (items.length > 0) catchUp();
  }, [items]);
  const preview = (): void => {
    if (!current) step(1);
    setPreviewed(!isPreviewed);
  };
  useShortcuts([
    { key: 'j', label: keys.next, run: () => step(1) },
    { key: 'k', label: keys.previous, run: () => step(-1) },
    { key: 'x', label: keys.select, run: () => current && select([current], !isSelected(current.id)) },
    { key: 'J', label: keys.extendDown, run: () => step(1, true) },
    { key: 'K', label: keys.extendUp, run: () => step(-1, true) },
    {
      key: 'a',
      label: keys.assign,
      run: () => {
        if (selected.length > 0) onAssign(SELECTED);
        else if (current) onAssign(current.id);
      },
    },
    { key: 'p', label: keys.preview, run: preview },
    {
      key: 'n',
      label: keys.add(kind.one),
      run: () => blocked === null && void navigate({ to: kind.add }),
    },
    { key: 'Escape', label: keys.close, run: () => (isPreviewed ? setPreviewed(false) : onClear()) },
  ]);
  return {
    previewed: isPreviewed ? current : undefined,
    preview,
    closePreview: () => setPreviewed(false),
    onCursor: putCursor,
  };
};
