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
  if (!(target instanceof HTMLElement) || !target.matches(FIELDS)) return;
  const form = target.closest('form');
  if (!form) return;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    if (!form.querySelector(BLOCKED)) form.requestSubmit();
    return;
  }
  const fields = [...form.querySelectorAll<HTMLElement>(FIELDS)].filter(isUsable);
  if (fields.length < 2 || !target.matches(TEXT_INPUT)) return;
  event.preventDefault();
  const next = fields[fields.indexOf(target) + 1];
  (next ?? form.querySelector<HTMLElement>('button[type="submit"]'))?.focus();
};

/** Makes every form behave so. */
export const listenForEnter = (): void => document.addEventListener('keydown', onEnter);
