import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson, type Person } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { goInside, openAs } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

const DAY_MS = 86_400_000;

const numbers = (page: Page): Promise<string[]> =>
  page
    .getByRole('main')
    .getByRole('link', { name: /^#RMA-/ })
    .allTextContents();
const poll = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 10_000 });
const rowOf = (page: Page, rmaNumber: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: rmaNumber, exact: true }) });

interface Made {
  id: string;
  rmaNumber: string;
}
const newRepair = async (t: Harness, more: object = {}): Promise<Made> =>
  (await t.post('/offline-repairs', repairBody(more as Record<string, unknown>))).body;

/** As if it had been made, and had its status, so much earlier. */
const age = async (t: Harness, table: 'offline_repairs' | 'trade_returns', { id }: Made, ms: number) => {
  const at = Date.now() - ms;
  await t.ctx.db
    .updateTable(table as 'offline_repairs')
    .set({ created_at: at, status_since: at, updated_at: at } as never)
    .where('id', '=', id)
    .execute();
};

describe('figures of the overview', () => {
  it('count open returns, and open exactly those', async () => {
    const t = await harness();
    const made = [await newRepair(t), await newRepair(t), await newRepair(t)];
    await t.post(`/offline-repairs/${made[0]?.id}/close`);
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/');
    await page.getByRole('link', { name: /^2\b/ }).last().click();
    await page.getByRole('heading', { name: 'Offline repairs', level: 2 }).waitFor();
    await poll(async () => (await numbers(page)).sort()).toEqual([made[1]?.rmaNumber, made[2]?.rmaNumber]);
  });

  it('all lead to as many rows as they say, of both kinds, by age, status and day', async () => {
    const t = await harness();
    const admin = await newPerson(t);
    await admin.put('/target-days', {
      targets: [
        { status: 'OFFLINE_DIAGNOSTICS', days: 3 },
        { status: 'TRADE_SUBMITTED', days: 1 },
      ],
    });
    const repairs = [await newRepair(t), await newRepair(t), await newRepair(t), await newRepair(t)];
    const returns: Made[] = [];
    for (let i = 0; i < 3; i++) returns.push((await t.post('/trade-returns', tradeBody())).body);
    for (const [i, days] of [0, 2, 5, 60].entries())
      await age(t, 'offline_repairs', repairs[i] as Made, days * DAY_MS);
    for (const [i, days] of [0, 4, 9].entries())
      await age(t, 'trade_returns', returns[i] as Made, days * DAY_MS);
    const email = 'grace@example.com';
    const page = await openAs(t, 'STAFF', { email });
    const me = (await admin.get('/people')).body.items.find(
      (person: { email: string }) => person.email === email,
    );
    await admin.post(`/offline-repairs/${repairs[2]?.id}/assign`, { assigneeId: me.id });
    await admin.post(`/trade-returns/${returns[1]?.id}/reject`);

    await page.goto('/admin/');
    await page.getByRole('region', { name: 'My work' }).getByRole('link', { name: '1 repair' }).waitFor();
    await page
      .getByRole('region', { name: 'Overdue' })
      .getByRole('link', { name: '1 trade return' })
      .waitFor();
    // Staff see nothing that only Admins can do something about.
    expect(await page.getByText('Created this month').count()).toBe(0);
    await page.getByText('As a table').click();
    const links = await page
      .getByRole('main')
      .locator('a[href*="-repairs"], a[href*="-returns"]')
      .evaluateAll((found) =>
        found.map((link) => ({
          href: link.getAttribute('href') ?? '',
          count: Number(
            (/\d+$/.exec(link.textContent ?? '') ?? /^\d+/.exec(link.textContent ?? ''))?.[0] ?? -1,
          ),
          text: link.textContent ?? '',
        })),
      );
    const figures = links
      .filter(({ href, text }) => href.includes('?') && text !== '')
      .concat(links.filter(({ href }) => /(repairs|returns)$/.test(href)));
    // Eight tiles, ten ages, eleven statuses, sixty days.
    expect(figures.length).toBeGreaterThan(80);
    const worth = figures.filter(({ count }, i) => count > 0 || i % 9 === 0);
    expect(worth.length).toBeGreaterThan(15);
    for (const { href, count, text } of worth) {
      await goInside(page, href);
      const noun = href.includes('repairs')
        ? count === 1
          ? 'repair'
          : 'repairs'
        : count === 1
          ? 'trade return'
          : 'trade returns';
      await page.getByText(`${count} ${noun}`, { exact: true }).waitFor();
      expect([text, (await numbers(page)).length]).toEqual([text, count]);
    }
  }, 120_000);

  // It is never the same day in both, so one of them has another day than UTC.
  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'of a day are those of the reader in %s',
    async (timeZone) => {
      const t = await harness();
      await newRepair(t);
      const page = await openAs(t, 'STAFF', { timeZone });
      await page.goto('/admin/');
      await page.getByText('As a table').click();
      const today = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone }).format();
      const row = page
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: today, exact: true }) });
      await row.getByRole('link', { name: '1', exact: true }).click();
      await page.getByRole('heading', { name: 'Offline repairs', level: 2 }).waitFor();
      await page.getByText('1 repair', { exact: true }).waitFor();
    },
  );

  it('are a checklist in a shop that has nothing yet', async () => {
    const t = await harness();
    const page = await openAs(t, 'ADMIN');
    await page.goto('/admin/');
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await step('Make an API client').getByRole('img', { name: 'Done' }).waitFor();
    await step('Invite your people').getByRole('img', { name: 'To do' }).waitFor();
    await step('Set targets').getByRole('link', { name: 'Targets' }).click();
    await page.getByRole('textbox', { name: 'Days in diagnostics' }).fill('3');
    await page.getByRole('button', { name: 'Save targets' }).click();
    await page.getByText('The targets are saved.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await step('Set targets').getByRole('img', { name: 'Done' }).waitFor();
    await step('Make the first return').getByRole('link').click();
    await page.getByRole('heading', { name: 'New repair', level: 2 }).waitFor();
  });
});

