import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { expectAccessible, goInside, look, openAs, openMove, openPageAs } from '../support/browser.ts';
import {
  age,
  chooseOrigin,
  chooseStatus,
  closeBy,
  expectDisabled,
  expectValue,
  exported,
  field,
  type Made,
  menu,
  newRepair,
  newTradeReturn,
  numbersOf,
  rowOf,
  searchOf,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());
const DAY_MS = 86_400_000;
const SEARCH = 'Number, reference, customer, phone, serial …';

const expectNumbers = (page: Page, numbers: string[]): Promise<void> =>
  expect.poll(() => numbersOf(page)).toEqual(numbers);
const expectSearch = (page: Page, search: Record<string, string>): Promise<void> =>
  expect.poll(() => searchOf(page)).toEqual(search);

it('lists are empty at first, and lead to their forms', async ({ t }) => {
  const page = await openPageAs('Offline repairs', t, 'STAFF');
  await page.getByText('No repairs yet').waitFor();
  await expectDisabled(page.getByRole('button', { name: 'Export CSV' }));
  await page.getByRole('link', { name: 'Create the first' }).click();
  await title(page, 'New repair').waitFor();
  await menu(page, 'Trade returns').click();
  await page.getByText('No trade returns yet').waitFor();
  await page.getByRole('link', { name: 'Create the first' }).click();
  await title(page, 'New trade return').waitFor();
});

