import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { goInside, openAs, openMove, openPageAs } from '../support/browser.ts';
import {
  accessibleEverywhere,
  expectFocus,
  expectValue,
  menu,
  newRepair,
  newTradeReturn,
  scan,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

// By keys alone: a person's, and those that a scanner types.

const it = itWith(sharedHarness());

const focused = (page: Page) =>
  page.evaluate(
    `document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()`,
  );

it('the first row is a few keys away, and the focus returns when a dialog closes', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openPageAs('Offline repairs', t, 'ADMIN');
  await page.getByRole('link', { name: repair.rmaNumber }).waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Skip to the page');
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Skip to the list');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe(repair.rmaNumber);
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();

  await page.getByRole('button', { name: 'Begin repair' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect.poll(() => focused(page)).toBe('Begin repair');

  await goInside(page, '/admin/settings/team');
  await page.getByRole('button', { name: 'Invite person' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => focused(page)).toBe('Invite person');
});

it("a scanner's Enter goes on to the next field, and a scan replaces old tracking", async ({ t }) => {
  const tracking = { trackingNumber: 'OLD-1', carrierName: 'DHL' };
  const repair = await newRepair(t, { tracking });
  const page = await openAs(t, 'STAFF');
  await page.goto(`/admin/offline-repairs/${repair.id}`);
  await openMove(page, 'Add tracking');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const number = dialog.getByLabel('Tracking number');
  await expectFocus(number);
  await page.keyboard.type('NEW-22');
  await page.keyboard.press('Enter');
  await expectValue(number, 'NEW-22');
  await expectFocus(dialog.getByLabel('Carrier'));
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'hidden' });
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.trackingNumber).toBe('NEW-22');

  await goInside(page, '/admin/offline-repairs/new');
  const serial = page.getByRole('textbox', { name: 'Serial number', exact: true });
  await serial.fill('SN-1');
  await page.keyboard.press('Enter');
  const quantity = page.getByRole('textbox', { name: 'Quantity', exact: true });
  await expectFocus(quantity);
  expect(await page.getByText('another look').count()).toBe(0);
});

it('the keys of the search are named as on the keyboard in front of the person', async ({ t }) => {
  for (const [platform, name] of [
    ['MacIntel', '⌘K'],
    ['Linux x86_64', 'Ctrl K'],
  ] as const) {
    const page = await openAs(t, 'STAFF');
    await page.addInitScript(`Object.defineProperty(navigator, 'platform', { value: '${platform}' })`);
    await page.goto('/admin/account');
    await page.getByRole('banner').getByText(name, { exact: true }).waitFor();
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog').getByRole('listitem');
    await keys.filter({ hasText: 'Search' }).getByText(name).waitFor();
  }
});

it('the search in the header is opened by keys, walked with arrows, and finds both kinds', async ({ t }) => {
  const faultyItem = { sku: 'K', productName: 'Kettle', quantity: 1, price: 1, serialNumber: 'SN-448013' };
  const repair = await newRepair(t, { faultyItem, customerName: 'Nora Wind' });
  const trade = await newTradeReturn(t);
  const page = await openPageAs('Account and password', t, 'STAFF');
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  const field = dialog.getByRole('combobox');
  const open = async (key: string) => {
    await page.keyboard.press(key);
    await expectFocus(field);
  };

  await open('Control+k');
  await page.keyboard.type('nora wind');
  await dialog.getByText('2 were found.').waitFor();
  const options = dialog.getByRole('option');
  await expect
    .poll(async () => (await options.allTextContents()).map((text) => text.slice(0, 11)))
    .toEqual([trade.rmaNumber, repair.rmaNumber]);
  await accessibleEverywhere(page);
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => options.nth(1).getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();

  // A whole serial number, as a scanner types it into the field: Enter comes before the answer.
  await goInside(page, '/admin/trade-returns');
  await title(page, 'Trade returns').waitFor();
  await open('/');
  await field.fill('SN-448013');
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();

  await open('/');
  await page.keyboard.type('nothing like it');
  await dialog.getByText('Nothing was found for “nothing like it”').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await title(page, repair.rmaNumber).waitFor();
});

/** A page on which the search is loaded ahead, and comes only when the test lets it. */
const withLateSearch = async (t: Harness, path: string) => {
  const page = await openAs(t, 'STAFF', { ownProfile: true });
  const { promise: isDue, resolve: letCome } = Promise.withResolvers<void>();
  await page.route('**/search-dialog*.js', async (route) => {
    await isDue;
    await route.continue();
  });
  const asked = page.waitForRequest('**/search-dialog*.js');
  await page.goto(path);
  await asked;
  const field = page.getByRole('dialog', { name: 'Search returns' }).getByRole('combobox');
  return { page, letCome, field };
};

