import type { Buffer } from 'node:buffer';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../../support/admin.ts';
import { expectAccessible, goInside, openPageAs } from '../../support/browser.ts';
import { journey } from '../../support/browser-journey.ts';
import { expectFocus, type Made, newRepair, newTradeReturn } from '../../support/browser-pages.ts';
import { sharedHarness } from '../../support/harness.ts';
import { dataUrl, png } from '../../support/pictures.ts';

const harness = sharedHarness();

/** Walks through the options of the choice that has the focus. */
const choose = async (page: Page, choice: Locator, label: string) => {
  const chosen = choice.locator('option:checked');
  await page.keyboard.press('Home');
  while ((await chosen.textContent()) !== label) await page.keyboard.press('ArrowDown');
};

journey(['/bench'], 'the bench moves twenty returns by scans, but not one a colleague moved', async () => {
  const t = await harness();
  const repairs = [];
  for (let i = 0; i < 20; i++) repairs.push(await newRepair(t, { externalRef: `POS-${i}` }));
  const other = await newPerson(t, { role: 'STAFF', name: 'Ana' });
  const taken = repairs[7] as Made;
  await other.post(`/offline-repairs/${taken.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  const page = await openPageAs('Bench', t, 'STAFF');
  const scanned = page.getByRole('textbox', { name: 'Scan a return' });
  await expectFocus(scanned);

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
  await scanned.focus();
  for (const [i, { rmaNumber }] of repairs.entries()) {
    await page.keyboard.insertText(i % 2 ? rmaNumber : `POS-${i}`);
    await page.keyboard.press('Enter');
  }
  await page.getByText('19 done, 1 not done').waitFor();
  await expectFocus(scanned);
  const list = page.getByRole('list', { name: 'What was scanned, newest first' });
  await expect.poll(() => list.getByRole('listitem').count()).toBe(20);
  const failed = list.getByRole('listitem').filter({ hasText: taken.rmaNumber });
  await failed.getByText('Already “Resolved”, by Ana').waitFor();
  expect(await failed.getByRole('link', { name: taken.rmaNumber }).getAttribute('href')).toContain(taken.id);
  const { body } = await t.get('/offline-repairs?limit=100');
  for (const { status } of body.items) expect(status).toBe('OFFLINE_RESOLVED');
  // Once each: nothing was done twice to the one that was taken.
  const { body: story } = await t.get(`/offline-repairs/${taken.id}/timeline`);
  expect(story.items.map(({ type }: { type: string }) => type)).toEqual(['CREATED', 'DISPOSITION_SET']);
  await page.getByText('Resolved', { exact: true }).first().waitFor();
  await expectAccessible(page);
});

/** Of a PDF as Chromium makes it: the size of each page in millimetres. */
const pagesOf = (pdf: Buffer): string[] =>
  [...pdf.toString('latin1').matchAll(/\/MediaBox ?\[([^\]]*)\]/g)].map(([, box = '']) =>
    box
      .trim()
      .split(/\s+/)
      .slice(2)
      .map((points) => Math.round((Number(points) * 25.4) / 72))
      .join('×'),
  );

/** How far the codes of the slips that are shown reach into the edge of their paper, in pixels. */
const codesInTheEdge = (page: Page): Promise<number> =>
  page.evaluate(`Math.max(...[...document.querySelectorAll('article')].flatMap((sheet) => {
    const edge = sheet.querySelector('header').getBoundingClientRect().right;
    return [...sheet.querySelectorAll('[aria-label^="QR code"]')].map((code) => code.getBoundingClientRect().right - edge);
  }))`);

/** The size of each page that is printed; the choice of a size takes a moment to be drawn. */
const expectPrinted = (page: Page, sizes: string[]): Promise<void> =>
  expect.poll(async () => pagesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(sizes);

journey(['/settings/shop', '/print'], 'an Admin sets the letterhead; slips have three sizes', async () => {
  const t = await harness();
  const staff = await newPerson(t, { role: 'STAFF' });
  const repair = await newRepair(staff, { storeId: 'store-9' });
  const second = await newRepair(staff, { storeId: 'store-9' });
  const trade = await newTradeReturn(staff);
  const page = await openPageAs('Shop', t, 'ADMIN');
  await page.getByLabel('Name').fill('Kettle & Sons');
  await page.getByLabel('Address').fill('12 Harbour Road\n3207 Port Melbourne');
  await page.getByLabel('Currency').selectOption('AUD');
  await page.getByLabel('Time zone').selectOption('Australia/Melbourne');
  await page.getByLabel('Text on slips').fill('Keep this slip.');
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose a logo' }).click(),
  ]);
  const logo = png({ width: 40, height: 20 });
  const choose = (buffer: Buffer) => chooser.setFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  // All of the picture is there, so a browser would draw it: only its end is missing.
  await choose(logo.subarray(0, -4));
  await page.getByText('This file is damaged, or it is no picture. Choose another one.').waitFor();
  expect(await page.getByAltText('The shop’s logo').count()).toBe(0);
  await choose(logo);
  await page.getByAltText('The shop’s logo').waitFor();
  const preview = page.getByRole('article', { name: 'Slip of #RMA-000123' });
  for (const words of ['Kettle & Sons', '3207 Port Melbourne', 'Keep this slip.'])
    await preview.getByText(words).waitFor();
  expect(await codesInTheEdge(page)).toBeLessThan(1);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await staff.get('/shop-settings')).body.currency).toBe('AUD');
  expect((await staff.get('/shop-settings')).body.logo).toBe(dataUrl('png', logo));

  await goInside(page, `/admin/offline-repairs/${repair.id}`);
  await page.getByText('A$49.95').or(page.getByText('$49.95')).first().waitFor();
  await page.getByRole('link', { name: 'Print slip' }).click();
  const slipOf = ({ rmaNumber }: Made) => page.getByRole('article', { name: `Slip of ${rmaNumber}` });
  const slip = slipOf(repair);
  await slip.first().waitFor();
  await expect.poll(() => slip.count()).toBe(2);
  await slip.last().getByText('your copy').waitFor();
  const picture = slip.first().getByRole('img');
  for (const code of ['Bar code', 'QR code'])
    await picture.and(page.getByLabel(`${code} of ${repair.rmaNumber}`)).waitFor();
  await expectPrinted(page, ['210×297', '210×297']);
  expect(await codesInTheEdge(page)).toBeLessThan(1);
  await page.getByRole('button', { name: 'A5' }).click();
  await page.getByRole('checkbox', { name: 'With a copy for the customer' }).uncheck();
  await expectPrinted(page, ['148×210']);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0);
  // No line of the page around it is printed.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopWidth`)).toBe('0px');
  await page.emulateMedia({ media: null });

  // Many at once, from the list; the size is remembered.
  await goInside(page, '/admin/offline-repairs?storeId=store-9');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('link', { name: 'Print slips' }).click();
  await page.getByRole('heading', { name: '2 slips' }).waitFor();
  await slipOf(second).first().waitFor();
  await page.getByRole('button', { name: 'Label' }).click();
  await expectPrinted(page, ['62×100', '62×100']);
  await goInside(page, `/admin/print?kind=trade-returns&ids=${trade.id},${repair.id}`);
  await page.getByText('One trade return could not be read and will not be printed.').waitFor();
  await page.getByRole('button', { name: 'Label', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'A4' }).click();
  await page.getByRole('cell', { name: 'LAMP-OAK' }).first().waitFor();
  await expectAccessible(page);
});
