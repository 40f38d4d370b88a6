import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { openAs } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

const KINDS = [
  { path: '/offline-repairs', body: repairBody, move: 'begin-repair' },
  { path: '/trade-returns', body: tradeBody, move: 'approve' },
];

/** As patiently as for everything else that is waited for on a page. */
const poll = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 10_000 });

const searchOf = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);
const head = (page: Page, name: string) => page.getByRole('columnheader', { name });
const shown = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('link', { name: /^#RMA-/ })
    .allTextContents();

describe.each(KINDS)('the list at $path', ({ path, body, move }) => {
  /** Three, of which the first was changed last. */
  const three = async () => {
    const t = await harness();
    const staff = await newPerson(t, { role: 'STAFF' });
    const made: { id: string; rmaNumber: string }[] = [];
    for (let count = 0; count < 3; count++) made.push((await t.post(path, body())).body);
    expect((await staff.post(`${path}/${made[0]?.id}/${move}`)).status).toBe(200);
    const [first = '', second = '', third = ''] = made.map(({ rmaNumber }) => rmaNumber);
    return { t, first, second, third };
  };

  it('is ordered by a click on a head, there and back, and the address tells of it', async () => {
    const { t, first, second, third } = await three();
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin${path}`);
    await poll(() => shown(page)).toEqual([first, second, third]);
    expect(await head(page, 'Number').getAttribute('aria-sort')).toBe('ascending');
    await page.getByRole('table', { name: /oldest first$/ }).waitFor();

    await head(page, 'Last change').getByRole('button').click();
    await poll(() => shown(page)).toEqual([first, third, second]);
    expect(searchOf(page)).toEqual({ sort: 'updatedAt', order: 'desc' });
    expect(await head(page, 'Last change').getAttribute('aria-sort')).toBe('descending');
    expect(await head(page, 'Number').getAttribute('aria-sort')).toBeNull();

    await head(page, 'Last change').getByRole('button').click();
    await poll(() => shown(page)).toEqual([second, third, first]);
    expect(searchOf(page)).toEqual({ sort: 'updatedAt' });

    await page.reload();
    await poll(() => shown(page)).toEqual([second, third, first]);
    expect(await head(page, 'Last change').getAttribute('aria-sort')).toBe('ascending');

    await page.goBack();
    await poll(() => shown(page)).toEqual([first, third, second]);
  });

  it('is ordered by the keyboard, and a filter leaves the order', async () => {
    const { t, first, second, third } = await three();
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin${path}?page=4`);
    await page.getByRole('button', { name: 'To the first page' }).click();
    await head(page, 'Number').getByRole('button').focus();
    await page.keyboard.press('Enter');
    await poll(() => shown(page)).toEqual([third, second, first]);
    expect(searchOf(page)).toEqual({ order: 'desc' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await poll(() => head(page, 'Status').getAttribute('aria-sort')).toBe('ascending');
    // In the order of the work, not of the alphabet: the one that was moved stands last.
    await poll(() => shown(page)).toEqual([second, third, first]);
    expect(searchOf(page)).toEqual({ sort: 'status' });

    await page.getByRole('textbox', { name: 'Number, reference, customer, phone, serial …' }).fill(second);
    await poll(() => shown(page)).toEqual([second]);
    expect(searchOf(page)).toEqual({ q: second, sort: 'status' });
    await page.getByRole('button', { name: `Remove filter: “${second}”` }).click();
    await poll(async () => (await shown(page)).length).toBe(3);
    expect(searchOf(page)).toEqual({ sort: 'status' });
  });

  it('is exported in its order', async () => {
    const { t, first, second, third } = await three();
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin${path}?sort=updatedAt&order=desc`);
    await poll(() => shown(page)).toEqual([first, third, second]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const rows = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n').slice(1);
    expect(rows.map((row) => row.split(',')[0])).toEqual([first, third, second]);
  });

  it('is ordered by a choice where there is no room for columns', async () => {
    const { t, first, second, third } = await three();
    const page = await openAs(t, 'STAFF', { width: 390 });
    await page.goto(`/admin${path}`);
    await poll(() => shown(page)).toEqual([first, second, third]);
    const order = page.getByRole('combobox', { name: 'Order' });
    await order.selectOption('Longest unchanged first');
    await poll(() => shown(page)).toEqual([second, third, first]);
    expect(searchOf(page)).toEqual({ sort: 'updatedAt' });
    await order.selectOption('Newest first');
    await poll(() => shown(page)).toEqual([third, second, first]);
    expect(searchOf(page)).toEqual({ order: 'desc' });
  });
});
