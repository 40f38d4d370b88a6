import type { Buffer } from 'node:buffer';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../../support/admin.ts';
import { goInside, openAt, openPageAs } from '../../support/browser.ts';
import { expectFocus, type Made, newRepair, newTradeReturn } from '../../support/browser-pages.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';
import { dataUrl, png } from '../../support/pictures.ts';

const it = itWith(sharedHarness());

/** Walks through the chips of the group that has the focus. */
const choose = async (page: Page, label: string) => {
  const isChosen = () => page.getByRole('radio', { name: label, exact: true }).isChecked();
  while (!(await isChosen())) await page.keyboard.press('ArrowRight');
};

it('the scan station moves returns, except one that a colleague moved, and undoes the last move', async ({
  t,
}) => {
  const repairs: Made[] = [];
  for (let i = 0; i < 8; i++) repairs.push(await newRepair(t, { externalRef: `POS-${i}` }));
  const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
  const [taken, last] = [repairs[3], repairs[7]] as [Made, Made];
  const waiting = { what: 'PART', until: null, note: 'Ordered' };
  await other.put(`/offline-repairs/${last.id}/waiting-for`, waiting);
  await other.post(`/offline-repairs/${taken.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  // The former address of the page leads to the new one.
  const page = await openPageAs('Scan station', t, 'STAFF');
  expect(new URL(page.url()).pathname).toBe('/admin/scan-station');
  const scanned = page.getByRole('textbox', { name: 'Scan a return' });
  const list = page.getByRole('list', { name: 'Scans, newest first' }).getByRole('listitem');
  const enter = async (text: string) => {
    await page.keyboard.insertText(text);
    await page.keyboard.press('Enter');
  };
  await expectFocus(scanned);

  // Nothing is moved before an action is chosen.
  await enter('POS-0');
  await page.getByText('0 done, 1 failed').waitFor();
  await list.getByText('Pick an action first.').waitFor();

  // Action and outcome are chosen by keyboard, and the failed scan is tried again with them.
  await page.getByRole('radio', { name: 'Add tracking' }).focus();
  await page.keyboard.press('Space');
  await choose(page, 'Resolve');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await choose(page, 'Write off');
  await page.getByRole('button', { name: 'Try again: POS-0' }).press('Enter');
  await page.getByText('1 done', { exact: true }).waitFor();
  await scanned.focus();
  for (const [i, { rmaNumber }] of repairs.entries()) if (i > 0) await enter(i % 2 ? rmaNumber : `POS-${i}`);
  await page.getByText('7 done, 1 failed').waitFor();
  await expectFocus(scanned);
  await expect.poll(() => list.count()).toBe(8);
  const failed = list.filter({ hasText: taken.rmaNumber });
  await failed.getByText('Already “Resolved”, by Ana').waitFor();
  expect(await failed.getByRole('link', { name: taken.rmaNumber }).getAttribute('href')).toContain(taken.id);
  const { body } = await t.get('/offline-repairs?limit=100');
  for (const { status } of body.items) expect(status).toBe('OFFLINE_RESOLVED');
  // Nothing was done twice to the one that was taken.
  const { body: story } = await t.get(`/offline-repairs/${taken.id}/timeline`);
  expect(story.items).toHaveLength(2);

  // The last scan is shown large, and can be undone by a move back.
  const banner = page.getByRole('status').filter({ hasText: last.rmaNumber });
  await banner.getByText('Kettle').waitFor();
  await banner.getByText('Does not heat up').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await banner.getByText('Moved back to In diagnostics. The timeline has both changes.').waitFor();
  const { body: undone } = await other.get(`/offline-repairs/${last.id}`);
  expect(undone).toMatchObject({ status: 'OFFLINE_DIAGNOSTICS', waitingFor: waiting });
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
});

it('scans without a connection fail, survive a reload, and can be tried again together', async ({ t }) => {
  const repairs = [await newRepair(t), await newRepair(t), await newRepair(t)];
  const page = await openPageAs('Scan station', t, 'STAFF');
  await page.getByRole('radio', { name: 'Close' }).check();
  await page.context().setOffline(true);
  await page.getByRole('textbox', { name: 'Scan a return' }).focus();
  for (const { rmaNumber } of repairs) {
    await page.keyboard.insertText(rmaNumber);
    await page.keyboard.press('Enter');
  }
  await page.getByText('0 done, 3 failed').waitFor();
  await page.context().setOffline(false);
  await page.reload();
  await page.getByText('0 done, 3 failed').waitFor();
  await expect.poll(() => page.getByRole('radio', { name: 'Close' }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Retry all' }).click();
  await page.getByText('3 done', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Clear list' }).click();
  await page.getByText('Nothing scanned yet').waitFor();
});

/** The size of each page of Chromium's PDF, in millimetres. */
const pagesOf = (pdf: Buffer): string[] =>
  [...pdf.toString('latin1').matchAll(/\/MediaBox ?\[([^\]]*)\]/g)].map(([, box = '']) =>
    box
      .trim()
      .split(/\s+/)
      .slice(2)
      .map((points) => Math.round((Number(points) * 25.4) / 72))
      .join('×'),
  );

/** By how many pixels the codes of the slips stick out to the right. */
const codesInTheEdge = (page: Page): Promise<number> =>
  page.evaluate(`Math.max(...[...document.querySelectorAll('article')].flatMap((sheet) => {
    const edge = sheet.querySelector('header').getBoundingClientRect().right;
    return [...sheet.querySelectorAll('[aria-label^="QR code"]')].map((code) => code.getBoundingClientRect().right - edge);
  }))`);

/** Compares the size of each printed page. */
const expectPrinted = (page: Page, sizes: string[]): Promise<void> =>
  expect.poll(async () => pagesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(sizes);

it('an Admin sets the letterhead of slips, with a preview', async ({ t, staff }) => {
  const page = await openPageAs('Shop', t, 'ADMIN');
  await page.getByLabel('Name').fill('Kettle & Sons');
  await page.getByLabel('Address').fill('12 Harbour Road\n3207 Port Melbourne');
  await page.getByLabel('Currency').selectOption('AUD');
  await page.getByLabel('Time zone').selectOption('Australia/Melbourne');
  await page.getByLabel('Text at the bottom').fill('Keep this slip.');
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose logo' }).click(),
  ]);
  const logo = png({ width: 40, height: 20 });
  const choose = (buffer: Buffer) => chooser.setFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  // An `img` would display the first half without an error.
  await choose(logo.subarray(0, logo.length / 2));
  await page.getByText('This file is damaged or not an image. Please choose another.').waitFor();
  expect(await page.getByAltText('Shop logo').count()).toBe(0);
  await choose(logo);
  await page.getByAltText('Shop logo').waitFor();
  const preview = page.getByRole('article', { name: 'Slip for #RMA-000123' });
  for (const words of ['Kettle & Sons', '3207 Port Melbourne', 'Keep this slip.'])
    await preview.getByText(words).waitFor();
  expect(await codesInTheEdge(page)).toBeLessThan(1);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await staff.get('/shop-settings')).body.currency).toBe('AUD');
  expect((await staff.get('/shop-settings')).body.logo).toBe(dataUrl('png', logo));

  const repair = await newRepair(staff);
  await goInside(page, `/admin/offline-repairs/${repair.id}`);
  await page.getByText('A$49.95').or(page.getByText('$49.95')).first().waitFor();
  await page.getByRole('link', { name: 'Print slip' }).click();
  await page.getByRole('article').first().getByText('Kettle & Sons').waitFor();
});

it('slips have three sizes, and the chosen one is remembered', async ({ t, staff }) => {
  const repair = await newRepair(staff, { storeId: 'store-9' });
  const second = await newRepair(staff, { storeId: 'store-9' });
  const trade = await newTradeReturn(staff);
  const page = await openAt(`/offline-repairs/${repair.id}`, t, 'ADMIN');
  await page.getByRole('link', { name: 'Print slip' }).click();
  const slipOf = ({ rmaNumber }: Made) => page.getByRole('article', { name: `Slip for ${rmaNumber}` });
  const slip = slipOf(repair);
  await slip.first().waitFor();
  await expect.poll(() => slip.count()).toBe(1);
  const picture = slip.first().getByRole('img');
  for (const code of ['Barcode', 'QR code'])
    await picture.and(page.getByLabel(`${code} of ${repair.rmaNumber}`)).waitFor();
  await expectPrinted(page, ['210×297']);
  expect(await codesInTheEdge(page)).toBeLessThan(1);
  // On A5 the customer gets a copy, unless that is turned off on this computer.
  await page.getByRole('button', { name: 'A5' }).click();
  await slip.last().getByText('your copy').waitFor();
  await expectPrinted(page, ['148×210', '148×210']);
  await page.getByRole('checkbox', { name: 'With a copy for the customer' }).uncheck();
  await expectPrinted(page, ['148×210']);
  await page.reload();
  await page.getByRole('button', { name: 'A5', pressed: true }).waitFor();
  await expectPrinted(page, ['148×210']);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0);
  // No line of the page around it is printed.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopWidth`)).toBe('0px');
  await page.emulateMedia({ media: null });

  // Several are printed from the list, and the size is remembered.
  await goInside(page, '/admin/offline-repairs?storeId=store-9');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Print slips' }).click();
  await page.getByRole('heading', { name: '2 slips' }).waitFor();
  await slipOf(second).first().waitFor();
  await page.getByRole('button', { name: 'Label' }).click();
  await expectPrinted(page, ['62×100', '62×100']);
  await goInside(page, `/admin/print?kind=trade-returns&ids=${trade.id},${repair.id}`);
  await page.getByText('One trade return could not be loaded and will not be printed.').waitFor();
  await page.getByRole('button', { name: 'Label', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'A4' }).click();
  await page.getByRole('cell', { name: 'LAMP-OAK' }).first().waitFor();
});