describe('the list of repairs', () => {
  it('shows what programs and people made, filtered by words, status and origin', async ({ t }) => {
    const staff = await newPerson(t, { role: 'STAFF' });
    const swapped = { orderNumber: 'SO-777', startStatus: 'COUNTER_SWAPPED' };
    const wanted = await newRepair(staff, { ...swapped, customerName: 'Grace Okafor' });
    const other = await newRepair(t, swapped);
    await newRepair(staff, { ...swapped, orderNumber: 'SO-778' });
    await newRepair(staff, { orderNumber: 'SO-777' });
    const page = await openPageAs('Offline repairs', t, 'STAFF');
    await page.getByText('4 repairs', { exact: true }).waitFor();
    await rowOf(page, other.rmaNumber).getByText('Ada Pereira').waitFor();
    await field(page, SEARCH).fill('SO-777');
    await page.getByText('3 repairs', { exact: true }).waitFor();
    await chooseStatus(page, 'Counter swapped');
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await chooseOrigin(page, 'staff');
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).waitFor();
    await expectSearch(page, { q: 'SO-777', status: 'COUNTER_SWAPPED', origin: 'STAFF' });

    await page.reload();
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).getByText('Grace Okafor').waitFor();
    expect(await rowOf(page, other.rmaNumber).count()).toBe(0);
    await expectValue(field(page, SEARCH), 'SO-777');
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      ...['“SO-777”', 'Counter swapped', 'Created by staff', 'Clear filters'],
    ]);

    // A row leads to the repair, and back to the list as it was.
    await page.getByRole('link', { name: wanted.rmaNumber }).click();
    await title(page, wanted.rmaNumber).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/admin/offline-repairs/${wanted.id}`);
    await page.getByRole('main').getByRole('link', { name: 'Offline repairs' }).click();
    await page.getByText('1 repair', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('4 repairs', { exact: true }).waitFor();
    await expectSearch(page, {});
    await page.goBack();
    await page.getByText('1 repair', { exact: true }).waitFor();
    await field(page, SEARCH).fill('nowhere');
    await page.getByText('No repairs like that').waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await page.getByText('4 repairs', { exact: true }).waitFor();
  });

  it('has pages', async ({ t }) => {
    const oldest = await newRepair(t);
    for (let i = 0; i < 20; i++) await newRepair(t);
    const newest = await newRepair(t);
    const page = await openPageAs('Offline repairs', t, 'STAFF');
    await page.getByText('22 repairs', { exact: true }).waitFor();
    await page.getByText('of 2', { exact: true }).waitFor();
    await rowOf(page, oldest.rmaNumber).waitFor();
    expect(await rowOf(page, newest.rmaNumber).count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await rowOf(page, newest.rmaNumber).waitFor();
    await expectSearch(page, { page: '2' });
    await page.reload();
    await rowOf(page, newest.rmaNumber).waitFor();
    await page.getByRole('textbox', { name: 'Page' }).fill('1');
    await page.keyboard.press('Enter');
    await rowOf(page, oldest.rmaNumber).waitFor();
    await goInside(page, '/admin/offline-repairs?page=9');
    await page.getByText('This page is empty').waitFor();
    await page.getByRole('button', { name: 'To the first page' }).click();
    await rowOf(page, oldest.rmaNumber).waitFor();
    // A larger page is kept for the next time.
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('50');
    await rowOf(page, newest.rmaNumber).waitFor();
    await page.reload();
    await rowOf(page, newest.rmaNumber).waitFor();
    // The header stays in sight, and no row shows through it, wherever one scrolls to.
    const covered = await page.evaluate(`Array.from({ length: 40 }, (_, step) => {
      window.scrollTo(0, 300 + step * 3);
      return [...document.querySelectorAll('thead th')].filter((cell) => cell.checkVisibility()).map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        return [0.2, 0.5, 0.8].every((part) => document.elementFromPoint(x + width / 4, y + height * part)?.closest('thead'));
      });
    }).flat().every(Boolean)`);
    expect(covered).toBe(true);
  });

  it('is exported as it is filtered', async ({ t }) => {
    const wanted = await newRepair(t, { customerName: 'Pereira, Ada', storeId: 'store-9' });
    const other = await newRepair(t);
    const admin = await newPerson(t);
    await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs?storeId=store-9');
    await rowOf(page, wanted.rmaNumber).waitFor();
    const { name, text, rows } = await exported(page);
    expect(name).toMatch(/^offline-repairs-\d{4}-\d\d-\d\d\.csv$/);
    expect(text).toMatch(/^\uFEFFNumber,Status,Order number,/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`${wanted.rmaNumber},In diagnostics,SO-10042,store-9,"Pereira, Ada"`);
    // As a spreadsheet reads it.
    expect(rows[0]).toMatch(/,\d{4}-\d\d-\d\d \d\d:\d\d,/);
    expect(text).not.toContain(other.rmaNumber);
    await page.getByText('1 repair exported').waitFor();
  });

  it('is narrowed to a part of the store, which is offered by its name', async ({ t }) => {
    const wanted = await newRepair(t, { storeId: 'Harbour Road 7' });
    await newRepair(t);
    const page = await openPageAs('Offline repairs', t, 'STAFF');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    const store = page.getByLabel('Store', { exact: true }).and(page.locator('input'));
    await store.fill('harbour');
    await page.getByRole('option', { name: 'Harbour Road 7 · 1 open' }).waitFor();
    await store.press('Enter');
    const remove = page.getByRole('button', { name: 'Remove filter: Store like “harbour”' });
    await remove.waitFor();
    await expectNumbers(page, [wanted.rmaNumber]);
    await remove.click();
    await page.getByText('2 repairs', { exact: true }).waitFor();
  });

  it('says "yesterday" of yesterday, whatever the hour', async ({ t }) => {
    const made = await newRepair(t);
    const [now, then] = [new Date(), new Date()];
    now.setHours(23, 0, 0, 0);
    then.setDate(then.getDate() - 1);
    then.setHours(0, 30, 0, 0);
    await age(t, 'offline_repairs', made, Date.now() - then.getTime());
    const page = await openAs(t, 'STAFF', { ownProfile: true });
    await page.clock.setFixedTime(now);
    await page.goto('/admin/offline-repairs');
    await rowOf(page, made.rmaNumber).getByText('yesterday').last().waitFor();
  });

  it('is the open work, oldest first; rows are assigned one by one and together', async ({ t }) => {
    const colleague = await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
    const made = [await newRepair(t), await newRepair(t), await newRepair(t), await newRepair(t)];
    const [first, second, third, closed] = made as [Made, Made, Made, Made];
    await t.post(`/offline-repairs/${closed.id}/close`);
    await age(t, 'offline_repairs', first, 5 * DAY_MS);
    const admin = await newPerson(t);
    await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
    const page = await openPageAs('Offline repairs', t, 'STAFF');
    await expectNumbers(page, [first.rmaNumber, second.rmaNumber, third.rmaNumber]);
    const views = page.getByRole('navigation', { name: 'Views' });
    expect(await views.getByRole('link', { name: /^Open/ }).getAttribute('aria-current')).toBe('page');
    await rowOf(page, first.rmaNumber).getByText('3 days overdue').waitFor();

    // Selecting a text opens nothing; a click does.
    const name = rowOf(page, second.rmaNumber).getByText('Ada Pereira');
    await name.dblclick({ position: { x: 10, y: 8 } });
    await expect.poll(() => page.evaluate('String(window.getSelection())')).toMatch(/Ada|Pereira/);
    expect(new URL(page.url()).pathname).toBe('/admin/offline-repairs');

    const choose = async (person: string) => {
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('To whom').and(page.locator('input')).fill(person.slice(0, 5));
      await page.getByRole('option', { name: person }).click();
      await closeBy(dialog, 'Assign');
    };
    await page.getByRole('button', { name: `Assign ${first.rmaNumber}, now Unassigned` }).click();
    await choose('Grace Muller');
    await page
      .getByRole('button', { name: `Assign ${first.rmaNumber}, now Grace Muller`, exact: true })
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('checkbox', { name: `Select ${second.rmaNumber}` }).check();
    await page.getByRole('checkbox', { name: `Select ${third.rmaNumber}` }).check();
    await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Assign' }).click();
    await choose('Grace Muller');
    await rowOf(page, third.rmaNumber).getByText('Grace Muller').waitFor();
    await expect.poll(async () => (await colleague.get('/offline-repairs?assignee=me')).body.total).toBe(3);

    await views.getByRole('link', { name: /^Unassigned/ }).click();
    await page.getByText('No repairs like that').waitFor();
    await views.getByRole('link', { name: /^Overdue/ }).click();
    await expectNumbers(page, [first.rmaNumber]);
    await views.getByRole('link', { name: /^All/ }).click();
    await expectNumbers(
      page,
      [closed, third, second, first].map(({ rmaNumber }) => rmaNumber),
    );
    await rowOf(page, closed.rmaNumber).getByText('Ada Pereira').click();
    await title(page, closed.rmaNumber).waitFor();
  });

  it('keeps filters under a name, for oneself and, by an Admin, for all', async ({ t }) => {
    const made = await newRepair(t, { storeId: 'west' });
    await newRepair(t);
    const page = await openAs(t, 'ADMIN');
    await page.goto('/admin/offline-repairs?store=west&sort=statusSince');
    await expectNumbers(page, [made.rmaNumber]);
    await page.getByRole('button', { name: 'Save view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('West 🧭');
    await dialog.getByRole('checkbox', { name: 'Show it to everyone in the shop' }).check();
    await closeBy(dialog, 'Save');
    // The focus stays where it was, on what the button has become.
    const focused = () => page.evaluate('document.activeElement.textContent');
    await expect.poll(focused).toBe('Edit view');

    const staff = await openPageAs('Offline repairs', t, 'STAFF');
    const tab = (at: Page, name: string) =>
      at.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
    await tab(staff, 'West 🧭 (shared)').click();
    await expectNumbers(staff, [made.rmaNumber]);
    expect(await staff.getByRole('button', { name: 'Edit view' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Edit view' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Western');
    await dialog.getByRole('checkbox').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab(page, 'Western').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await staff.reload();
    await expectNumbers(staff, [made.rmaNumber]);
    await tab(staff, 'West').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit view' }).click();
    // On a slow computer the dialog closes before the list shows the next view, and its button goes last.
    const computer = await page.context().newCDPSession(page);
    await computer.send('Emulation.setCPUThrottlingRate', { rate: 16 });
    await closeBy(dialog, 'Delete this view');
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await tab(page, 'Western').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /(Save|Edit) view/ }).waitFor({ state: 'detached' });
    await computer.detach();
    // The button is gone, so the focus goes to the view that is shown now.
    await expect.poll(focused).toMatch(/^Open/);
    // A day is typed by keys, year and all.
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByLabel('Created from').focus();
    await page.keyboard.type('01022026', { delay: 60 });
    await expect.poll(async () => page.getByLabel('Created from').inputValue()).toBe('2026-01-02');
    await expect
      .poll(async () => new URL(page.url()).searchParams.get('createdFrom'))
      .toMatch(/^2026-01-0[12]T/);
  });
});

/** What can be used, and is covered by a notification. */
const COVERED = `(() => {
  const boxes = [...document.querySelectorAll('.mantine-Notification-root')].map((box) => box.getBoundingClientRect());
  return [...document.querySelectorAll(':is(header, main, [role="dialog"]) :is(a, button, input, select)')]
    .filter((element) => {
      const own = element.getBoundingClientRect();
      return boxes.some((box) => own.right > box.left && own.left < box.right && own.bottom > box.top && own.top < box.bottom);
    })
    .map(({ textContent }) => textContent);
})()`;

it('clearing the filters is offered where they were refused, not to people signed out', async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  const clear = page.getByRole('alert').getByText('Clear all filters');
  await page.goto('/admin/offline-repairs?status=NOWHERE');
  await clear.click();
  await page.getByText('No repairs yet').waitFor();
  await t.ctx.db.deleteFrom('sessions').execute();
  await page.getByRole('link', { name: 'Trade returns' }).click();
  await page.getByRole('alert', { includeHidden: true }).getByText('You are signed out.').waitFor();
  expect(await clear.count()).toBe(0);
});

it('a notification covers nothing that people use next', async ({ t }) => {
  const { id } = await newRepair(t);
  const page = await openAs(t, 'STAFF');
  const expectUncovered = async (words: string) => {
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    for (const width of [1280, 1024, 390]) {
      await look(page, { width });
      expect(await page.evaluate(COVERED), `${words}, ${width} px`).toEqual([]);
    }
    await look(page, { width: 1280 });
    await page.getByRole('alert').getByRole('button', { name: 'Close' }).click();
  };
  await page.goto('/admin/offline-repairs');
  await exported(page);
  await expectUncovered('1 repair exported');
  await page.goto(`/admin/offline-repairs/${id}`);
  await openMove(page, 'Begin repair');
  await page.getByRole('dialog').getByRole('button', { name: 'Begin repair' }).click();
  await openMove(page, 'Resolve');
  await page.getByRole('dialog').getByRole('radio').first().waitFor();
  await expectUncovered('Repair begun');
});

describe('the order of a list', () => {
  const head = (page: Page, name: string) => page.getByRole('columnheader', { name });
  const expectSorted = (page: Page, name: string, order: string | null): Promise<void> =>
    expect.poll(() => head(page, name).getAttribute('aria-sort')).toBe(order);

  it('is chosen by a click or a key; the address and the export have it, filters keep it', async ({ t }) => {
    const made = [await newRepair(t), await newRepair(t), await newRepair(t)];
    const [first = '', second = '', third = ''] = made.map(({ rmaNumber }) => rmaNumber);
    await t.post(`/offline-repairs/${made[0]?.id}/begin-repair`);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs?page=4');
    await page.getByRole('button', { name: 'To the first page' }).click();
    await expectNumbers(page, [first, second, third]);
    await expectSorted(page, 'Number', 'ascending');
    await page.getByRole('table', { name: /oldest first$/ }).waitFor();

    await head(page, 'Last change').getByRole('button').click();
    await expectNumbers(page, [first, third, second]);
    await expectSearch(page, { sort: 'updatedAt', order: 'desc' });
    await expectSorted(page, 'Last change', 'descending');
    await expectSorted(page, 'Number', null);
    const { rows } = await exported(page);
    expect(rows.map((row) => row.split(',')[0])).toEqual([first, third, second]);
    await head(page, 'Last change').getByRole('button').click();
    await expectSearch(page, { sort: 'updatedAt' });
    await page.reload();
    await expectNumbers(page, [second, third, first]);
    await expectSorted(page, 'Last change', 'ascending');
    await page.goBack();
    await expectNumbers(page, [first, third, second]);

    await head(page, 'Number').getByRole('button').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await expectSorted(page, 'Status', 'ascending');
    // In the order of the work, not of the alphabet: the one that was moved stands last.
    await expectNumbers(page, [second, third, first]);
    await field(page, SEARCH).fill(second);
    await expectNumbers(page, [second]);
    await expectSearch(page, { q: second, sort: 'status' });
    await page.getByRole('button', { name: `Remove filter: “${second}”` }).click();
    await expectNumbers(page, [second, third, first]);
    await expectSearch(page, { sort: 'status' });
  });

  it('is a choice where there is no room for columns', async ({ t }) => {
    const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
    const page = await openAs(t, 'STAFF', { width: 390 });
    await page.goto('/admin/trade-returns');
    const order = page.getByRole('combobox', { name: 'Order' });
    await order.selectOption('Newest first');
    await expectNumbers(page, [second.rmaNumber, first.rmaNumber]);
    await expectSearch(page, { order: 'desc' });
    await order.selectOption('Longest unchanged first');
    await expectNumbers(page, [first.rmaNumber, second.rmaNumber]);
    await expectSearch(page, { sort: 'updatedAt' });
  });
});
