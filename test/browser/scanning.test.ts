import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson, newUser } from '../support/admin.ts';
import {
  accessibleEverywhere,
  goInside,
  openAs,
  openAt,
  openMove,
  openPageAs,
  signInHere,
} from '../support/browser.ts';
import {
  enterCode,
  expectFocus,
  expectValue,
  menu,
  newRepair,
  newTradeReturn,
  openSearch,
  printedOn,
  scan,
  signOut,
  stubPrint,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

// Work by keyboard: a person's keys, and those of a scanner.

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
  const page = await openAt(`/offline-repairs/${repair.id}`, t, 'STAFF');
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
  await page.getByText('NEW-22').first().waitFor();

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
  const dialog = await openSearch(page);
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

  // A scanner types a whole serial number: Enter comes before the response.
  await goInside(page, '/admin/trade-returns');
  await title(page, 'Trade returns').waitFor();
  await openSearch(page, '/');
  await dialog.getByRole('combobox').fill('SN-448013');
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();

  await openSearch(page, '/');
  await page.keyboard.type('nothing like it');
  await dialog.getByText('Nothing found for “nothing like it”').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await title(page, repair.rmaNumber).waitFor();
});

/** A page whose search is requested at once, but arrives only when the test lets it. */
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
  // One more key comes when the dialog is there, but its field has no focus yet.
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
  // What is scanned into a field stays there.
  await page.getByRole('textbox', { name: 'Add a note' }).focus();
  await scan(page, '#RMA-000002');
  await title(page, repair.rmaNumber).waitFor();
  // The checkbox of a row is no text field.
  await goInside(page, '/admin/offline-repairs');
  await page.getByRole('checkbox', { name: 'Select #RMA-000002' }).check();
  await scan(page, repair.rmaNumber);
  await title(page, repair.rmaNumber).waitFor();
  // Several returns have this customer, so they are shown.
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
  // A colleague moves the return after the station has read it.
  await page.route('**/approve**', async (route) => {
    await other.post(`/trade-returns/${stale.id}/reject`, {});
    await route.continue();
  });
  await said(stale.rmaNumber, 'This has just changed. It is “Rejected” now, by Ana');
  await page.unroute('**/approve**');
  // Nothing is done if an input is missing.
  await chip('Repairs').check();
  await chip('Resolve').check();
  await enterCode(page, repair.rmaNumber);
  await list.getByRole('listitem').first().getByText('Fill in the fields above first.').waitFor();
  await page.getByText('Choose one.').waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.status).toBe('OFFLINE_DIAGNOSTICS');
  // A scan while a radio button has the focus chooses no other action.
  await chip('Start repair').check();
  await chip('Start repair').focus();
  await scan(page, repair.rmaNumber);
  await page.getByText('1 done').waitFor();
  // The same is true while a checkbox has the focus.
  await page.getByRole('checkbox', { name: 'Sound' }).check();
  await scan(page, 'NOWHERE-2');
  await list.getByRole('listitem').first().getByText('NOWHERE-2').waitFor();
  await page.reload();
  await expect.poll(() => page.getByRole('checkbox', { name: 'Sound' }).isChecked()).toBe(true);
});

it('the scan station assigns, prints, sets the waiting reason, and looks up', async ({ t }) => {
  const repair = await newRepair(t);
  const trade = await newTradeReturn(t);
  await newPerson(t, { role: 'STAFF', name: 'Ana' });
  const page = await openAs(t, 'STAFF');
  await stubPrint(page);
  await page.goto('/admin/scan-station');
  const enter = async (text: string, words: string) => {
    await enterCode(page, text);
    await page.getByRole('status').filter({ hasText: text }).getByText(words).waitFor();
  };
  const chip = (name: string) => page.getByRole('radio', { name });

  await chip('Look up only').check();
  await enter(repair.rmaNumber, 'Does not heat up any more');
  await page.getByRole('status').getByText('Ada Pereira').waitFor();

  await chip('Assign to').check();
  await page.getByRole('combobox', { name: 'Assign to' }).click();
  await page.getByRole('option', { name: 'Ana' }).click();
  await expectFocus(page.getByRole('textbox', { name: 'Scan a return' }));
  await enter(repair.rmaNumber, 'Assigned to Ana');
  // Returns of both kinds can be assigned.
  await enter(trade.rmaNumber, 'Assigned to Ana');

  await chip('Waiting for').check();
  await enter(repair.rmaNumber, 'Fill in the fields above first.');
  await chip('A part').check();
  await enter(repair.rmaNumber, 'Waiting for a part');

  await chip('Print slip').check();
  await page.getByRole('combobox', { name: 'Paper' }).selectOption('Label 62 × 100 mm');
  await enter(repair.rmaNumber, 'Slip printed');
  expect(await printedOn(page)).toEqual([[expect.stringContaining(repair.rmaNumber)]]);
  await accessibleEverywhere(page);
});

/** A camera that sees a code, or that the user does not allow. */
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

/** The first of two scans is being processed; the second waits for it. */
const withTwoScans = async (t: Harness) => {
  const made = [await newRepair(t), await newRepair(t)] as const;
  const page = await openPageAs('Scan station', t, 'STAFF');
  const held = Promise.withResolvers<void>();
  await page.route('**/begin-repair*', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole('radio', { name: 'Start repair', exact: true }).check();
  const asked = page.waitForRequest('**/begin-repair*');
  for (const { rmaNumber } of made) await enterCode(page, rmaNumber);
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
  // The chosen action is still chosen.
  expect(await page.getByRole('radio', { name: 'Start repair', exact: true }).isChecked()).toBe(true);
});

it('scans that wait when a user signs out are not processed for the next one', async ({ t }) => {
  const { page, letGo, statuses } = await withTwoScans(t);
  const next = await newUser(t, { role: 'STAFF' });
  await signOut(page);
  await signInHere(page, next.email);
  await title(page, 'Today').waitFor();
  letGo();
  await menu(page, 'Scan station').click();
  await page.getByText('Nothing scanned yet').waitFor();
  // The next person's own scans come after those that waited.
  await page.getByRole('radio', { name: 'Look up only' }).check();
  await enterCode(page, 'NOWHERE-1');
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
  await enterCode(page, rmaNumber);
  await page.getByText('1 in progress').waitFor();
  await menu(page, 'Today').click();
  await title(page, 'Today').waitFor();
  held.resolve();
  await menu(page, 'Scan station').click();
  await page.getByText('Not printed, because the page was left. Try again.').first().waitFor();
  await page.getByRole('radio', { name: 'Look up only' }).check();
  await enterCode(page, rmaNumber);
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
