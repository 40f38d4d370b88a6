import type { Locator, Page, Route } from 'playwright-core';
import { expect } from 'vitest';
import type { Erasure } from '../../contract/personal-data.ts';
import { newPerson, PASSWORD } from '../support/admin.ts';
import {
  accessibleEverywhere,
  expectAccessibleDialog,
  goInside,
  look,
  openAs,
  openAt,
  openPageAs,
} from '../support/browser.ts';
import {
  closeBy,
  emailAt,
  field,
  type Made,
  newRepair,
  newTradeReturn,
  rowOf,
  rowWith,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

const EMAIL = 'ada.with.a.very.long.address.that.goes.on@subdomain.planted-customers.example';
const UNBROKEN = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(3).slice(0, 100);

const closedRepair = async (t: Harness): Promise<Made> => {
  const made = await newRepair(t, { customerName: UNBROKEN, customerEmail: EMAIL });
  await t.post(`/offline-repairs/${made.id}/close`);
  return made;
};

const openPage = async (t: Harness): Promise<Page> => {
  const page = await openAt('/settings/personal-data', t, 'ADMIN');
  await title(page, 'Personal data').waitFor();
  return page;
};

const openErase = async (page: Page): Promise<Locator> => {
  await field(page, 'Email or phone').fill(EMAIL);
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('button', { name: 'Erase…' }).click();
  return page.getByRole('dialog', { name: 'Erase a customer’s data' });
};

const fits = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth <= window.innerWidth') as Promise<boolean>;

/** The response for a customer with 1,240 returns, of which a call erases 500. */
const responseOf = (erased: number, remaining: number): Erasure => ({
  dryRun: false,
  matched: erased + remaining,
  erased,
  returns: Array.from({ length: erased }, (_, i) => ({ id: `id-${i}`, rmaNumber: `#RMA-${i}` })),
  refused: [],
  remaining,
  views: 0,
});

/** Answers the dry run, and holds every other call until it is let go. */
const holdErasures = async (page: Page, responses: Erasure[]) => {
  const held: Route[] = [];
  await page.route('**/admin/api/customers/erase', async (route) => {
    const { dryRun = false } = route.request().postDataJSON();
    if (dryRun) await route.fulfill({ json: responseOf(500, 740) });
    else held.push(route);
  });
  return {
    held,
    letGo: async () => {
      await expect.poll(() => held.length).toBeGreaterThan(0);
      await held.shift()?.fulfill({ json: responses.shift() });
    },
  };
};

it('many returns are erased in several requests, which can be stopped or closed safely', async ({ t }) => {
  await closedRepair(t);
  const page = await openPage(t);
  const { held, letGo } = await holdErasures(page, [
    responseOf(500, 740),
    responseOf(500, 240),
    responseOf(240, 0),
  ]);
  // The tab stores the last search of a list, for the way back.
  await page.evaluate(`sessionStorage.setItem('handback.search./offline-repairs', '{"q":"Donau"}')`);
  const dialog = await openErase(page);
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Asked by letter');
  await dialog.getByRole('button', { name: 'Erase 1,240 returns' }).click();
  await dialog.getByText('0 of 1,240').waitFor();
  await letGo();
  await dialog.getByText('500 of 1,240').waitFor();
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('Donau');
  await expectAccessibleDialog(page);
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await letGo();
  await dialog
    .getByText('1,000 returns erased. 240 returns can still be erased: choose Erase… again.')
    .waitFor();
  await closeBy(dialog, 'Done');

  // If the dialog is closed, no call follows the one that runs.
  await page.getByRole('button', { name: 'Erase…' }).click();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Asked by letter');
  await dialog.getByRole('button', { name: 'Erase 1,240 returns' }).click();
  await expect.poll(() => held.length).toBe(1);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await held.shift()?.fulfill({ json: responseOf(500, 740) });
  await page.getByText(`1 return for ${EMAIL}`).waitFor();
  expect(held).toEqual([]);
});

it('an erasure and an export that take more than half a minute still complete', async ({ t }) => {
  await closedRepair(t);
  const page = await openAs(t, 'ADMIN', { ownProfile: true });
  await page.clock.install();
  await page.goto('/admin/settings/personal-data');
  const { held } = await holdErasures(page, []);
  const dialog = await openErase(page);
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Asked by letter');
  await dialog.getByRole('button', { name: 'Erase 1,240 returns' }).click();
  await expect.poll(() => held.length).toBe(1);
  await page.clock.runFor(40_000);
  await held.shift()?.fulfill({ json: responseOf(1_240, 0) });
  await dialog.getByText('1,240 returns erased.').waitFor();
  await closeBy(dialog, 'Done');

  const asked = page.waitForRequest('**/customers/export');
  const response = Promise.withResolvers<void>();
  await page.route('**/customers/export', async (route) => {
    await response.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: /^Export/ }).click();
  await asked;
  await page.clock.runFor(40_000);
  const saved = page.waitForEvent('download');
  response.resolve();
  await saved;
});

it('a refusal names the returns, and an error keeps the form', async ({ t }) => {
  const { rmaNumber } = await newRepair(t, { customerEmail: EMAIL });
  const page = await openPage(t);
  const dialog = await openErase(page);
  await dialog.getByText('can be erased yet.').waitFor();
  expect(await dialog.getByRole('button', { name: 'Erase', exact: true }).isDisabled()).toBe(true);
  for (const look_ of [{ scheme: 'dark', width: 390 } as const, { scheme: 'light', width: 1280 } as const]) {
    await look(page, look_);
    await expectAccessibleDialog(page);
    expect(await fits(page)).toBe(true);
    const close = await dialog.getByRole('button', { name: 'Close' }).boundingBox();
    expect((close?.x ?? 0) + (close?.width ?? 0)).toBeLessThan(look_.width);
  }
  await dialog.getByRole('checkbox', { name: 'Erase open returns too' }).check();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Asked by letter');
  const erase = dialog.getByRole('button', { name: 'Erase 1 return', exact: true });
  await erase.waitFor();
  await page.context().setOffline(true);
  await erase.click();
  await dialog.getByText('The service cannot be reached.').first().waitFor();
  await page.context().setOffline(false);
  expect(await dialog.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('Asked by letter');

  const refused = [{ id: '1', rmaNumber, reason: 'DELIVERY_WAITING' }];
  await page.route('**/admin/api/customers/erase', async (route) => {
    if (route.request().postDataJSON().dryRun) return route.fallback();
    return route.fulfill({
      status: 409,
      json: { statusCode: 409, code: 'ERASE_REFUSED', message: '', refused },
    });
  });
  // The number of returns is loaded again with the connection.
  await erase.click();
  await dialog.getByText('Nothing was erased').waitFor();
  await dialog
    .getByText(`A webhook about it is still waiting; try again in a few minutes: ${rmaNumber}`)
    .waitFor();
});

it('an export asks for the password first', async ({ t }) => {
  await closedRepair(t);
  const page = await openPage(t);
  await field(page, 'Email or phone').fill(EMAIL);
  await page.getByRole('button', { name: 'Find' }).click();
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'Export' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await proof.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Nothing was exported').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  await proof.getByLabel('Current password').and(page.locator('input')).fill(PASSWORD);
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(download.suggestedFilename()).toContain('customer-export-');
  await page.getByText('1 return exported').waitFor();
});

it('erased returns of both kinds show no personal data on pages, lists and slips', async ({ t, admin }) => {
  const repair = await closedRepair(t);
  const trade = await newTradeReturn(t, { customerName: UNBROKEN, customerEmail: EMAIL });
  const page = await openAs(t, 'STAFF');
  const kept = () => page.evaluate('JSON.stringify({ ...sessionStorage })') as Promise<string>;
  await page.goto(`/admin/offline-repairs/${repair.id}`);
  const note = page.getByRole('textbox', { name: 'Add a note' });
  await note.fill(`Call ${UNBROKEN}`);
  await expect.poll(kept).toContain(UNBROKEN);
  await admin.post('/customers/erase', { email: EMAIL, includeOpen: true, reason: 'Asked by letter' });
  await page.getByRole('button', { name: 'Add note' }).click();
  await page.getByText('was erased. This can no longer be changed.').waitFor();
  await page.reload();
  await page.getByText('The customer’s data was erased on').waitFor();
  await page.getByText('erased the customer’s data').waitFor();
  for (const action of ['Actions', 'Assigned to', 'Add a note'])
    expect(await page.getByLabel(action, { exact: true }).count(), action).toBe(0);
  expect(await page.locator('a[href^="mailto:"], a[href^="tel:"]').count()).toBe(0);
  expect(await page.getByRole('main').innerText()).not.toMatch(
    new RegExp(`${UNBROKEN}|planted|erased@erased`),
  );
  await expect.poll(kept).not.toContain(UNBROKEN);
  await accessibleEverywhere(page);

  await goInside(page, `/admin/trade-returns/${trade.id}`);
  await page.getByText('This return cannot be changed any more.').waitFor();
  expect(await page.getByRole('group', { name: 'Actions' }).count()).toBe(0);
  expect(
    await page
      .getByRole('definition')
      .filter({ hasText: /^\[erased\]$/ })
      .count(),
  ).toBe(3);
  await accessibleEverywhere(page);
  await goInside(page, `/admin/trade-returns/${trade.id}/receive`);
  await page.getByText('This return cannot be changed any more.').waitFor();
  await goInside(page, `/admin/print?kind=offline-repairs&ids=${repair.id}`);
  await page.getByText('[erased]').first().waitFor();
  expect(await page.getByRole('main').innerText()).not.toContain('erased@');
  await goInside(page, '/admin/offline-repairs?open=all');
  await rowOf(page, repair.rmaNumber).getByText('[erased]').first().waitFor();
  await page.getByRole('checkbox', { name: `Select ${repair.rmaNumber}` }).check();
  expect(await page.getByRole('button', { name: 'Close (0)' }).isDisabled()).toBe(true);
});

it('the name of a removed user is erased', async ({ t, admin }) => {
  const { id } = await newRepair(t);
  const grace = await newPerson(t, { role: 'STAFF', name: 'Grace Gone', email: emailAt(t, 'grace') });
  await grace.post(`/offline-repairs/${id}/notes`, { note: 'Called' });
  await admin.delete(`/users/${grace.id}`);
  const page = await openPage(t);
  await rowWith(page, grace.email).getByRole('button', { name: 'Erase name…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase a former employee’s name' });
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Left the shop');
  await look(page, { scheme: 'dark', width: 390 });
  await expectAccessibleDialog(page);
  await closeBy(dialog, 'Erase name');
  // The janitor erases it later.
  await rowWith(page, grace.email).getByText('Erasing…').waitFor();
  expect(await fits(page)).toBe(true);
  await accessibleEverywhere(page);
});

it('the scan station says that a scanned return was erased', async ({ t, admin }) => {
  const { rmaNumber } = await newRepair(t, { customerEmail: EMAIL });
  await admin.post('/customers/erase', { email: EMAIL, includeOpen: true, reason: 'Asked by letter' });
  const page = await openPageAs('Scan station', t, 'STAFF');
  await page.getByRole('radio', { name: 'Start repair' }).check();
  await page.getByRole('textbox', { name: 'Scan a return' }).fill(rmaNumber);
  await page.keyboard.press('Enter');
  await page.getByText('0 done, 1 failed').waitFor();
  await page.getByText('was erased. This can no longer be changed.').first().waitFor();
});