it('the search keeps what is typed while the search loads for the first time', async ({ t }) => {
  const { page, letCome, field } = await withLateSearch(t, '/admin/account');
  await title(page, 'Account and password').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('ket', { delay: 50 });
  // And one more in the moment in which the dialog is there and its field has no focus yet.
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (!document.querySelector('[role=combobox]')) return;
    observer.disconnect();
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true, cancelable: true }));
  }).observe(document.body, { childList: true, subtree: true })`);
  letCome();
  await expectFocus(field);
  await page.keyboard.type('le');
  await expectValue(field, 'kettle');
});

it('Ctrl-K in the search field of a list opens the search, and what follows goes there', async ({ t }) => {
  const { page, letCome, field } = await withLateSearch(t, '/admin/offline-repairs');
  const ofList = page.getByRole('search').getByRole('textbox').first();
  await ofList.fill('SO-');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('mak');
  letCome();
  await expectFocus(field);
  await page.keyboard.type('ita');
  await expectValue(field, 'makita');
  await page.keyboard.press('Escape');
  await expectValue(ofList, 'SO-');
});

it('a scan on any page opens the return it names, or says that nothing was found', async ({ t }) => {
  const repair = await newRepair(t);
  await newRepair(t, { orderNumber: 'SO-2' });
  const page = await openPageAs('Account and password', t, 'STAFF');
  await page.getByRole('button', { name: 'Change password' }).focus();
  await scan(page, repair.rmaNumber);
  await title(page, repair.rmaNumber).waitFor();
  await scan(page, 'UNKNOWN-77');
  await page.getByText('Nothing was found for “UNKNOWN-77”.').first().waitFor();
  // What is typed by hand is no scan, and what is scanned into a field stays there.
  await page.getByRole('textbox', { name: 'Add a note' }).focus();
  await scan(page, '#RMA-000002');
  await title(page, repair.rmaNumber).waitFor();
  // A row that was just selected takes no text.
  await goInside(page, '/admin/offline-repairs');
  await page.getByRole('checkbox', { name: 'Select #RMA-000002' }).check();
  await scan(page, repair.rmaNumber);
  await title(page, repair.rmaNumber).waitFor();
  // Several have this customer: they are shown.
  await menu(page, 'Account and password').click();
  await title(page, 'Account and password').waitFor();
  await scan(page, 'ada@example.com');
  await page.getByRole('dialog', { name: 'Search returns' }).getByText('2 were found.').waitFor();
});

it('the bench says what stands in the way, in words, and takes scans beside its field', async ({ t }) => {
  const repair = await newRepair(t);
  const rejected = await newTradeReturn(t);
  const stale = await newTradeReturn(t, { tradeOrderNumber: 'TO-9' });
  const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
  await other.post(`/trade-returns/${rejected.id}/reject`, {});
  const page = await openPageAs('Bench', t, 'STAFF');
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Trade returns');
  await page.getByRole('combobox', { name: 'Move' }).selectOption('Approve');
  const list = page.getByRole('list', { name: 'What was scanned, newest first' });
  const said = async (text: string, words: string) => {
    await page.getByRole('heading', { name: 'Bench', level: 2 }).click();
    await page.evaluate('document.activeElement.blur()');
    await scan(page, text);
    await list.getByRole('listitem').first().getByText(words).waitFor();
  };
  await said('NOWHERE-1', 'Not found');
  await said(repair.rmaNumber, 'This is a repair. Choose “Offline repairs” above.');
  await said(rejected.rmaNumber, 'It is “Rejected”, so “Approve” is not possible.');
  // Between the look and the move a colleague is faster.
  await page.route('**/approve**', async (route) => {
    await other.post(`/trade-returns/${stale.id}/reject`, {});
    await route.continue();
  });
  await said(stale.rmaNumber, 'Someone else changed this return. It is “Rejected” now, by Ana');
  await page.unroute('**/approve**');
  // Where an input is missing nothing is done.
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Offline repairs');
  await page.getByRole('combobox', { name: 'Move' }).selectOption('Resolve');
  await page.getByRole('textbox', { name: 'Scan a return' }).fill(repair.rmaNumber);
  await page.keyboard.press('Enter');
  await page.getByText('Fill in above what each scan does.').waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.status).toBe('OFFLINE_DIAGNOSTICS');
  // A scan while a choice has the focus is a scan: it chooses nothing else.
  const move = page.getByRole('combobox', { name: 'Move' });
  await move.selectOption('Begin repair');
  await move.press('R');
  expect(await move.locator('option:checked').textContent()).toBe('Begin repair');
  // Ends what the scanner's reader takes for the beginning of a scan.
  await move.press('Escape');
  await scan(page, repair.rmaNumber);
  await page.getByText('1 done').waitFor();
  await expect
    .poll(async () => (await t.get(`/offline-repairs/${repair.id}`)).body.status)
    .toBe('OFFLINE_REPAIR');
  // And so it is after the sound was turned on.
  await page.getByRole('checkbox', { name: 'Sound' }).check();
  await scan(page, 'NOWHERE-2');
  await list.getByRole('listitem').first().getByText('NOWHERE-2').waitFor();
  await page.reload();
  await expect.poll(() => page.getByRole('checkbox', { name: 'Sound' }).isChecked()).toBe(true);
});
