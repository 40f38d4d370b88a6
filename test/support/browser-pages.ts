import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newRepair } from './api.ts';
import { saidAt } from './browser.ts';
import type { Harness } from './harness.ts';
import { appCode } from './second-factor.ts';

// What users see and do on several pages, and the returns that they see.

export interface Made {
  id: string;
  rmaNumber: string;
}

export { newRepair, newTradeReturn } from './api.ts';

type AllMade<T> = { [each in keyof T]: Made };
/** One for each of the bodies, in this order. */
export const newRepairs = async <const T extends readonly object[]>(
  t: Harness,
  ...bodies: T
): Promise<AllMade<T>> => {
  const made: Made[] = [];
  for (const body of bodies) made.push(await newRepair(t, body as Record<string, unknown>));
  return made as AllMade<T>;
};

/** Makes a return older, with its status. */
export const age = async (
  t: Harness,
  table: 'offline_repairs' | 'trade_returns',
  { id }: Pick<Made, 'id'>,
  ms: number,
): Promise<void> => {
  const at = Date.now() - ms;
  await t.ctx.db
    .updateTable(table as 'offline_repairs')
    .set({ created_at: at, status_since: at, updated_at: at } as never)
    .where('id', '=', id)
    .execute();
};

/** An email address that no other shop of the same service has. */
export const emailAt = ({ shop }: Pick<Harness, 'shop'>, name: string): string =>
  `${name}@${shop.id}.example`;

export const title = (page: Page, name: string): Locator =>
  page.getByRole('heading', { name, level: 2, exact: true });
/** A link of the menu, or of the menu of the settings. */
export const menu = (page: Page, name: string): Locator =>
  page
    .getByRole('navigation', { name: /^(Pages|Settings)$/ })
    .getByRole('link', { name: name.startsWith('Account') ? 'Account' : name });
/** Goes to a page by the menu. */
export const toPage = async (page: Page, name: string): Promise<void> => {
  await menu(page, 'Repairs').waitFor();
  if ((await menu(page, name).count()) === 0) await menu(page, 'Settings').click();
  await menu(page, name).click();
  await title(page, name).waitFor();
};
export const field = (at: Page | Locator, name: string): Locator =>
  at.getByRole('textbox', { name, exact: true });
/** Labels of passwords also name the buttons that show them. */
export const passwordField = (page: Page, label: string): Locator =>
  page.getByLabel(label).and(page.locator('input'));
export const signInTitle = (page: Page): Locator =>
  page.getByRole('heading', { name: 'Sign in to Handback' });

export const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(page).waitFor();
};

/** Types a code into the field of the scan station. */
export const enterCode = async (page: Page, code: string): Promise<void> => {
  const input = page.getByRole('textbox', { name: 'Scan a return' });
  await input.fill(code);
  await input.press('Enter');
};

/** The search over all returns, opened by its key. */
export const openSearch = async (page: Page, key = 'Control+k'): Promise<Locator> => {
  await page.keyboard.press(key);
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  await expectFocus(dialog.getByRole('combobox'));
  return dialog;
};

/** The row of a return. */
export const rowOf = (page: Page, rmaNumber: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: rmaNumber, exact: true }) });
/** A row of a table of settings. */
export const rowWith = (page: Page, words: string | RegExp): Locator =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') })
    .filter({ hasText: words });
/** The numbers of the returns in a list, in its order. */
export const numbersOf = (page: Page): Promise<string[]> =>
  page
    .getByRole('main')
    .getByRole('link', { name: /^#RMA-/ })
    .allTextContents();
export const searchOf = (page: Page): Record<string, string> =>
  Object.fromEntries(new URL(page.url()).searchParams);

/** Opens the filter of a list for one field. */
export const openFilter = async (page: Page, name: string): Promise<Locator> => {
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'Filter by' });
  await panel.getByRole('button', { name, exact: true }).click();
  return panel;
};
export const chooseFilter = async (page: Page, name: string, choice: string): Promise<void> => {
  const panel = await openFilter(page, name);
  await panel.getByRole('button', { name: choice }).click();
  await panel.waitFor({ state: 'hidden' });
};
/** Opens the panel with row height, rows per page and export. */
export const listOptions = async (page: Page): Promise<Locator> => {
  await page.getByRole('button', { name: 'List options' }).click();
  return page.getByRole('dialog', { name: 'List options' });
};
/** Chooses an item from the menu of a row. */
export const pick = async (page: Page, name: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: `More for ${name}`, exact: true }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
/** Exports the list: the name of the file, its text, and its lines without the header. */
export const exported = async (page: Page): Promise<{ name: string; text: string; rows: string[] }> => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    listOptions(page).then((options) => options.getByRole('button', { name: 'Export CSV' }).click()),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  return { name: download.suggestedFilename(), text, rows: text.trimEnd().split('\r\n').slice(1) };
};

