import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { newPerson } from '../support/admin.ts';
import {
  expectAccessible,
  goInside,
  look,
  openAs,
  openAt,
  openMove,
  openPageAs,
} from '../support/browser.ts';
import {
  age,
  chooseFilter,
  closeBy,
  emailAt,
  expectDisabled,
  expectFocus,
  expectValue,
  exported,
  field,
  listOptions,
  type Made,
  menu,
  newRepair,
  newRepairs,
  newTradeReturn,
  numbersOf,
  openFilter,
  rowOf,
  searchOf,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());
const DAY_MS = 86_400_000;
const SEARCH = 'Search number, customer, phone, serial …';

const expectNumbers = (page: Page, made: readonly (string | Made)[]): Promise<void> =>
  expect
    .poll(() => numbersOf(page))
    .toEqual(made.map((each) => (typeof each === 'string' ? each : each.rmaNumber)));
const expectSearch = (page: Page, search: Record<string, string>): Promise<void> =>
  expect.poll(() => searchOf(page)).toEqual(search);

it('empty lists lead to their forms', async ({ t }) => {
  const page = await openPageAs('Repairs', t, 'STAFF');
  await page.getByText('No repairs yet').waitFor();
  await expectDisabled((await listOptions(page)).getByRole('button', { name: 'Export CSV' }));
  await page.keyboard.press('Escape');
  await expectFocus(page.getByRole('button', { name: 'List options' }));
  await page.getByRole('link', { name: 'New repair' }).click();
  await title(page, 'New repair').waitFor();
  await menu(page, 'Trade returns').click();
  await page.getByText('No trade returns yet').waitFor();
  await page.getByRole('link', { name: 'New trade return' }).click();
  await title(page, 'New trade return').waitFor();
});

