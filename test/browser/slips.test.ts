import type { Buffer } from 'node:buffer';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { openAs } from '../support/browser.ts';
import { harness } from '../support/harness.ts';
import { dataUrl, png } from '../support/pictures.ts';

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

it('an Admin sets the letterhead, and slips of many returns come in three sizes, one page each and nothing else', async () => {
  const t = await harness();
  const staff = await newPerson(t, { role: 'STAFF' });
  const repair = (await staff.post('/offline-repairs', repairBody({ storeId: 'store-9' }))).body;
  const second = (await staff.post('/offline-repairs', repairBody({ storeId: 'store-9' }))).body;
  const trade = (await staff.post('/trade-returns', tradeBody())).body;
  const page = await openAs(t, 'ADMIN');
  await page.goto('/admin/settings/shop');
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
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await staff.get('/shop-settings')).body.currency).toBe('AUD');
  expect((await staff.get('/shop-settings')).body.logo).toBe(dataUrl('png', logo));

  await page.goto(`/admin/offline-repairs/${repair.id}`);
  await page.getByText('A$49.95').or(page.getByText('$49.95')).first().waitFor();
  await page.getByRole('link', { name: 'Print slip' }).click();
  const slip = page.getByRole('article', { name: `Slip of ${repair.rmaNumber}` });
  await slip.first().waitFor();
  expect(await slip.count()).toBe(2);
  await slip.last().getByText('your copy').waitFor();
  await slip
    .first()
    .getByRole('img', { name: `Bar code of ${repair.rmaNumber}` })
    .waitFor();
  await slip
    .first()
    .getByRole('img', { name: `QR code of ${repair.rmaNumber}` })
    .waitFor();
  expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(['210×297', '210×297']);
  expect(await codesInTheEdge(page)).toBeLessThan(1);
  await page.getByRole('button', { name: 'A5' }).click();
  await page.getByRole('checkbox', { name: 'With a copy for the customer' }).uncheck();
  expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(['148×210']);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0);
  // No line of the page around it is printed.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopWidth`)).toBe('0px');
  await page.emulateMedia({ media: null });

  // Many at once, from the list; the size is remembered.
  await page.goto('/admin/offline-repairs?storeId=store-9');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('link', { name: 'Print slips' }).click();
  await page.getByRole('heading', { name: '2 slips' }).waitFor();
  await page
    .getByRole('article', { name: `Slip of ${second.rmaNumber}` })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Label' }).click();
  expect(pagesOf(await page.pdf({ preferCSSPageSize: true }))).toEqual(['62×100', '62×100']);
  await page.goto(`/admin/print?kind=trade-returns&ids=${trade.id},${repair.id}`);
  await page.getByText('One trade return could not be read and will not be printed.').waitFor();
  await page.getByRole('button', { name: 'Label', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'A4' }).click();
  await page.getByRole('cell', { name: 'LAMP-OAK' }).first().waitFor();
});
