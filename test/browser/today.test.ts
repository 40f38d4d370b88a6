import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { expectAccessible, goInside, look, openAs, openAt, openPageAs } from '../support/browser.ts';
import {
  age,
  emailAt,
  expectDisabled,
  type Made,
  newRepair,
  newTradeReturn,
  numbersOf,
  title,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const it = itWith(harness);

const setShop = ({ ctx, shop }: Harness, values: { plan?: 'GROWTH'; subscription: 'inactive' }) =>
  ctx.db.updateTable('shops').set(values).where('id', '=', shop.id).execute();

it('Today warns of a plan without the API, a read-only shop and an allowance nearly used', async () => {
  const t = await harness({ allowance: 5 });
  for (let i = 0; i < 4; i++) await newRepair(t);
  await setShop(t, { plan: 'GROWTH', subscription: 'inactive' });
  const page = await openPageAs('Today', t, 'STAFF');
  await page.getByText('Your subscription is inactive').waitFor();
  await page.getByText('does not include the External API').waitFor();
  await page.getByText("You have used 4 of this month's 5 returns").waitFor();
});

it('Today warns Admins of failing receivers, and leads to their deliveries', async ({ t }) => {
  const since = t.ctx.clock.now() - 3 * 3_600_000;
  await t.ctx.db
    .updateTable('api_clients')
    .set({ webhook_url: 'https://93.184.216.34/hooks' })
    .where('id', '=', t.client.id)
    .execute();
  await t.ctx.db
    .insertInto('webhook_failures')
    .values({
      receiver_id: t.client.id,
      since,
      failed_attempts: 12,
      dropped_deliveries: 3,
      last_error: 'connection refused (ECONNREFUSED)',
      notified_at: since + 600_000,
    })
    .execute();
  const staff = await openPageAs('Today', t, 'STAFF');
  await staff.getByText('There are no returns yet.').waitFor();
  expect(await staff.getByText('has not accepted a webhook').count()).toBe(0);
  const page = await openPageAs('Today', t, 'ADMIN');
  const notice = page.getByRole('status').filter({ hasText: 'has not accepted a webhook' });
  await notice.getByText('Till has not accepted a webhook for 3 hours.').waitFor();
  await notice.getByText('Last error: connection refused (ECONNREFUSED).').waitFor();
  for (const scheme of ['light', 'dark'] as const) {
    await look(page, { scheme });
    await expectAccessible(page, scheme);
  }
  await notice.getByRole('link', { name: 'Deliveries to Till' }).click();
  await title(page, 'Deliveries to Till').waitFor();
});

describe('a read-only shop', () => {
  it('has disabled buttons, and says why and what to do', async ({ t }) => {
    const repair = await newRepair(t);
    await setShop(t, { subscription: 'inactive' });
    const admin = await openAt(`/offline-repairs/${repair.id}`, t, 'ADMIN');
    await admin.getByText('Your subscription is inactive').waitFor();
    for (const name of ['Start repair', 'Add note'])
      await expectDisabled(admin.getByRole('button', { name, exact: true }));
    await expectAccessible(admin);
    await admin.getByRole('button', { name: 'Start repair' }).click({ force: true });
    expect(await admin.getByRole('dialog').count()).toBe(0);
    await admin.getByRole('main').getByRole('link', { name: 'Plan and usage' }).click();
    await title(admin, 'Plan and usage').waitFor();

    const staff = await openPageAs('Trade returns', t, 'STAFF');
    await staff.getByText('Ask an Admin of your shop').waitFor();
    await expectDisabled(staff.getByRole('button', { name: 'New trade return' }));
  });

  it('is different from one over its allowance, whose staff still create returns', async () => {
    const t = await harness({ allowance: 1 });
    const repair = await newRepair(t);
    const page = await openPageAs('Repairs', t, 'STAFF');
    await page.getByText('all 1 returns are used').waitFor();
    await page.getByText('You can still create returns here').waitFor();
    await page.getByRole('link', { name: 'New repair' }).first().waitFor();
    await goInside(page, '/admin/offline-repairs/new');
    await expect.poll(() => page.getByRole('button', { name: 'Create repair' }).isEnabled()).toBe(true);
    await goInside(page, `/admin/offline-repairs/${repair.id}`);
    await expect.poll(() => page.getByRole('button', { name: 'Start repair' }).isEnabled()).toBe(true);
  });
});

it('the plan page shows usage that is billed up to a cap, and a plan without the API', async () => {
  const t = await harness({ usageCap: 50 });
  await newRepair(t);
  await setShop(t, { plan: 'GROWTH', subscription: 'inactive' });
  const page = await openPageAs('Plan and usage', t, 'ADMIN');
  await page.getByText('No External API').waitFor();
  await page.getByText('Inactive', { exact: true }).waitFor();
  await page.getByText('1 return', { exact: true }).waitFor();
  await page.getByText('up to 50 a month').waitFor();
});

const DAY_MS = 86_400_000;

/** The links of the page that say how many rows they lead to. */
const figureLinks = async (page: Page) => {
  const links = await page
    .getByRole('main')
    .locator('a[href*="-repairs"], a[href*="-returns"]')
    .evaluateAll((found) =>
      found.map((link) => ({ href: link.getAttribute('href') ?? '', text: link.textContent ?? '' })),
    );
  return links
    .filter(({ href, text }) => /\?|(repairs|returns)$/.test(href) && /\d/.test(text))
    .map(({ href, text }) => ({ href, text, count: Number((/\d+$/.exec(text) ?? /^\d+/.exec(text))?.[0]) }));
};

it('figures of Today link to as many rows, and its lists are ordered by due time', async ({ t, admin }) => {
  await admin.put('/target-days', {
    targets: [
      { status: 'OFFLINE_DIAGNOSTICS', days: 3 },
      { status: 'TRADE_SUBMITTED', days: 1 },
    ],
  });
  const repairs = [await newRepair(t), await newRepair(t), await newRepair(t), await newRepair(t)];
  const returns: Made[] = [];
  for (let i = 0; i < 3; i++) returns.push(await newTradeReturn(t));
  for (const [i, days] of [0, 2, 5, 60].entries())
    await age(t, 'offline_repairs', repairs[i] as Made, days * DAY_MS);
  for (const [i, days] of [0, 4, 9].entries())
    await age(t, 'trade_returns', returns[i] as Made, days * DAY_MS);
  const email = emailAt(t, 'grace');
  const page = await openAs(t, 'STAFF', { email });
  const people: { id: string; email: string }[] = (await admin.get('/people')).body.items;
  const assigneeId = people.find((person) => person.email === email)?.id;
  await admin.post(`/offline-repairs/${repairs[2]?.id}/assign`, { assigneeId });
  await admin.post(`/trade-returns/${returns[1]?.id}/reject`);
  const waiting = { what: 'SUPPLIER', until: null, note: null };
  await admin.put(`/offline-repairs/${repairs[1]?.id}/waiting-for`, waiting);

  await page.goto('/admin/');
  const figure = (name: string, text: string) =>
    page.getByRole('region', { name, exact: true }).getByRole('link', { name: text, exact: true });
  await figure('Overdue', '2 repairs').waitFor();
  await figure('Overdue', '1 trade return').waitFor();
  await figure('Waiting', '1 repair').waitFor();
  await figure('New today', '1 repair').waitFor();
  await figure('Mine', '1 repair').waitFor();
  const next = page.getByRole('region', { name: 'Next up' }).getByRole('listitem');
  expect((await next.allTextContents()).map((text) => text.slice(0, 11))).toEqual(
    [repairs[3], returns[2], repairs[2], returns[0], repairs[0]].map((made) => made?.rmaNumber),
  );
  for (const name of ['All repairs', 'All trade returns'])
    await page.getByRole('region', { name: 'Next up' }).getByRole('link', { name }).waitFor();
  const shown = await figureLinks(page);
  expect(shown).toHaveLength(12);
  // Staff do not see what only Admins can change.
  await page.getByRole('link', { name: 'Figures' }).click();
  await page.getByText('As a table').click();
  expect(await page.getByText('Created this month').count()).toBe(0);
  // There are ten ages, seven open statuses and sixty days.
  const figures = await figureLinks(page);
  expect(figures.length).toBeGreaterThan(70);
  const worth = [...shown, ...figures.filter(({ count }, i) => count > 0 || i % 30 === 0)];
  expect(worth.length).toBeGreaterThan(20);
  for (const { href, count, text } of worth) {
    await goInside(page, href);
    const noun = href.includes('repairs') ? 'repair' : 'trade return';
    await page.getByText(`${count} ${noun}${count === 1 ? '' : 's'}`, { exact: true }).waitFor();
    await expect.poll(async () => (await numbersOf(page)).length, { message: text }).toBe(count);
  }
});

// The two never have the same date, so one of them differs from UTC.
const ZONES = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];

