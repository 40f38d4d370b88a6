import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { goInside, look, openAs, openPageAs } from '../support/browser.ts';
import { rowWith } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

// Names of real shops: long, in other scripts, and with characters that reverse the text.

const DRILL = 'Makita DHP484Z 18V LXT Li-ion Brushless Combi Drill Body Only';
const COMPANY = 'Gesellschaft für Werkzeug- und Maschinenbau Südwest-Niedersachsen mbH & Co. KG, Außenstelle';
const UNBROKEN = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(3).slice(0, 100);
const REVERSING = 'Ada \u202EPereira';

/** Headings, numbers, times and statuses that take more than one line. */
const BROKEN_UP = `
  [...document.querySelectorAll('main th, main td, main time, main [data-status], main [data-urgency], main .mantine-Badge-label')].filter((element) => {
    const text = element.textContent.trim();
    const isShort = element.matches('thead th, time div, [data-status], [data-urgency], .mantine-Badge-label') || /^[\\d.,\\s#RMA-]+$/.test(text);
    if (!isShort || text === '' || element.getClientRects().length === 0) return false;
    const lines = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      lines.push(...[...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 8));
    }
    return lines.some(({ top }) => Math.abs(top - lines[0].top) > 6);
  }).map(({ textContent }) => textContent.trim())`;

/** Numbers and statuses that the column cuts off. */
const CUT = `
  [...document.querySelectorAll('main :is(td, tbody th)')].filter((cell) => {
    const inside = [...cell.querySelectorAll('a, [data-status], [data-urgency], .mantine-Badge-root')].filter(({ textContent }) => textContent !== '');
    const isEllipsed = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth;
    if ([...cell.querySelectorAll('.mantine-Badge-label')].some(isEllipsed)) return true;
    const right = cell.getBoundingClientRect().right;
    if ([...cell.children].some((child) => child.getBoundingClientRect().right > right)) return true;
    return inside.some((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().right > cell.getBoundingClientRect().right + 0.5;
    });
  }).map(({ textContent }) => textContent.trim())`;

const expectNothingCut = async (page: Page, where: string) => {
  expect(await page.evaluate(CUT), `${where}, cut`).toEqual([]);
  const fits = await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
  expect(fits, `${where}, sticks out`).toBe(true);
};

const expectWhole = async (page: Page, where: string) => {
  for (const width of [1280, 1024, 390]) {
    await look(page, { width });
    expect(await page.evaluate(BROKEN_UP), `${where}, ${width} px`).toEqual([]);
    await expectNothingCut(page, `${where}, ${width} px`);
  }
};

