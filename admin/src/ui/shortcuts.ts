import { useEffectEvent, useLayoutEffect } from 'react';

interface Shortcut {
  /** As the browser names it (`j`, `?`, `F2`), or with Ctrl or Command: `mod+k`. */
  key: string;
  /** What it does, for the list that `?` shows. */
  label: string;
  run(): void;
}

/** Apple's keyboards have Command in the place of Ctrl. */
const MODIFIER = /^(Mac|iP)/.test(navigator.platform) ? '⌘' : 'Ctrl ';

export const keyLabel = (key: string): string => {
  if (key === 'Escape') return 'Esc';
  return /^[A-Z]$/.test(key) ? `Shift ${key}` : key.toUpperCase().replace('MOD+', MODIFIER);
};

/** Scanners type faster than people: a key with a neighbour this near belongs to a scan, and is no shortcut. */
const SCAN_GAP_MS = 40;

const FUNCTION_KEY = /^F\d+$/;

const TEXT_FIELDS =
  'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea, [contenteditable="true"]';
const DIALOGS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

const isWithin = ({ target }: Event, selector: string): boolean =>
  target instanceof Element && target.closest(selector) !== null;
/** Whether what is typed now goes into a field as text. */
const isTyping = (event: Event): boolean => isWithin(event, TEXT_FIELDS);
/** Letters that are typed in a choice choose. */
const isChoosing = (event: Event): boolean => isWithin(event, 'select');

const isShown = (element: Element): boolean => element.checkVisibility?.() ?? true;
/** Whether a dialog or a menu is open, which has keys of its own. */
const isDialogOpen = (): boolean => [...document.querySelectorAll(DIALOGS)].some(isShown);

/** Whether the key that is pressed is for a dialog. Asked before any dialog hears of the key, since Escape closes it. */
let isForDialog = false;
const onAnyKey = (): void => {
  isForDialog = isDialogOpen();
};
window.addEventListener('keydown', onAnyKey, { capture: true });

/** Whether a field, a choice or a dialog takes what is typed. */
export const isKeyTaken = (event: KeyboardEvent): boolean =>
  isTyping(event) || isChoosing(event) || isForDialog;

/** The shortcuts of each mounted component; the latest wins. */
const groups: (readonly Shortcut[])[] = [];

export const currentShortcuts = (): Shortcut[] => [
  ...new Map(groups.flat().map((shortcut) => [shortcut.key, shortcut])).values(),
];

const find = (key: string): Shortcut | undefined => groups.flat().findLast((each) => each.key === key);

let lastKeyAt = Number.NEGATIVE_INFINITY;
/** The key that was pressed last, until it is known that it does not begin a scan. */
let waiting: { timer: ReturnType<typeof setTimeout>; shortcut: Shortcut } | null = null;

const onKeyDown = (event: KeyboardEvent): void => {
  // It comes before the key that it belongs to.
  if (event.key === 'Shift') return;
  const isFollowing = event.timeStamp - lastKeyAt < SCAN_GAP_MS;
  lastKeyAt = event.timeStamp;
  const before = waiting;
  clearTimeout(before?.timer);
  waiting = null;
  // No code has one letter: a quick hand goes to a row and opens it.
  if (event.key === 'Enter' && before && isFollowing) {
    before.shortcut.run();
    if (!(document.activeElement instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    document.activeElement.click();
    return;
  }
  if (event.repeat || event.defaultPrevented || event.altKey || isForDialog) return;
  const withModifier = event.ctrlKey || event.metaKey;
  const shortcut = find(withModifier ? `mod+${event.key.toLowerCase()}` : event.key);
  if (!shortcut) return;
  // Neither types anything into a field.
  if (withModifier || FUNCTION_KEY.test(event.key)) {
    event.preventDefault();
    shortcut.run();
    return;
  }
  if (isTyping(event) || isChoosing(event) || isFollowing) return;
  event.preventDefault();
  const run = () => {
    waiting = null;
    shortcut.run();
  };
  waiting = { timer: setTimeout(run, SCAN_GAP_MS), shortcut };
};
document.addEventListener('keydown', onKeyDown);

/** Makes the keys work while the component is mounted; never while a dialog is open, and single keys never in a field. */
export const useShortcuts = (shortcuts: readonly Shortcut[]): void => {
  const run = useEffectEvent((index: number) => shortcuts[index]?.run());
  const keys = shortcuts.map(({ key, label }) => `${key} ${label}`).join('\n');
  // Before the page is painted: a key that follows the sight of it must find them.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list of keys is registered anew; what they do is read when one is pressed
  useLayoutEffect(() => {
    const group = shortcuts.map(({ key, label }, index) => ({ key, label, run: () => run(index) }));
    groups.push(group);
    return () => void groups.splice(groups.indexOf(group), 1);
  }, [keys]);
};

// A scanner is a keyboard that types faster than people and ends with Enter. What it types beside a text
// field belongs to the page, also while a checkbox or a choice has the focus.

/** Shorter than anything that is scanned, longer than keys that happen to fall together. */
const LEAST_LENGTH = 4;

type OnScan = (text: string) => void;
/** The latest wins. */
const listeners: OnScan[] = [];

let typed = '';
let lastScanKeyAt = Number.NEGATIVE_INFINITY;

const onScannerKey = (event: KeyboardEvent): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.key === 'Shift') return;
  if (listeners.length === 0) return;
  const isFast = event.timeStamp - lastScanKeyAt < SCAN_GAP_MS;
  lastScanKeyAt = event.timeStamp;
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
  if (!isForDialog) listeners.at(-1)?.(text);
};
document.addEventListener('keydown', onScannerKey, { capture: true });

/** Calls back with what is scanned while the component is mounted, no text field has the focus and no dialog is open. */
export const useScanner = (onScan: OnScan): void => {
  const scanned = useEffectEvent(onScan);
  useLayoutEffect(() => {
    const listener: OnScan = (text) => scanned(text);
    listeners.push(listener);
    return () => void listeners.splice(listeners.indexOf(listener), 1);
  }, []);
};