describe('the list of repairs', () => {
  it('shows what API clients and users created, filtered by words, status and origin', async ({
    t,
    staff,
  }) => {
    const swapped = { orderNumber: 'SO-777', startStatus: 'COUNTER_SWAPPED' };
    const wanted = await newRepair(staff, { ...swapped, customerName: 'Grace Okafor' });
    const other = await newRepair(t, swapped);
    await newRepair(staff, { ...swapped, orderNumber: 'SO-778' });
    await newRepair(staff, { orderNumber: 'SO-777' });
    const page = await openPageAs('Repairs', t, 'STAFF');
    await page.getByText('4 repairs', { exact: true }).waitFor();
    await rowOf(page, other.rmaNumber).getByText('Ada Pereira').waitFor();
    await field(page, SEARCH).fill('SO-777');
    await page.getByText('3 repairs', { exact: true }).waitFor();
    await chooseFilter(page, 'Status', 'Swapped at counter');
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await chooseFilter(page, 'Created by', 'Staff');
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).waitFor();
    await expectSearch(page, { q: 'SO-777', status: 'COUNTER_SWAPPED', origin: 'STAFF' });

    await page.reload();
    await page.getByText('1 repair', { exact: true }).waitFor();
    await rowOf(page, wanted.rmaNumber).getByText('Grace Okafor').waitFor();
    expect(await rowOf(page, other.rmaNumber).count()).toBe(0);
    await expectValue(field(page, SEARCH), 'SO-777');
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      ...['“SO-777”', 'Swapped at counter', 'Created by staff', 'Clear filters'],
    ]);

    // A row leads to the repair, from which one returns to the same list.
    await page.getByRole('link', { name: wanted.rmaNumber }).click();
    await title(page, wanted.rmaNumber).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/admin/offline-repairs/${wanted.id}`);
    await page.getByRole('main').getByRole('link', { name: 'Repairs' }).click();
    await page.getByText('1 repair', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('4 repairs', { exact: true }).waitFor();
    await expectSearch(page, {});
    await page.goBack();
    await page.getByText('1 repair', { exact: true }).waitFor();
    await field(page, SEARCH).fill('nowhere');
    await page.getByText('No matches').waitFor();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await page.getByText('4 repairs', { exact: true }).waitFor();
  });

  it('has pages', async ({ t }) => {
    const oldest = await newRepair(t);
    for (let i = 0; i < 20; i++) await newRepair(t);
    const newest = await newRepair(t);
    const page = await openPageAs('Repairs', t, 'STAFF');
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
    await page.getByRole('button', { name: 'Go to the first page' }).click();
    await rowOf(page, oldest.rmaNumber).waitFor();
    // The size of a page is remembered.
    await (await listOptions(page)).getByRole('button', { name: '50' }).click();
    await page.keyboard.press('Escape');
    await rowOf(page, newest.rmaNumber).waitFor();
    await page.reload();
    await rowOf(page, newest.rmaNumber).waitFor();
    // The header stays visible, and no row shows through it, wherever one scrolls to.
    const covered = await page.evaluate(`Array.from({ length: 40 }, (_, step) => {
      window.scrollTo(0, 300 + step * 3);
      return [...document.querySelectorAll('thead th')].filter((cell) => cell.checkVisibility()).map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        return [0.2, 0.5, 0.8].every((part) => document.elementFromPoint(x + width / 4, y + height * part)?.closest('thead'));
      });
    }).flat().every(Boolean)`);
    expect(covered).toBe(true);
  });

  it('is exported with its filters', async ({ t }) => {
    const wanted = await newRepair(t, { customerName: 'Pereira, Ada', storeId: 'store-9' });
    const other = await newRepair(t);
    const page = await openAt('/offline-repairs?storeId=store-9', t, 'STAFF');
    await rowOf(page, wanted.rmaNumber).waitFor();
    const { name, text, rows } = await exported(page);
    expect(name).toMatch(/^offline-repairs-\d{4}-\d\d-\d\d\.csv$/);
    expect(text).toMatch(/^\uFEFFNumber,Status,Order number,/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`${wanted.rmaNumber},In diagnostics,SO-10042,store-9,"Pereira, Ada"`);
    // A spreadsheet reads times in this form.
    expect(rows[0]).toMatch(/,\d{4}-\d\d-\d\d \d\d:\d\d,/);
    expect(text).not.toContain(other.rmaNumber);
    await page.getByText('1 repair exported').waitFor();
  });

  it('can be filtered by store, with stores suggested by name', async ({ t }) => {
    const wanted = await newRepair(t, { storeId: 'Harbour Road 7' });
    await newRepair(t);
    const page = await openPageAs('Repairs', t, 'STAFF');
    const panel = await openFilter(page, 'Store');
    const store = panel.getByRole('textbox', { name: 'Store' });
    await expectFocus(store);
    await expectAccessible(page);
    await store.fill('harbour');
    await panel.getByRole('button', { name: 'Harbour Road 7 1 open' }).waitFor();
    await store.press('Enter');
    const remove = page.getByRole('button', { name: 'Remove filter: Store contains “harbour”' });
    await remove.waitFor();
    await expectNumbers(page, [wanted]);
    // A chip leads back to its filter, by keyboard too.
    await page.getByRole('button', { name: 'Store contains “harbour”', exact: true }).press('Enter');
    await store.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove filter: Store Harbour Road 7' }).click();
    await page.getByText('2 repairs', { exact: true }).waitFor();
  });

  it('shows yesterday as "yesterday", whatever the hour', async ({ t }) => {
    const made = await newRepair(t);
    const [now, then] = [new Date(), new Date()];
    now.setHours(23, 0, 0, 0);
    then.setDate(then.getDate() - 1);
    then.setHours(0, 30, 0, 0);
    await age(t, 'offline_repairs', made, Date.now() - then.getTime());
    const page = await openAs(t, 'STAFF', { ownProfile: true, width: 1700 });
    await page.clock.setFixedTime(now);
    await page.goto('/admin/offline-repairs');
    await rowOf(page, made.rmaNumber).getByText('yesterday').last().waitFor();
  });

  it('shows open work, oldest first; rows are assigned individually and together', async ({ t, admin }) => {
    await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
    const [first, second, third, closed] = await newRepairs(t, {}, {}, {}, {});
    await t.post(`/offline-repairs/${closed.id}/close`);
    await age(t, 'offline_repairs', first, 5 * DAY_MS);
    await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
    const page = await openPageAs('Repairs', t, 'STAFF');
    await expectNumbers(page, [first, second, third]);
    const views = page.getByRole('navigation', { name: 'Views' });
    expect(await views.getByRole('link', { name: /^Open/ }).getAttribute('aria-current')).toBe('page');
    await rowOf(page, first.rmaNumber).getByText('3 days overdue').waitFor();

    // Selecting text does not open the return.
    const name = rowOf(page, second.rmaNumber).getByText('Ada Pereira');
    const box = await name.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 2, (box?.y ?? 0) + 8);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 8, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.evaluate('String(window.getSelection())')).toMatch(/Ada/);
    expect(new URL(page.url()).pathname).toBe('/admin/offline-repairs');

    const choose = async (person: string) => {
      await page.getByRole('textbox', { name: 'Assign to' }).fill(person.slice(0, 5));
      await page.getByRole('option', { name: person }).click();
    };
    await page.getByRole('button', { name: `Unassigned , assign ${first.rmaNumber}` }).click();
    await choose('Grace Muller');
    await page.getByRole('button', { name: `Grace Muller , assign ${first.rmaNumber}` }).waitFor();
    await page.getByRole('checkbox', { name: `Select ${second.rmaNumber}` }).check();
    await page.getByRole('checkbox', { name: `Select ${third.rmaNumber}` }).check();
    await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Assign' }).click();
    await choose('Grace Muller');
    for (const { rmaNumber } of [second, third])
      await rowOf(page, rmaNumber).getByText('Grace Muller').waitFor();

    await views.getByRole('link', { name: /^Unassigned/ }).click();
    await page.getByText('No matches').waitFor();
    await views.getByRole('link', { name: /^Overdue/ }).click();
    await expectNumbers(page, [first]);
    await views.getByRole('link', { name: /^All/ }).click();
    await expectNumbers(page, [closed, third, second, first]);
    await rowOf(page, closed.rmaNumber).getByText('Ada Pereira').click();
    await title(page, closed.rmaNumber).waitFor();
  });

  it.for(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    "is exported under the reader's date in %s",
    async (timeZone, { t }) => {
      await newRepair(t);
      const page = await openPageAs('Repairs', t, 'STAFF', { timeZone });
      await page.getByText('1 repair', { exact: true }).waitFor();
      const parts = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' });
      const { name } = await exported(page);
      expect(name).toBe(`offline-repairs-${parts.format()}.csv`);
    },
  );

  it('opens a row immediately on a click', async ({ t }) => {
    const { id, rmaNumber } = await newRepair(t);
    const page = await openAs(t, 'STAFF', { ownProfile: true });
    await page.clock.install();
    await page.goto('/admin/offline-repairs');
    const name = rowOf(page, rmaNumber).getByText('Ada Pereira');
    await name.waitFor();
    await page.clock.pauseAt(Date.now() + DAY_MS);
    await name.click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/admin/offline-repairs/${id}`);
  });

  it('saves filters under a name, for oneself and, by an Admin, for all', async ({ t }) => {
    const made = await newRepair(t, { storeId: 'west' });
    await newRepair(t);
    const page = await openAt('/offline-repairs?store=west&sort=statusSince', t, 'ADMIN');
    await expectNumbers(page, [made]);
    await page.getByRole('button', { name: 'Save view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('West 🧭');
    await dialog.getByRole('checkbox', { name: 'Share with everyone in the shop' }).check();
    await closeBy(dialog, 'Save');
    // The focus stays where it was, on what the button has become.
    const focused = () => page.evaluate('document.activeElement.textContent');
    await expect.poll(focused).toBe('Edit view');

    const staff = await openPageAs('Repairs', t, 'STAFF');
    const tab = (at: Page, name: string) =>
      at.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
    await tab(staff, 'West 🧭 (shared)').click();
    await expectNumbers(staff, [made]);
    expect(await staff.getByRole('button', { name: 'Edit view' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Edit view' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Western');
    await dialog.getByRole('checkbox').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab(page, 'Western').waitFor();
    await dialog.waitFor({ state: 'hidden' });
    await staff.reload();
    await expectNumbers(staff, [made]);
    await tab(staff, 'West').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit view' }).click();
    // On a slow computer the dialog closes before the list shows the next view, and its button goes last.
    const computer = await page.context().newCDPSession(page);
    await computer.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await closeBy(dialog, 'Delete this view');
    await page.getByText('2 repairs', { exact: true }).waitFor();
    await tab(page, 'Western').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /(Save|Edit) view/ }).waitFor({ state: 'detached' });
    await computer.detach();
    // The button is gone, so the focus goes to the view that is shown now.
    await expect.poll(focused).toMatch(/^Open/);
    // A whole date can be typed by keyboard.
    await openFilter(page, 'Created');
    await expectFocus(page.getByLabel('Created from'));
    await page.keyboard.type('01022026', { delay: 60 });
    await expect.poll(async () => page.getByLabel('Created from').inputValue()).toBe('2026-01-02');
    await expect
      .poll(async () => new URL(page.url()).searchParams.get('createdFrom'))
      .toMatch(/^2026-01-0[12]T/);
  });
});