it('long names, other scripts and bidirectional characters do not break tables', async ({ t }) => {
  const items = Array.from({ length: 12 }, (_, i) => ({
    sku: `DHP484Z-${i}-WITH-A-VERY-LONG-SKU-THAT-NO-BROWSER-EVER-BREAKS`,
    productName: i % 2 ? DRILL : 'מקדחה נטענת 18V 🔧',
    quantity: 1200 + i,
    price: 239.9,
  }));
  const body = tradeBody({ companyName: COMPANY, customerName: REVERSING, items });
  const { body: trade } = await t.post('/trade-returns', body);
  const faultyItem = { sku: 'X'.repeat(60), productName: DRILL, quantity: 1, price: 1239.9 };
  await t.post(
    '/offline-repairs',
    repairBody({ customerName: COMPANY, faultyItem, orderNumber: 'ORDER/2026/RETURNS/0004711' }),
  );
  await t.post('/offline-repairs', repairBody({ customerName: UNBROKEN }));
  const page = await openAs(t, 'STAFF');

  await page.goto(`/admin/trade-returns/${trade.id}`);
  await page.getByRole('cell', { name: DRILL }).first().waitFor();
  await expectWhole(page, 'a trade return');
  // On a phone each line still says its price and its total.
  const line = page.getByRole('row').filter({ hasText: items[0]?.sku ?? '' });
  for (const sum of ['239.90', '287,880.00']) expect(await line.innerText()).toContain(sum);
  expect(await page.locator('body').innerText()).not.toContain('\u202E');

  await look(page, { width: 1280 });
  await goInside(page, '/admin/trade-returns');
  await page.getByRole('link', { name: trade.rmaNumber }).waitFor();
  await expectWhole(page, 'trade returns');
  await goInside(page, '/admin/offline-repairs');
  await page.getByText('Gesellschaft für').first().waitFor();
  await expectWhole(page, 'repairs');

  // The pointer shows a name that is cut off in full.
  await look(page, { width: 1280 });
  const name = page.getByRole('row').getByText('Gesellschaft für');
  await name.hover();
  await expect.poll(() => name.getAttribute('title')).toBe(COMPANY);

  // A row that is selected by a click keeps its height, or the next click would miss its checkbox; without a
  // pointer the keyboard shows all of it.
  const row = page.getByRole('row').filter({ hasText: 'Gesellschaft für' });
  const height = async () => (await row.boundingBox())?.height ?? 0;
  const before = await height();

  await row.getByRole('checkbox').click();
  await page.getByRole('region', { name: 'Selected rows' }).waitFor();
  expect(await height()).toBe(before);
  await page.keyboard.press('Tab');
  expect(await height()).toBe(before);
  await page.mouse.move(0, 0);
  await expect.poll(height).toBeGreaterThan(before);

  // The name of the service stays on one line beside a long name of the shop.
  await look(page, { width: 390 });
  const brand = await page.getByRole('banner').getByText('Handback', { exact: true }).boundingBox();
  expect(brand?.height).toBeLessThan(40);

  await goInside(page, '/admin/');
  await page.getByRole('heading', { name: 'Next up' }).waitFor();
  await expectWhole(page, 'Today');
  await goInside(page, '/admin/?tab=figures');
  await page.getByRole('heading', { name: 'Oldest open' }).waitFor();
  await expectWhole(page, 'figures');
  const table = page.getByRole('table').filter({ hasText: trade.rmaNumber });
  for (const width of [1280, 1024, 390]) {
    await look(page, { width });
    const [own, frame] = await Promise.all([table.boundingBox(), table.locator('..').boundingBox()]);
    expect(own?.width, `the table at ${width} px`).toBeLessThanOrEqual(frame?.width ?? 0);
  }
});

/** Workflow services make such URLs, in which a browser breaks no line. */
const HOOK = `https://93.184.216.34:443/workflows/${'c2f9b1e07d5a4f38'.repeat(12)}`.slice(0, 219);

it('a long webhook URL does not push actions of the External API off the page', async ({ t }) => {
  const page = await openPageAs('External API', t, 'ADMIN');
  for (const [name, webhookUrl] of [
    [UNBROKEN, HOOK],
    ['Zapier', HOOK.slice(0, 54)],
  ]) {
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name ?? '');
    await page.getByRole('textbox', { name: 'Webhook URL' }).fill(webhookUrl ?? '');
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('I have stored the key and the secret').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await rowWith(page, name ?? '').waitFor();
  }
  const row = rowWith(page, UNBROKEN);
  for (const width of [1280, 1024, 390]) {
    await look(page, { width });
    await expectNothingCut(page, `clients, ${width} px`);
    for (const action of [row.getByRole('link', { name: 'Deliveries' }), row.getByRole('button')])
      expect((await action.boundingBox())?.x, `${width} px`).toBeLessThan(width - 30);
  }
  expect(await row.getByText(HOOK).getAttribute('title')).toBe(HOOK);
  await row.getByRole('link', { name: 'Deliveries' }).click();
  await page.getByText(`Events go to ${HOOK.slice(0, 30)}`).waitFor();
  for (const width of [1280, 1024, 390]) {
    await look(page, { width });
    await expectNothingCut(page, `deliveries, ${width} px`);
  }
});