/** Presses a button of a dialog, and waits until the dialog is closed. */
export const closeBy = async (dialog: Locator, name: string): Promise<void> => {
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
};

/** The visible text, on one line. */
export const plainText = async (at: Locator): Promise<string> =>
  (await at.innerText()).replaceAll(/\s+/g, ' ');

const hasFocus = (element: Locator): Promise<boolean> =>
  element.and(element.page().locator(':focus')).isVisible();
export const expectFocus = (element: Locator): Promise<void> =>
  expect.poll(() => hasFocus(element)).toBe(true);
export const expectValue = (input: Locator, value: string): Promise<void> =>
  expect.poll(() => input.inputValue()).toBe(value);
export const expectDisabled = (button: Locator): Promise<void> =>
  expect.poll(() => button.isDisabled()).toBe(true);

/**
 * Types like a scanner, whose keys come a millisecond apart. Each event carries its own time, since a busy machine would make the
 * scanner as slow as a person. Keys that no listener handles are typed into the field that has the focus.
 */
export const typeFast = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`{
    const start = performance.now();
    for (const [i, letter] of [...${JSON.stringify(text)}].entries()) {
      const key = letter === '\\n' ? 'Enter' : letter;
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
      Object.defineProperty(event, 'timeStamp', { value: start + i });
      if (!document.activeElement.dispatchEvent(event)) continue;
      const field = document.activeElement;
      if (!field.matches('input, textarea')) continue;
      if (key === letter) document.execCommand('insertText', false, letter);
      else if (field.matches('input')) field.form?.requestSubmit();
    }
  }`);

/** A whole scan, which ends with Enter. */
export const scan = (page: Page, text: string): Promise<unknown> => typeFast(page, `${text}\n`);

/** Stores the text of the slips that would be printed, instead of printing them. */
export const stubPrint = (page: Page) =>
  page.addInitScript(`window.printed = []; window.print = () =>
    window.printed.push([...document.querySelectorAll('.slips article')].map((slip) => slip.textContent));`);
export const printedOn = (page: Page): Promise<string[][]> => page.evaluate('window.printed');

/** Values for the form of a new return, by label. */
export const REPAIR_FIELDS = {
  Name: 'Ada Pereira',
  Email: 'ada@example.com',
  'Order number': 'SO-10042',
  Store: 'store-7',
  SKU: 'KETTLE-17',
  Product: 'Kettle 1.7 l',
  'Unit price': '49.95',
  'What is wrong': 'Does not heat up any more',
};
export const TRADE_FIELDS = {
  Company: 'Northwind Interiors',
  'Company ID': 'company-118',
  Contact: 'Nora Wind',
  Email: 'buying@northwind.example',
  'Trade order number': 'TO-5501',
  Reason: 'Damaged in transit',
  Street: '12 Harbour Road',
  Suburb: 'Port Melbourne',
  State: 'VIC',
  Postcode: '3207',
};
export const fillIn = async (at: Page | Locator, fields: Record<string, string>): Promise<void> => {
  for (const [name, text] of Object.entries(fields)) await field(at, name).fill(text);
};

/** Turns the second factor on, with the key that the page shows. */
export const turnFactorOn = async (
  t: Harness,
  page: Page,
  begin: string,
): Promise<{ secret: string; codes: string[] }> => {
  await page.getByRole('button', { name: begin }).click();
  const key = page.getByLabel('Key for the authenticator app');
  const secret = ((await key.textContent()) ?? '').replaceAll(' ', '');
  await page
    .getByRole('img', { name: /QR code/ })
    .locator('path')
    .waitFor();
  const input = page.getByRole('textbox', { name: 'Enter the code the app shows' });
  await input.fill('000000');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect.poll(() => saidAt(input)).toContain('This is wrong, or it was used before.');
  await input.fill(appCode(secret, t.ctx.clock.now()));
  await page.getByRole('button', { name: 'Turn on' }).click();
  const list = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await list.first().waitFor();
  const codes = await list.allTextContents();
  expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await page.getByRole('checkbox', { name: 'I have stored the codes' }).check();
  return { secret, codes };
};