it.for(ZONES)("daily figures are for the reader's day in %s", async (timeZone, { t }) => {
  await newRepair(t);
  const page = await openAt('/?tab=figures', t, 'STAFF', { timeZone });
  await page.getByText('As a table').click();
  const today = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone }).format();
  const row = page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: today, exact: true }) });
  await row.getByRole('link', { name: '1', exact: true }).click();
  await title(page, 'Repairs').waitFor();
  await page.getByText('1 repair', { exact: true }).waitFor();
});

it('Today without targets does not say that everything is done while returns are open', async ({ t }) => {
  await newRepair(t);
  await newRepair(t);
  const page = await openPageAs('Today', t, 'ADMIN');
  const next = page.getByRole('region', { name: 'Next up' });
  await next.getByText('None of the 2 open returns has a due date.').waitFor();
  expect(await page.getByText('All caught up').count()).toBe(0);
  await next.getByRole('link', { name: 'Set targets' }).click();
  await title(page, 'Targets').waitFor();
  const staff = await openPageAs('Today', t, 'STAFF');
  await staff.getByText('None of the 2 open returns has a due date.').waitFor();
  expect(await staff.getByRole('link', { name: 'Set targets' }).count()).toBe(0);
});

it('Staff of an empty shop are led to a new repair only', async ({ t }) => {
  const page = await openPageAs('Today', t, 'STAFF');
  await page.getByText('There are no returns yet.').waitFor();
  expect(await page.getByRole('main').getByRole('link').allTextContents()).toEqual(['New repair']);
});

