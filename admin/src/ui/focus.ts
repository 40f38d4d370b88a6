// A dialog, or a button of a toast, takes the focus; when it closes, the focus goes back to where it was. The component library does this only for
// dialogs that stay mounted, and where the element is gone the browser begins at the top of the page again.

const DIALOG = '[role="dialog"], [role="alertdialog"], .mantine-Notifications-root';
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled)';
const KEPT = 8;

/** Where the focus was outside of dialogs, the latest first: the element and everything around it. */
let places: HTMLElement[][] = [];
/** What has the focus in a dialog, or got it back from one that then deletes it. When it is removed, the focus goes to what is nearest. */
let held: HTMLElement | null = null;

const around = (element: HTMLElement): HTMLElement[] => {
  const all: HTMLElement[] = [];
  for (let at: HTMLElement | null = element; at && !at.matches('main, body'); at = at.parentElement)
    all.push(at);
  return all;
};

const canFocus = (element: HTMLElement): boolean =>
  element.isConnected && element.matches(FOCUSABLE) && (element.checkVisibility?.() ?? true);

/** The element itself, or what stands nearest to where it was. */
const nearest = ([element, ...parents]: HTMLElement[]): HTMLElement | null => {
  if (element && canFocus(element)) return element;
  const parent = parents.find(({ isConnected }) => isConnected);
  return [...(parent?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])].find(canFocus) ?? null;
};

const giveBack = (): void => {
  if (held === null || held.isConnected || document.activeElement !== document.body) return;
  held = null;
  for (const place of places) {
    const element = nearest(place);
    if (!element) continue;
    element.focus();
    held = element;
    return;
  }
  document.querySelector<HTMLElement>('main')?.focus();
};

const remember = ({ target }: FocusEvent): void => {
  if (!(target instanceof HTMLElement)) return;
  if (target.closest(DIALOG)) held = target;
  else {
    held = null;
    places = [around(target), ...places].slice(0, KEPT);
  }
};

/** From then on what is removed was removed by the person, who is on the way to somewhere else. */
const letGo = (): void => {
  if (held && !held.closest(DIALOG)) held = null;
};

/** For what a new page leads the focus to, in place of `autoFocus`: a dialog that was opened while the page was loading keeps the focus. */
export const focusOnPage = (element: HTMLElement | null): void => {
  if (!document.querySelector('[aria-modal="true"]')) element?.focus();
};

export const returnFocus = (): void => {
  document.addEventListener('focusin', remember);
  for (const event of ['keydown', 'pointerdown']) document.addEventListener(event, letGo, { capture: true });
  new MutationObserver(giveBack).observe(document.body, { childList: true, subtree: true });
};

// A scanner ends what it types with Enter. In a form with several fields that leads to the next field; the button, or Enter
// with Ctrl or Command, sends the form. A form with one field is sent at once.

const FIELDS = 'input:not([type="hidden"], [hidden], [readonly]), textarea, select';
/** Where Enter would send the form. A password is typed by hand, and the last thing before a form is sent. */
const TEXT_INPUT = 'input:not([type="checkbox"], [type="radio"], [type="password"], [role="combobox"])';

/** A form whose button cannot be pressed is not sent by keys either. */
const BLOCKED = 'button[type="submit"]:is(:disabled, [aria-disabled="true"])';

const isUsable = (field: HTMLElement): boolean =>
  !field.matches(':disabled') && (field.checkVisibility?.() ?? true);

const onEnter = (event: KeyboardEvent): void => {
  const { target } = event;
  if (event.key !== 'Enter' || event.defaultPrevented || event.isComposing) return;
  if (!(target instanceof HTMLElement)) return;
  const form = target.closest('form');
  if (!form) return;
  // From its buttons and links too, where the browser would open a new tab.
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    if (!form.querySelector(BLOCKED)) form.requestSubmit();
    return;
  }
  if (!target.matches(FIELDS)) return;
  const fields = [...form.querySelectorAll<HTMLElement>(FIELDS)].filter(isUsable);
  if (fields.length < 2 || !target.matches(TEXT_INPUT)) return;
  event.preventDefault();
  const next = fields[fields.indexOf(target) + 1];
  (next ?? form.querySelector<HTMLElement>('button[type="submit"]'))?.focus();
};

export const listenForEnter = (): void => document.addEventListener('keydown', onEnter);