/** The controls that a notification covers. */
const COVERED = `(() => {
  const boxes = [...document.querySelectorAll('.mantine-Notification-root')].map((box) => box.getBoundingClientRect());
  return [...document.querySelectorAll(':is(header, main, [role="dialog"]) :is(a, button, input, select)')]
    .filter((element) => {
      const own = element.getBoundingClientRect();
      return boxes.some((box) => own.right > box.left && own.left < box.right && own.bottom > box.top && own.top < box.bottom);
    })
    .map(({ textContent }) => textContent);
})()`;

it('a refused filter can be cleared, but not by signed-out users', async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  const clear = page.getByRole('alert').getByText('Clear all filters');
  await page.goto('/admin/offline-repairs?status=NOWHERE');
  await clear.click();
  await page.getByText('No repairs yet').waitFor();
  await t.ctx.db.deleteFrom('sessions').execute();
  await page.getByRole('link', { name: 'Trade returns' }).click();
  await page.getByRole('alert', { includeHidden: true }).getByText('Your session had ended.').waitFor();
  expect(await clear.count()).toBe(0);
});

it('a notification does not cover the next controls', async ({ t }) => {
  const { id } = await newRepair(t);
  const page = await openAs(t, 'STAFF');
  const expectUncovered = async (words: string) => {
    const alert = page.getByRole('alert').filter({ hasText: words });
    for (const width of [1280, 1024, 390]) {
      // The time after which it closes starts again when the pointer leaves it.
      await alert.hover();
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
  await openMove(page, 'Start repair');
  await openMove(page, 'Resolve');
  await page.getByRole('dialog').getByRole('radio').first().waitFor();
  await expectUncovered('Repair started');
});

describe('the order of a list', () => {
  const head = (page: Page, name: string) => page.getByRole('columnheader', { name });
  const expectSorted = (page: Page, name: string, order: string | null): Promise<void> =>
    expect.poll(() => head(page, name).getAttribute('aria-sort')).toBe(order);

  it('is chosen by click or key, is in the address and the export, and survives filters', async ({ t }) => {
    const made = await newRepairs(t, {}, {}, {});
    const [first = '', second = '', third = ''] = made.map(({ rmaNumber }) => rmaNumber);
    await t.post(`/offline-repairs/${made[0].id}/begin-repair`);
    const page = await openAt('/offline-repairs?page=4', t, 'STAFF', { width: 1700 });
    await page.getByRole('button', { name: 'Go to the first page' }).click();
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
    // Statuses are in the order of the work, not of the alphabet: the one that was moved is last.
    await expectNumbers(page, [second, third, first]);
    await field(page, SEARCH).fill(second);
    await expectNumbers(page, [second]);
    await expectSearch(page, { q: second, sort: 'status' });
    await page.getByRole('button', { name: `Remove filter: “${second}”` }).click();
    await expectNumbers(page, [second, third, first]);
    await expectSearch(page, { sort: 'status' });
  });

  it('is a select if there is no room for columns', async ({ t }) => {
    const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
    const page = await openAt('/trade-returns', t, 'STAFF', { width: 390 });
    const order = page.getByRole('combobox', { name: 'Sort by' });
    await order.selectOption('Newest first');
    await expectNumbers(page, [second, first]);
    await expectSearch(page, { order: 'desc' });
    await order.selectOption('Longest unchanged first');
    await expectNumbers(page, [first, second]);
    await expectSearch(page, { sort: 'updatedAt' });
  });
});

describe('the keys of a list', () => {
  const selected = (page: Page) => page.getByRole('region', { name: 'Selected rows' });
  const onRow = ({ rmaNumber }: Made, page: Page) => page.getByRole('link', { name: rmaNumber, exact: true });

  it('move the cursor, select, assign, open, and create a return', async ({ t }) => {
    const made = await newRepairs(t, {}, {}, {}, {});
    const [first, second, third, fourth] = made;
    const page = await openPageAs('Repairs', t, 'STAFF', { email: emailAt(t, 'hedy') });
    await expectNumbers(page, made);
    for (const { key, on } of [
      { key: 'j', on: first },
      { key: 'j', on: second },
      { key: 'j', on: third },
      { key: 'k', on: second },
    ]) {
      await page.keyboard.press(key);
      await expectFocus(onRow(on, page));
    }
    await page.keyboard.press('x');
    await selected(page).getByText('1 repair selected').waitFor();
    await page.keyboard.press('Shift+J');
    await selected(page).getByText('2 repairs selected').waitFor();
    await expectFocus(onRow(third, page));
    await page.keyboard.press('a');
    await expectFocus(page.getByRole('textbox', { name: 'Assign to' }));
    await page.keyboard.type('hedy');
    await page.getByRole('option', { name: /hedy/ }).waitFor();
    await page.keyboard.press('Enter');
    for (const row of [second, third]) await rowOf(page, row.rmaNumber).getByText('hedy').waitFor();
    // The cursor is where it was, and Escape clears the selection.
    await expectFocus(onRow(third, page));
    await page.keyboard.press('Escape');
    await selected(page).waitFor({ state: 'hidden' });
    await page.keyboard.press('j');
    await expectFocus(onRow(fourth, page));
    // In a field, keys are letters.
    await field(page, SEARCH).fill('');
    await page.keyboard.type('jax');
    await expectValue(field(page, SEARCH), 'jax');
    await field(page, SEARCH).fill('');
    await expectNumbers(page, made);
    await page.getByRole('heading', { name: 'Repairs' }).click();
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog').getByRole('listitem');
    await keys.filter({ hasText: 'Select down' }).getByText('Shift J').waitFor();
    await closeBy(page.getByRole('dialog'), 'Close');
    await page.getByRole('heading', { name: 'Repairs' }).click();
    await page.keyboard.press('j');
    await expectFocus(onRow(fourth, page));
    await page.keyboard.press('Enter');
    await title(page, fourth.rmaNumber).waitFor();
    await page.keyboard.press('u');
    await title(page, 'Repairs').waitFor();
    await onRow(fourth, page).waitFor();
    await page.keyboard.press('n');
    await title(page, 'New repair').waitFor();
  });

  it('continue at the position of a row that a move removed from the list', async ({ t }) => {
    const numbers = (await newRepairs(t, {}, {}, {}, {}, {})).map(({ rmaNumber }) => rmaNumber);
    const page = await openAt('/offline-repairs?status=OFFLINE_DIAGNOSTICS', t, 'STAFF');
    await expectNumbers(page, numbers);
    const link = (at: number) => page.getByRole('link', { name: numbers[at] ?? '', exact: true });
    for (const at of [0, 1, 2]) {
      await page.keyboard.press('j');
      await expectFocus(link(at));
    }
    await page.keyboard.press('Enter');
    await title(page, numbers[2] ?? '').waitFor();
    await page.getByRole('button', { name: 'Start repair' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.keyboard.press('u');
    await expectNumbers(page, numbers.toSpliced(2, 1));
    await page.keyboard.press('j');
    await expectFocus(link(3));
    await page.keyboard.press('k');
    await expectFocus(link(1));
  });

  it('show a preview beside the rows that follows the cursor', async ({ t }) => {
    const faults = [{ faultDescription: 'Smells of smoke' }, { faultDescription: 'Sings at night' }] as const;
    const [first, second] = await newRepairs(t, ...faults);
    const page = await openPageAs('Repairs', t, 'STAFF');
    await onRow(second, page).waitFor();
    await page.keyboard.press('j');
    await expectFocus(onRow(first, page));
    await page.keyboard.press('Space');
    const preview = (of: Made) => page.getByRole('complementary', { name: `Preview of ${of.rmaNumber}` });
    await preview(first).getByText('Smells of smoke').waitFor();
    await preview(first).getByText('created this return').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('j');
    await preview(second).getByText('Sings at night').waitFor();
    await page.keyboard.press('Escape');
    await preview(second).waitFor({ state: 'hidden' });
    await expectFocus(onRow(second, page));
    await page.keyboard.press('p');
    await preview(second).getByRole('link', { name: 'Open' }).click();
    await title(page, second.rmaNumber).waitFor();
  });

  it('select all rows between two with Shift and a click', async ({ t }) => {
    const made: Made[] = [];
    for (let i = 0; i < 5; i++) made.push(await newTradeReturn(t));
    const page = await openPageAs('Trade returns', t, 'STAFF');
    const box = (index: number) => page.getByRole('checkbox', { name: `Select ${made[index]?.rmaNumber}` });
    await box(1).click();
    await box(3).click({ modifiers: ['Shift'] });
    await selected(page).getByText('3 trade returns selected').waitFor();
    expect(await box(2).isChecked()).toBe(true);
    expect(await box(4).isChecked()).toBe(false);
  });
});

describe('the selection in a list', () => {
  const bar = (page: Page) => page.getByRole('region', { name: 'Selected rows' });
  const box = (page: Page, { rmaNumber }: Made) =>
    page.getByRole('checkbox', { name: `Select ${rmaNumber}` });

  it('shows the progress of a slow move only, and only while it is sent', async ({ t }) => {
    const [first, second] = [await newRepair(t), await newRepair(t)];
    const page = await openAs(t, 'STAFF', { ownProfile: true });
    await page.clock.install();
    await page.goto('/admin/offline-repairs');
    const dialog = page.getByRole('dialog', { name: 'Start repair: 2 repairs' });
    const failed = page.getByRole('alert').filter({ hasText: '2 failed' });
    const conflict = { statusCode: 409, error: 'Conflict', code: 'EDIT_CONFLICT', message: '' };
    const held: Route[] = [];
    const letGo = async () => {
      await expect.poll(() => held.length).toBe(2);
      for (const route of held.splice(0)) await route.fulfill({ status: 409, json: conflict });
    };
    const start = async () => {
      for (const made of [first, second]) await box(page, made).check();
      await bar(page).getByRole('button', { name: 'Start repair' }).click();
    };
    await page.route('**/begin-repair*', (route) => void held.push(route));
    await start();
    await expect.poll(() => held.length).toBe(2);
    await page.clock.runFor(1_000);
    await dialog.getByText('0 of 2').waitFor();
    await letGo();
    await failed.waitFor();
    await dialog.waitFor({ state: 'hidden' });

    // The moves are refused at once, but reading the rows again takes long.
    const readAgain: Route[] = [];
    await page.route(
      (url) => [first, second].some(({ id }) => url.pathname.endsWith(`/${id}`)),
      (route) => void readAgain.push(route),
    );
    await start();
    await letGo();
    await expect.poll(() => readAgain.length).toBe(2);
    await page.clock.runFor(5_000);
    expect(await dialog.count()).toBe(0);
    for (const route of readAgain) await route.continue();
    await failed.last().waitFor();
  });

  it('contains only visible rows: a row that leaves the list is not moved', async ({ t }) => {
    const email = emailAt(t, 'hedy');
    const made = await newRepairs(t, {}, {}, {});
    const [first, second, third] = made;
    const page = await openAt('/offline-repairs?assignee=none&status=OFFLINE_DIAGNOSTICS', t, 'STAFF', {
      email,
    });
    await box(page, first).check();
    await box(page, second).check();
    await page.keyboard.press('a');
    await page.getByRole('textbox', { name: 'Assign to' }).fill('hedy');
    await page.getByRole('option', { name: /hedy/ }).click();
    await expectNumbers(page, [third]);
    await bar(page).waitFor({ state: 'hidden' });
    await box(page, third).check();
    await bar(page).getByText('1 repair selected').waitFor();
    await bar(page).getByRole('button', { name: 'Start repair' }).click();
    await page.getByText('No matches').waitFor();
    // A row that comes back is not selected, and was not moved.
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /^Open/ }).click();
    await expectNumbers(page, made);
    expect(await bar(page).count()).toBe(0);
    for (const { rmaNumber } of [first, second])
      await rowOf(page, rmaNumber).getByText('In diagnostics').waitFor();
  });

  it('is moved by the first click, although the row of the cursor is larger than the others', async ({
    t,
  }) => {
    const faultDescription = 'It leaks. '.repeat(40);
    const [first, second] = await newRepairs(t, { faultDescription }, { faultDescription });
    const page = await openPageAs('Repairs', t, 'STAFF');
    await rowOf(page, second.rmaNumber).waitFor();
    await page.keyboard.press('j');
    await expectFocus(page.getByRole('link', { name: first.rmaNumber }));
    await page.keyboard.press('x');
    await bar(page).getByText('1 repair selected').waitFor();
    await page.keyboard.press('Shift+J');
    await bar(page).getByText('2 repairs selected').waitFor();
    const heightOf = async (row: Made) => (await rowOf(page, row.rmaNumber).boundingBox())?.height ?? 0;
    expect(await heightOf(second)).toBeGreaterThan((await heightOf(first)) + 15);
    const start = await bar(page).getByRole('button', { name: 'Start repair' }).boundingBox();
    if (!start) throw new Error('no button');
    // The pointer is at the lower edge of the button, which would move away first.
    await page.mouse.move(start.x + start.width / 2, start.y + start.height - 3);
    await page.mouse.down();
    await look(page, {});
    await page.mouse.up();
    await page.getByText('Repair started: 2 repairs').waitFor();
  });

  it('stays when its dialog is closed by Cancel, Escape or the close button', async ({ t }) => {
    const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
    const page = await openPageAs('Trade returns', t, 'STAFF');
    await box(page, first).check();
    await box(page, second).check();
    const dialog = page.getByRole('dialog');
    for (const close of [
      () => closeBy(dialog, 'Cancel'),
      // The focus is on a button, since no key is a shortcut in a text field.
      () => dialog.getByRole('button', { name: 'Cancel' }).press('Escape'),
      () => closeBy(dialog, 'Close the dialog'),
    ]) {
      await bar(page).getByRole('button', { name: 'Reject' }).click();
      await dialog.getByRole('button', { name: 'Reject' }).waitFor();
      await close();
      await dialog.waitFor({ state: 'hidden' });
      // A shortcut waits for a moment whether its key begins a scan; a timer that begins later ends after it.
      await page.evaluate('new Promise((done) => setTimeout(done, 50))');
      expect(await bar(page).getByText('2 trade returns selected').isVisible()).toBe(true);
    }
    await page.keyboard.press('Escape');
    await bar(page).waitFor({ state: 'hidden' });
  });
});

describe('due times in a list', () => {
  it('order and group it; waiting returns are marked and found by a filter', async ({ t, admin }) => {
    await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 3 }] });
    const [late, waiting, fresh, swapped] = await newRepairs(t, {}, {}, {}, {});
    await age(t, 'offline_repairs', late, 5 * DAY_MS);
    const other = await newRepair(t, { startStatus: 'COUNTER_SWAPPED' });
    const body = { what: 'PART', until: null, note: null };
    expect(await admin.put(`/offline-repairs/${waiting.id}/waiting-for`, body)).toHaveStatus(200);
    await age(t, 'offline_repairs', swapped, 2 * DAY_MS + 60_000);
    const page = await openPageAs('Repairs', t, 'STAFF');
    await rowOf(page, waiting.rmaNumber).getByText('Waiting for part').waitFor();
    await page.getByRole('columnheader', { name: 'Due' }).getByRole('button').click();
    await expectSearch(page, { sort: 'dueAt' });
    await expect
      .poll(async () => (await numbersOf(page)).slice(0, 3))
      .toEqual([late, swapped, fresh].map(({ rmaNumber }) => rmaNumber));
    const groups = page.locator('tbody').filter({ has: page.locator('th[scope="rowgroup"]') });
    const groupOf = ({ rmaNumber }: Made) =>
      groups.filter({ hasText: rmaNumber }).locator('th[scope="rowgroup"]').textContent();
    expect(await groupOf(late)).toBe('Overdue');
    expect(await groupOf(waiting)).toBe('Waiting');
    expect(await groupOf(other)).toBe('No target');
    await expectAccessible(page);
    await look(page, { width: 390 });
    await page.getByRole('region', { name: 'Overdue' }).getByRole('link', { name: late.rmaNumber }).waitFor();
    await look(page, { width: 1280 });
    await chooseFilter(page, 'Waiting for', 'A part');
    await expectNumbers(page, [waiting]);
    await page.getByRole('button', { name: 'Remove filter: Waiting for part' }).click();
    await chooseFilter(page, 'Due', 'Overdue');
    await expectNumbers(page, [late]);
  });
});

