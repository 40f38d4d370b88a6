import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent } from 'react';
import type { AnyReturn, Kind } from '../kinds.ts';

const INTERACTIVE = 'a, button, input, label, select, [role="button"]';

/** A click on a row opens its return, unless it was on a control, or the end of selecting a text. */
export const useOpenRow = (kind: Kind) => {
  const navigate = useNavigate();
  return (event: MouseEvent<HTMLElement>, item: AnyReturn): void => {
    const target = event.target as Element;
    if (event.defaultPrevented || target.closest(INTERACTIVE)) return;
    const selection = window.getSelection();
    if (selection && !selection.isCollapsed && selection.containsNode(event.currentTarget, true)) return;
    if (event.ctrlKey || event.metaKey) window.open(`/admin${kind.path}/${item.id}`, '_blank', 'noopener');
    else void navigate({ to: kind.detail, params: { id: item.id } });
  };
};
