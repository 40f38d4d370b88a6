import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useRef } from 'react';
import { isDialogOpen, isTyping, SCAN_GAP_MS } from './shortcuts.ts';

// A scanner is a keyboard that types faster than anybody and ends with Enter. What it types beside a text
// field belongs to the page, also while a checkbox or a choice has the focus.

/** Shorter than anything that is scanned, longer than keys that happen to fall together. */
const LEAST_LENGTH = 4;

type OnScan = (text: string) => void;
/** The latest wins. */
const listeners: OnScan[] = [];

let typed = '';
let lastKeyAt = Number.NEGATIVE_INFINITY;

const onKeyDown = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.key === 'Shift') return;
  const isFast = event.timeStamp - lastKeyAt < SCAN_GAP_MS;
  lastKeyAt = event.timeStamp;
  if (!isFast) typed = '';
  if (isTyping(event)) return;
  if (event.key.length === 1) {
    typed += event.key;
    // A space would press the button that has the focus.
    if (typed.length > 1) event.preventDefault();
    return;
  }
  const text = typed.trim();
  typed = '';
  if (event.key !== 'Enter' || text.length < LEAST_LENGTH) return;
  event.preventDefault();
  event.stopPropagation();
  if (!isDialogOpen()) listeners.at(-1)?.(text);
};

/** Calls back with what is scanned while the component is mounted, no text field has the focus and no dialog is open. */
export const useScanner = (onScan: OnScan): void => {
  const latest = useRef(onScan);
  latest.current = onScan;
  useEffect(() => {
    const listener: OnScan = (text) => latest.current(text);
    listeners.push(listener);
    if (listeners.length === 1) document.addEventListener('keydown', onKeyDown, { capture: true });
    return () => {
      listeners.splice(listeners.indexOf(listener), 1);
      if (listeners.length === 0) document.removeEventListener('keydown', onKeyDown, { capture: true });
    };
  }, []);
};

/** For a choice on a page that lives on scans: a letter there would choose another option before it is known to be a scan's. */
export const chooseByArrowsOnly = (event: ReactKeyboardEvent): void => {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (!hasModifier && event.key.length === 1 && event.key !== ' ') event.preventDefault();
};