it('a partly received trade return is shown as such in the list, on its page and on Today', async ({
  t,
  admin,
}) => {
  await admin.put('/target-days', { targets: [{ status: 'TRADE_APPROVED', days: 3 }] });
  const whole = await newTradeReturn(t);
  const partly = await newTradeReturn(t, { tradeOrderNumber: 'TO-2' });
  for (const { id } of [whole, partly]) await admin.post(`/trade-returns/${id}/approve`, {});
  const lines = [{ line: 1, received: 1 }];
  expect(await admin.post(`/trade-returns/${partly.id}/receive`, { lines })).toHaveStatus(200);
  const page = await openPageAs('Today', t, 'STAFF');
  const next = page.getByRole('region', { name: 'Next up' }).getByRole('listitem');
  await next.filter({ hasText: partly.rmaNumber }).getByText('Partly received').waitFor();
  await next.filter({ hasText: whole.rmaNumber }).getByText('Approved').waitFor();
  await goInside(page, '/admin/?tab=figures');
  const oldest = page.getByRole('region', { name: 'Oldest open' }).getByRole('row');
  await oldest.filter({ hasText: partly.rmaNumber }).getByText('Partly received').waitFor();
  await goInside(page, '/admin/trade-returns');
  await page.getByRole('row').filter({ hasText: partly.rmaNumber }).getByText('Partly received').waitFor();
  await page.getByRole('row').filter({ hasText: whole.rmaNumber }).getByText('Approved').waitFor();
  await goInside(page, `/admin/trade-returns/${partly.id}`);
  await title(page, partly.rmaNumber).waitFor();
  await page.getByText('Partly received').waitFor();
});