describe('the list', () => {
  it('finds by reference, tracking number, phone in any writing, and a part of the store', async () => {
    const t = await harness();
    const wanted = await newRepair(t, {
      externalRef: 'POS-88213',
      customerPhone: '+44 (20) 7946-0018',
      storeId: 'Harbour Road 7',
    });
    await newRepair(t);
    await t.post(`/offline-repairs/${wanted.id}/tracking`, {
      trackingNumber: 'JD0146000034',
      carrierName: 'DHL',
    });
    const page = await openAs(t, 'STAFF');
    for (const q of ['pos-88213', 'JD0146', '020 7946 0018', '442079460018']) {
      await page.goto(`/admin/offline-repairs?q=${encodeURIComponent(`"${q}"`)}`);
      await poll(() => numbers(page)).toEqual([wanted.rmaNumber]);
    }
    await page.goto('/admin/offline-repairs');
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    const store = page.getByLabel('Store', { exact: true }).and(page.locator('input'));
    await store.fill('harbour');
    await page.getByRole('option', { name: 'Harbour Road 7 · 1 open' }).waitFor();
    await store.press('Enter');
    await page.getByRole('button', { name: 'Remove filter: Store like “harbour”' }).waitFor();
    await poll(() => numbers(page)).toEqual([wanted.rmaNumber]);
    await page.getByRole('button', { name: 'Remove filter: Store like “harbour”' }).click();
    await poll(async () => (await numbers(page)).length).toBe(2);
  });

  it('says "yesterday" of yesterday, whatever the hour', async () => {
    const t = await harness();
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

  it('is the open work, oldest first; rows are assigned one by one and together', async () => {
    const t = await harness();
    const colleague: Person = await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
    const made = [await newRepair(t), await newRepair(t), await newRepair(t), await newRepair(t)];
    const [first, second, third, closed] = made as [Made, Made, Made, Made];
    await t.post(`/offline-repairs/${closed.id}/close`);
    await age(t, 'offline_repairs', first, 5 * DAY_MS);
    const admin = await newPerson(t);
    await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await poll(() => numbers(page)).toEqual([first.rmaNumber, second.rmaNumber, third.rmaNumber]);
    const views = page.getByRole('navigation', { name: 'Views' });
    expect(await views.getByRole('link', { name: /^Open/ }).getAttribute('aria-current')).toBe('page');
    await rowOf(page, first.rmaNumber).getByText('3 days overdue').waitFor();

    // Selecting a text opens nothing; a click does.
    const name = rowOf(page, second.rmaNumber).getByText('Ada Pereira');
    await name.dblclick({ position: { x: 10, y: 8 } });
    expect(await page.evaluate('String(window.getSelection())')).toMatch(/Ada|Pereira/);
    expect(new URL(page.url()).pathname).toBe('/admin/offline-repairs');

    const choose = async (person: string) => {
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('To whom').and(page.locator('input')).fill(person.slice(0, 5));
      await page.getByRole('option', { name: person }).click();
      await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
    };
    await page.getByRole('button', { name: `Assign ${first.rmaNumber}, now nobody` }).click();
    await choose('Grace Muller');
    await rowOf(page, first.rmaNumber).getByText('Grace Muller').waitFor();
    await page.getByRole('checkbox', { name: `Select ${second.rmaNumber}` }).check();
    await page.getByRole('checkbox', { name: `Select ${third.rmaNumber}` }).check();
    await page.getByRole('region', { name: 'Selected rows' }).getByRole('button', { name: 'Assign' }).click();
    await choose('Grace Muller');
    await rowOf(page, third.rmaNumber).getByText('Grace Muller').waitFor();
    expect((await colleague.get('/offline-repairs?assignee=me')).body.total).toBe(3);

    await views.getByRole('link', { name: /^Unassigned/ }).click();
    await page.getByText('No repairs like that').waitFor();
    await views.getByRole('link', { name: /^Overdue/ }).click();
    await poll(() => numbers(page)).toEqual([first.rmaNumber]);
    await views.getByRole('link', { name: /^All/ }).click();
    await poll(() => numbers(page)).toEqual([closed, third, second, first].map(({ rmaNumber }) => rmaNumber));
    await rowOf(page, closed.rmaNumber).getByText('Ada Pereira').click();
    await page.getByRole('heading', { name: closed.rmaNumber, level: 2 }).waitFor();
  });

  it('keeps filters under a name, for oneself and, by an Admin, for all', async () => {
    const t = await harness();
    const made = await newRepair(t, { storeId: 'west' });
    await newRepair(t);
    const page = await openAs(t, 'ADMIN');
    await page.goto('/admin/offline-repairs?store=west&sort=statusSince');
    await poll(() => numbers(page)).toEqual([made.rmaNumber]);
    await page.getByRole('button', { name: 'Save view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('West 🧭');
    await dialog.getByRole('checkbox', { name: 'Show it to everybody of the shop' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    // The focus stays where it was, on what the button has become.
    const focused = () => page.evaluate('document.activeElement.textContent');
    await poll(focused).toBe('Edit view');

    const staff = await openAs(t, 'STAFF');
    await staff.goto('/admin/offline-repairs');
    const tab = (at: Page, name: string) =>
      at.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
    await tab(staff, 'West 🧭 (shared)').click();
    await poll(() => numbers(staff)).toEqual([made.rmaNumber]);
    expect(await staff.getByRole('button', { name: 'Edit view' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Edit view' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Western');
    await dialog.getByRole('checkbox').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab(page, 'Western').waitFor();
    await staff.reload();
    await poll(() => numbers(staff)).toEqual([made.rmaNumber]);
    expect(await tab(staff, 'West').count()).toBe(0);
    await page.getByRole('button', { name: 'Edit view' }).click();
    await dialog.getByRole('button', { name: 'Delete this view' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await poll(async () => (await numbers(page)).length).toBe(2);
    expect(await tab(page, 'Western').count()).toBe(0);
    // The button is gone, so the focus goes to the view that is shown now.
    await poll(focused).toMatch(/^Open/);
    // A day is typed by keys, year and all.
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByLabel('Created from').focus();
    await page.keyboard.type('01022026', { delay: 60 });
    await poll(async () => page.getByLabel('Created from').inputValue()).toBe('2026-01-02');
    await poll(async () => new URL(page.url()).searchParams.get('createdFrom')).toMatch(/^2026-01-0[12]T/);
  });
});