it('rows are 40 px high, or two lines if this device is set so; five cards fit a phone', async ({ t }) => {
  const made: Made[] = [];
  for (let i = 0; i < 7; i++) made.push(await newRepair(t, { faultDescription: 'It leaks. '.repeat(40) }));
  const page = await openPageAs('Repairs', t, 'STAFF');
  const [first] = made as [Made];
  const height = async () => (await rowOf(page, first.rmaNumber).boundingBox())?.height ?? 0;
  await expect.poll(height).toBeLessThanOrEqual(41);
  await (await listOptions(page)).getByRole('button', { name: 'Comfortable' }).click();
  await expect.poll(height).toBeGreaterThan(44);
  await page.reload();
  await expect.poll(height).toBeGreaterThan(44);
  await page.setViewportSize({ width: 390, height: 844 });
  const cards = page.getByRole('main').getByRole('listitem').filter({ hasText: '#RMA-' });
  await expect.poll(() => cards.count()).toBe(7);
  for (const card of await cards.all()) expect((await card.boundingBox())?.height).toBeLessThanOrEqual(120);
  const menuTop = (await page.getByRole('navigation', { name: 'Pages' }).boundingBox())?.y ?? 0;
  const fifth = await cards.nth(4).boundingBox();
  expect((fifth?.y ?? 0) + (fifth?.height ?? 0)).toBeLessThanOrEqual(menuTop);
});

