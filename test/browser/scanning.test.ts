import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson, newUser } from '../support/admin.ts';
import {
  accessibleEverywhere,
  expectAccessible,
  goInside,
  openAs,
  openMove,
  openPageAs,
} from '../support/browser.ts';
import {
  expectFocus,
  expectValue,
  menu,
  newRepair,
  newTradeReturn,
  passwordField,
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

it('the first row is reached with few keys, and the focus returns when a dialog closes', async ({ t }) => {
  const repair = await newRepair(t);
  await t.post(`/offline-repairs/${repair.id}/begin-repair`, {});
  const page = await openPageAs('Repairs', t, 'ADMIN');
  await page.getByRole('link', { name: repair.rmaNumber }).waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Skip to content');
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Skip to list');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe(repair.rmaNumber);
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();

  await page.getByRole('button', { name: 'Resolve' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect.poll(() => focused(page)).toBe('Resolve');

  await goInside(page, '/admin/settings/team');
  await page.getByRole('button', { name: 'Invite person' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => focused(page)).toBe('Invite person');
});

it("a scanner's Enter moves to the next field, and a scan replaces old tracking", async ({ t }) => {
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
  await expectFocus(page.getByRole('textbox', { name: 'SKU', exact: true }));
  expect(await page.getByText('another look').count()).toBe(0);
});

it("the shortcut of the search is shown for the user's keyboard", async ({ t }) => {
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

it('the search in the header opens by keyboard, is navigated with arrows, and finds both kinds', async ({
  t,
}) => {
  const faultyItem = { sku: 'K', productName: 'Kettle', quantity: 1, price: 1, serialNumber: 'SN-448013' };
  const repair = await newRepair(t, { faultyItem, customerName: 'Nora Wind' });
  const trade = await newTradeReturn(t);
  const page = await openPageAs('Account', t, 'STAFF');
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  const field = dialog.getByRole('combobox');
  const open = async (key: string) => {
    await page.keyboard.press(key);
    await expectFocus(field);
  };

  await open('Control+k');
  await page.keyboard.type('nora wind');
  await dialog.getByText('2 returns found.').waitFor();
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
  await dialog.getByText('Nothing found for “nothing like it”').waitFor();
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

it('the search keeps what is typed while it loads for the first time', async ({ t }) => {
  const { page, letCome, field } = await withLateSearch(t, '/admin/account');
  await title(page, 'Account').waitFor();
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

it('Ctrl-K in the search field of a list opens the search, which gets the following keys', async ({ t }) => {
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

it('a scan on any page opens the return, or says that nothing was found', async ({ t }) => {
  const repair = await newRepair(t);
  await newRepair(t, { orderNumber: 'SO-2' });
  const page = await openPageAs('Account', t, 'STAFF');
  await page.getByRole('button', { name: 'Change your password' }).focus();
  await scan(page, repair.rmaNumber);
  await title(page, repair.rmaNumber).waitFor();
  await scan(page, 'UNKNOWN-77');
  await page.getByText('Nothing found for “UNKNOWN-77”.').first().waitFor();
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
  await menu(page, 'Account').click();
  await title(page, 'Account').waitFor();
  await scan(page, 'ada@example.com');
  await page.getByRole('dialog', { name: 'Search returns' }).getByText('2 returns found.').waitFor();
});

it('the scan station says why a move is not possible, and accepts scans outside its field', async ({ t }) => {
  const repair = await newRepair(t);
  const rejected = await newTradeReturn(t);
  const stale = await newTradeReturn(t, { tradeOrderNumber: 'TO-9' });
  const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
  await other.post(`/trade-returns/${rejected.id}/reject`, {});
  const page = await openPageAs('Scan station', t, 'STAFF');
  const chip = (name: string) => page.getByRole('radio', { name, exact: true });
  await chip('Trade returns').check();
  await chip('Approve').check();
  const list = page.getByRole('list', { name: 'Scans, newest first' });
  const said = async (text: string, words: string) => {
    await page.getByRole('heading', { name: 'Scan station', level: 2 }).click();
    await page.evaluate('document.activeElement.blur()');
    await scan(page, text);
    await list.getByRole('listitem').first().getByText(words).waitFor();
  };
  await said('NOWHERE-1', 'No return with this code');
  await said(repair.rmaNumber, 'This is a repair. Pick “Repairs” above.');
  await said(rejected.rmaNumber, 'It is “Rejected”, so “Approve” is not possible.');
  // Between the look and the move a colleague is faster.
  await page.route('**/approve**', async (route) => {
    await other.post(`/trade-returns/${stale.id}/reject`, {});
    await route.continue();
  });
  await said(stale.rmaNumber, 'This has just changed. It is “Rejected” now, by Ana');
  await page.unroute('**/approve**');
  // Where an input is missing nothing is done.
  await chip('Repairs').check();
  await chip('Resolve').check();
  await page.getByRole('textbox', { name: 'Scan a return' }).fill(repair.rmaNumber);
  await page.keyboard.press('Enter');
  await list.getByRole('listitem').first().getByText('Fill in the fields above first.').waitFor();
  await page.getByText('Choose one.').waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.status).toBe('OFFLINE_DIAGNOSTICS');
  // A scan while a choice has the focus is a scan: it chooses nothing else.
  await chip('Start repair').check();
  await chip('Start repair').focus();
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

it('the scan station assigns, prints, sets the waiting reason, and looks up', async ({ t }) => {
  const repair = await newRepair(t);
  const trade = await newTradeReturn(t);
  const staff = await newPerson(t, { role: 'STAFF', name: 'Ana' });
  const read = async (path: string) => (await staff.get(path)).body;
  const page = await openAs(t, 'STAFF');
  await page.addInitScript(`window.printed = []; window.print = () =>
    window.printed.push(document.querySelector('.slips article').getAttribute('aria-label'));`);
  await page.goto('/admin/scan-station');
  const scanned = page.getByRole('textbox', { name: 'Scan a return' });
  const enter = async (text: string, words: string) => {
    await scanned.fill(text);
    await scanned.press('Enter');
    await page.getByRole('status').filter({ hasText: text }).getByText(words).waitFor();
  };
  const chip = (name: string) => page.getByRole('radio', { name });

  await chip('Look up only').check();
  await enter(repair.rmaNumber, 'Does not heat up any more');
  await page.getByRole('status').getByText('Ada Pereira').waitFor();

  await chip('Assign to').check();
  await page.getByRole('combobox', { name: 'Assign to' }).click();
  await page.getByRole('option', { name: 'Ana' }).click();
  await expectFocus(scanned);
  await enter(repair.rmaNumber, 'Assigned to Ana');
  // Either type.
  await enter(trade.rmaNumber, 'Assigned to Ana');
  expect((await read(`/trade-returns/${trade.id}`)).assignee.name).toBe('Ana');

  await chip('Waiting for').check();
  await enter(repair.rmaNumber, 'Fill in the fields above first.');
  await chip('A part').check();
  await enter(repair.rmaNumber, 'Waiting for a part');
  expect((await read(`/offline-repairs/${repair.id}`)).waitingFor).toMatchObject({
    what: 'PART',
    until: null,
  });

  await chip('Print slip').check();
  await page.getByRole('combobox', { name: 'Paper' }).selectOption('Label 62 × 100 mm');
  await enter(repair.rmaNumber, 'Slip printed');
  expect(await page.evaluate('window.printed')).toEqual([`Slip for ${repair.rmaNumber}`]);
  await accessibleEverywhere(page);
});

/** A camera that sees a code, or that the person does not allow. */
const withCamera = (page: Page, code: string, error?: string) =>
  page.addInitScript(`
    window.stopped = 0;
    window.BarcodeDetector = class {
      static getSupportedFormats = async () => ['code_128', 'qr_code'];
      detect = async () => [{ rawValue: ${JSON.stringify(code)} }];
    };
    navigator.mediaDevices.getUserMedia = async () => {
      if (${JSON.stringify(error ?? '')}) throw new DOMException('', ${JSON.stringify(error ?? '')});
      const stream = document.createElement('canvas').captureStream();
      for (const track of stream.getTracks()) {
        const stop = track.stop.bind(track);
        track.stop = () => { window.stopped += 1; stop(); };
      }
      return stream;
    };`);

it('on a phone the chosen action takes one line, and can be changed there', async ({ t }) => {
  const page = await openPageAs('Scan station', t, 'STAFF', { width: 390 });
  const other = page.getByRole('radio', { name: 'Close' });
  await page.getByText('Look up only', { exact: true }).click();
  await page.getByText('Repairs · Look up only').waitFor();
  expect(await other.isVisible()).toBe(false);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByText('Close', { exact: true }).click();
  await page.getByText('Repairs · Close').waitFor();
});

it('a phone scans with its camera, once for each code; without a camera there is no button', async ({
  t,
}) => {
  const repair = await newRepair(t);
  const page = await openAs(t, 'STAFF', { width: 390, ownProfile: true });
  await withCamera(page, repair.rmaNumber);
  await page.goto('/admin/scan-station');
  await page.getByRole('radio', { name: 'Start repair' }).check();
  await page.getByRole('button', { name: 'Use camera' }).click();
  await page.getByText('1 done', { exact: true }).waitFor();
  await accessibleEverywhere(page);
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true });
    document.dispatchEvent(new Event('visibilitychange'));`);
  await page.getByRole('button', { name: 'Use camera' }).waitFor();
  await expect.poll(() => page.evaluate('window.stopped')).toBe(1);

  const denied = await openAs(t, 'STAFF', { ownProfile: true });
  await withCamera(denied, '', 'NotAllowedError');
  await denied.goto('/admin/scan-station');
  await denied.getByRole('button', { name: 'Use camera' }).click();
  await denied.getByRole('alert').getByText('No access to the camera.').waitFor();

  const without = await openAs(t, 'STAFF');
  await without.addInitScript('delete window.BarcodeDetector');
  await without.goto('/admin/scan-station');
  await without.getByText('This browser cannot scan with the camera.').waitFor({ state: 'attached' });
  expect(await without.getByRole('button', { name: 'Use camera' }).count()).toBe(0);
});

/** The first of two scans is at the service; the second waits for it. */
const withTwoScans = async (t: Harness) => {
  const made = [await newRepair(t), await newRepair(t)] as const;
  const page = await openPageAs('Scan station', t, 'STAFF');
  const held = Promise.withResolvers<void>();
  await page.route('**/begin-repair*', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole('radio', { name: 'Start repair', exact: true }).check();
  const field = page.getByRole('textbox', { name: 'Scan a return' });
  const asked = page.waitForRequest('**/begin-repair*');
  for (const { rmaNumber } of made) {
    await field.fill(rmaNumber);
    await field.press('Enter');
  }
  await asked;
  const statuses = () =>
    Promise.all(made.map(async ({ id }) => (await t.get(`/offline-repairs/${id}`)).body.status));
  return { page, made, letGo: held.resolve, statuses };
};

it('the scan station continues when its page is left, and shows the result of each scan', async ({ t }) => {
  const { page, made, letGo, statuses } = await withTwoScans(t);
  await menu(page, 'Today').click();
  await title(page, 'Today').waitFor();
  letGo();
  await expect.poll(statuses).toEqual(['OFFLINE_REPAIR', 'OFFLINE_REPAIR']);
  await menu(page, 'Scan station').click();
  await page.getByText('2 done', { exact: true }).waitFor();
  await page.getByRole('status').filter({ hasText: made[1].rmaNumber }).getByText('repair started').waitFor();
  // What was chosen is there too.
  expect(await page.getByRole('radio', { name: 'Start repair', exact: true }).isChecked()).toBe(true);
});

it('scans that wait when a user signs out are not processed for the next one', async ({ t }) => {
  const { page, letGo, statuses } = await withTwoScans(t);
  const next = await newUser(t, { role: 'STAFF' });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail').fill(next.email);
  await passwordField(page, 'Password').fill(next.password);
  await page.keyboard.press('Enter');
  await title(page, 'Today').waitFor();
  letGo();
  await menu(page, 'Scan station').click();
  await page.getByText('Nothing scanned yet').waitFor();
  // The next person's own scans come after those that waited.
  await page.getByRole('radio', { name: 'Look up only' }).check();
  await page.getByRole('textbox', { name: 'Scan a return' }).fill('NOWHERE-1');
  await page.keyboard.press('Enter');
  await page.getByText('0 done, 1 failed').waitFor();
  expect((await statuses())[1]).toBe('OFFLINE_DIAGNOSTICS');
});

it('a slip that was not printed before the page was left says so, and does not delay other scans', async ({
  t,
}) => {
  const { rmaNumber } = await newRepair(t);
  const page = await openAs(t, 'STAFF');
  const held = Promise.withResolvers<void>();
  await page.route('**/admin/api/shop-settings', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/admin/scan-station');
  await page.getByRole('radio', { name: 'Print slip' }).check();
  const field = page.getByRole('textbox', { name: 'Scan a return' });
  await field.fill(rmaNumber);
  await field.press('Enter');
  await page.getByText('1 in progress').waitFor();
  await menu(page, 'Today').click();
  await title(page, 'Today').waitFor();
  held.resolve();
  await menu(page, 'Scan station').click();
  await page.getByText('Not printed, because the page was left. Try again.').first().waitFor();
  await page.getByRole('radio', { name: 'Look up only' }).check();
  await field.fill(rmaNumber);
  await field.press('Enter');
  await page.getByText('1 done, 1 failed').waitFor();
});

it('a slow scanner is recognised wherever the focus is, in any case', async ({ t }) => {
  const { rmaNumber } = await newRepair(t, { externalRef: 'Pos-77' });
  const page = await openPageAs('Scan station', t, 'STAFF');
  await page.getByRole('radio', { name: 'Look up only' }).check();
  for (const typed of ['pos-77', 'POS-77', rmaNumber.toLowerCase(), rmaNumber.replace(/\D|^0+/g, '')]) {
    await page.getByRole('button', { name: 'Use camera' }).or(title(page, 'Scan station')).last().click();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.type(typed, { delay: 60 });
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Scans, newest first' }).getByText(rmaNumber).first().waitFor();
    await page.getByText('1 done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear list' }).click();
  }
});
