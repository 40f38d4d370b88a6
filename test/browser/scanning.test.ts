import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { expectAccessible, look, openAs } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 2, exact: true });

const newRepair = async (t: Harness, more: Record<string, unknown> = {}) =>
  (await t.post('/offline-repairs', repairBody(more))).body as { id: string; rmaNumber: string };

/** As fast as a scanner types, wherever the focus is. */
const scan = (page: Page, text: string) =>
  page.evaluate(`for (const key of [...${JSON.stringify(text)}, 'Enter'])
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`);

/** Walks through the options of the choice that has the focus. */
const choose = async (page: Page, choice: Locator, label: string) => {
  const chosen = choice.locator('option:checked');
  await page.keyboard.press('Home');
  while ((await chosen.textContent()) !== label) await page.keyboard.press('ArrowDown');
};

describe('the search in the header', () => {
  it('is opened by keys, walked with arrows, and finds both kinds', async () => {
    const t = await harness();
    const faultyItem = { sku: 'K', productName: 'Kettle', quantity: 1, price: 1, serialNumber: 'SN-448013' };
    const repair = await newRepair(t, { faultyItem, customerName: 'Nora Wind' });
    const { body: trade } = await t.post('/trade-returns', tradeBody());
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/account');
    await title(page, 'Account and password').waitFor();
    const dialog = page.getByRole('dialog', { name: 'Search returns' });
    const field = dialog.getByRole('combobox');
    const open = async (key: string) => {
      await page.keyboard.press(key);
      await expect.poll(() => field.and(page.locator(':focus')).count()).toBe(1);
    };

    await open('Control+k');
    await page.keyboard.type('nora wind');
    await dialog.getByText('2 were found.').waitFor();
    const options = dialog.getByRole('option');
    expect((await options.allTextContents()).map((text) => text.slice(0, 11))).toEqual([
      trade.rmaNumber,
      repair.rmaNumber,
    ]);
    await expectAccessible(page);
    await look(page, { scheme: 'dark', width: 390 });
    await expectAccessible(page);
    await look(page, { scheme: 'light', width: 1280 });
    await page.keyboard.press('ArrowDown');
    expect(await options.nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await title(page, repair.rmaNumber).waitFor();

    // A whole serial number, as a scanner types it into the field: Enter comes before the answer.
    await page.goto('/admin/trade-returns');
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
});

it('keeps what is typed while the search loads for the first time', async () => {
  const t = await harness();
  const page = await openAs(t, 'STAFF');
  const { promise: typed, resolve: onTyped } = Promise.withResolvers<void>();
  await page.route('**/search-dialog*.js', async (route) => {
    await typed;
    await route.continue();
  });
  await page.goto('/admin/account');
  await title(page, 'Account and password').waitFor();
  const asked = page.waitForRequest('**/search-dialog*.js');
  await page.keyboard.press('/');
  await asked;
  await page.keyboard.type('ket', { delay: 50 });
  // And one more in the moment in which the dialog is there and its field has no focus yet.
  await page.evaluate(`new MutationObserver((_, observer) => {
    if (!document.querySelector('[role=combobox]')) return;
    observer.disconnect();
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true, cancelable: true }));
  }).observe(document.body, { childList: true, subtree: true })`);
  onTyped();
  const field = page.getByRole('dialog', { name: 'Search returns' }).getByRole('combobox');
  await expect.poll(() => field.and(page.locator(':focus')).count()).toBe(1);
  await page.keyboard.type('le');
  expect(await field.inputValue()).toBe('kettle');
});

describe('a scan on any page', () => {
  it('opens the return it names, or says that nothing was found', async () => {
    const t = await harness();
    const repair = await newRepair(t);
    await newRepair(t, { orderNumber: 'SO-2' });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/account');
    await title(page, 'Account and password').waitFor();
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
    await page.goto('/admin/offline-repairs');
    await page.getByRole('checkbox', { name: 'Select #RMA-000002' }).check();
    await scan(page, repair.rmaNumber);
    await title(page, repair.rmaNumber).waitFor();
    // Several have this customer: they are shown.
    await page.goto('/admin/account');
    await title(page, 'Account and password').waitFor();
    await scan(page, 'ada@example.com');
    await page.getByRole('dialog', { name: 'Search returns' }).getByText('2 were found.').waitFor();
  });
});

describe('the bench', () => {
  it('moves twenty returns by twenty scans, tells of the one that somebody else moved, and goes on', async () => {
    const t = await harness();
    const repairs = [];
    for (let i = 0; i < 20; i++) repairs.push(await newRepair(t, { externalRef: `POS-${i}` }));
    const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
    const taken = repairs[7] as { id: string; rmaNumber: string };
    await other.post(`/offline-repairs/${taken.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/bench');
    const field = page.getByRole('textbox', { name: 'Scan a return' });
    await expect.poll(() => field.and(page.locator(':focus')).count()).toBe(1);

    // Nothing is moved before a move is chosen.
    await page.keyboard.insertText('POS-0');
    await page.keyboard.press('Enter');
    await page.getByText('Please choose one.').waitFor();

    // By keyboard alone: to the kind, the move, what becomes of the item, and back.
    const move = page.getByRole('combobox', { name: 'Move' });
    await move.focus();
    await choose(page, move, 'Resolve');
    await page.keyboard.press('Tab');
    await choose(page, page.locator(':focus'), 'Write off');
    await field.focus();
    for (const [i, { rmaNumber }] of repairs.entries()) {
      await page.keyboard.insertText(i % 2 ? rmaNumber : `POS-${i}`);
      await page.keyboard.press('Enter');
    }
    await page.getByText('19 done, 1 not done').waitFor();
    expect(await field.and(page.locator(':focus')).count()).toBe(1);
    const list = page.getByRole('list', { name: 'What was scanned, newest first' });
    expect(await list.getByRole('listitem').count()).toBe(20);
    const failed = list.getByRole('listitem').filter({ hasText: taken.rmaNumber });
    await failed.getByText('Already “Resolved”, by Ana').waitFor();
    expect(await failed.getByRole('link', { name: taken.rmaNumber }).getAttribute('href')).toContain(
      taken.id,
    );
    const { body } = await t.get('/offline-repairs?limit=100');
    for (const { status } of body.items) expect(status).toBe('OFFLINE_RESOLVED');
    // Once each: nothing was done twice to the one that was taken.
    const { body: story } = await t.get(`/offline-repairs/${taken.id}/timeline`);
    expect(story.items.map(({ type }: { type: string }) => type)).toEqual(['CREATED', 'DISPOSITION_SET']);
    await page.getByText('Resolved', { exact: true }).first().waitFor();
    for (const scheme of ['light', 'dark'] as const)
      for (const width of [1280, 390]) {
        await look(page, { scheme, width });
        await expectAccessible(page, `bench, ${scheme}, ${width}`);
      }
  });

  it('says what stands in the way, in words, and takes scans beside its field', async () => {
    const t = await harness();
    const repair = await newRepair(t);
    const { body: rejected } = await t.post('/trade-returns', tradeBody());
    const { body: stale } = await t.post('/trade-returns', tradeBody({ tradeOrderNumber: 'TO-9' }));
    const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
    await other.post(`/trade-returns/${rejected.id}/reject`, {});
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/bench');
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
    // Between the look and the move somebody is faster.
    await page.route('**/approve**', async (route) => {
      await other.post(`/trade-returns/${stale.id}/reject`, {});
      await route.continue();
    });
    await said(stale.rmaNumber, 'Somebody was faster. It is “Rejected” now, by Ana');
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
    expect((await t.get(`/offline-repairs/${repair.id}`)).body.status).toBe('OFFLINE_REPAIR');
    // And so it is after the sound was turned on.
    await page.getByRole('checkbox', { name: 'Sound' }).check();
    await scan(page, 'NOWHERE-2');
    await list.getByRole('listitem').first().getByText('NOWHERE-2').waitFor();
    await page.reload();
    expect(await page.getByRole('checkbox', { name: 'Sound' }).isChecked()).toBe(true);
  });
});