it('on a phone the selection bar has one row, with further actions in its menu', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openPageAs('Repairs', t, 'STAFF', { width: 390 });
  await page.getByRole('checkbox', { name: `Select ${repair.rmaNumber}` }).check();
  const bar = page.getByRole('region', { name: 'Selected rows' });
  await bar.getByRole('button', { name: 'More' }).waitFor();
  expect((await bar.boundingBox())?.height).toBeLessThan(64);
  await bar.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Start repair' }).click();
  await page.getByText('1 repair').first().waitFor();
  await expect
    .poll(async () => (await t.get(`/offline-repairs/${repair.id}`)).body.status)
    .toBe('OFFLINE_REPAIR');
});

it('a key pressed before the rows load, or right before Enter, is not lost', async ({ t }) => {
  const [first] = [await newRepair(t), await newRepair(t)];
  const page = await openPageAs('Repairs', t, 'STAFF');
  let response = () => {};
  const answered = new Promise<void>((resolve) => {
    response = resolve;
  });
  await page.route('**/admin/api/offline-repairs?*', async (route) => {
    await answered;
    await route.continue();
  });
  await page.goto('/admin/offline-repairs?status=OFFLINE_DIAGNOSTICS');
  await page.getByRole('heading', { name: 'Repairs', level: 2 }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Shift');
  await expect.poll(() => page.evaluate(`document.activeElement.tagName`)).toBe('BODY');
  response();
  await expectFocus(page.getByRole('link', { name: first.rmaNumber }));
  await page.reload();
  await page.getByRole('link', { name: first.rmaNumber }).waitFor();
  await page.evaluate(`for (const key of ['j', 'Enter'])
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`);
  await title(page, first.rmaNumber).waitFor();
});
