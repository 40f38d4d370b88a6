import { useNavigate } from '@tanstack/react-router';
import { type MouseEvent, useEffect, useRef } from 'react';
import type { AnyReturn, Kind } from '../kinds.ts';

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
