import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { expectAccessible, openAs } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

/** Words of the API: codes, names of fields and of headers. */
const OF_THE_API = /[A-Z]{3,}_[A-Z]|Retry-After|request-credit|\bRMA\b(?!-)/;

describe('people read their own words, not those of the API', () => {
  it('where a move is not open any more, in the report of many, and in an export', async () => {
    const t = await harness();
    const { body: trade } = await t.post('/trade-returns', tradeBody());
    const other = await newPerson(t, { role: 'STAFF' });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/trade-returns?open=all');
    await page.getByRole('checkbox', { name: `Select ${trade.rmaNumber}` }).check();
    await page
      .getByRole('region', { name: 'Selected rows' })
      .getByRole('button', { name: 'Approve' })
      .click();
    await other.post(`/trade-returns/${trade.id}/reject`, {});
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    const failure = dialog.getByRole('listitem');
    await failure.getByText('Rejected').waitFor();
    expect(await failure.innerText()).not.toMatch(OF_THE_API);
    await dialog.getByRole('button', { name: 'Done' }).click();

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const csv = await readFile(await download.path(), 'utf8');
    expect(csv).toContain(`${trade.rmaNumber},Rejected,`);
    expect(csv).not.toMatch(OF_THE_API);
  });

  it('where they were too quick', async () => {
    const t = await harness();
    const { body: repair } = await t.post('/offline-repairs', repairBody());
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin/offline-repairs/${repair.id}`);
    await page.getByRole('textbox', { name: 'Add a note' }).fill('Rang the customer');
    await page.route('**/notes', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '20' },
        json: {
          statusCode: 429,
          error: 'Too Many Requests',
          docs: '/docs/errors#RATE_LIMITED',
          message: 'Too many requests: wait as long as Retry-After says.',
          requestId: 'r',
        },
      }),
    );
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('alert').getByText('Too many at once; try again in 20 seconds.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Add a note' }).inputValue()).toBe('Rang the customer');
  });
});

describe('a shop that cannot write', () => {
  it('has no live buttons, and says why and what to do', async () => {
    const t = await harness();
    const { body: repair } = await t.post('/offline-repairs', repairBody());
    await t.ctx.db
      .updateTable('shops')
      .set({ subscription: 'inactive' })
      .where('id', '=', t.shop.id)
      .execute();
    const admin = await openAs(t, 'ADMIN');
    await admin.goto(`/admin/offline-repairs/${repair.id}`);
    await admin.getByText('The subscription is inactive').waitFor();
    for (const name of ['Begin repair', 'Add note'])
      expect(await admin.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true);
    await expectAccessible(admin);
    await admin.getByRole('button', { name: 'Begin repair' }).click({ force: true });
    expect(await admin.getByRole('dialog').count()).toBe(0);
    await admin.getByRole('link', { name: 'To Plan and usage' }).click();
    await admin.getByRole('heading', { name: 'Plan and usage', level: 2 }).waitFor();

    const staff = await openAs(t, 'STAFF');
    await staff.goto('/admin/trade-returns');
    await staff.getByText('Ask an Admin of your shop').waitFor();
    expect(await staff.getByRole('button', { name: 'New trade return' }).isDisabled()).toBe(true);
  });

  it('whose month is full makes no more, but moves what it has', async () => {
    const t = await harness({ allowance: 1 });
    const { body: repair } = await t.post('/offline-repairs', repairBody());
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs');
    await page.getByText('All 1 returns of this month are used').waitFor();
    expect(await page.getByRole('button', { name: 'New repair' }).isDisabled()).toBe(true);
    await page.goto('/admin/offline-repairs/new');
    await page.getByRole('button', { name: 'Create repair' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Create repair' }).isDisabled()).toBe(true);
    await page.goto(`/admin/offline-repairs/${repair.id}`);
    expect(await page.getByRole('button', { name: 'Begin repair' }).isEnabled()).toBe(true);
  });
});

/** Of what has such a label: the colour of its border, and of what is behind it. */
const coloursOf = (label: string) => `(() => {
  let at = document.querySelector('[aria-label="${label}"]');
  const border = getComputedStyle(at).borderTopColor;
  const background = () => getComputedStyle(at).backgroundColor;
  while (background() === 'rgba(0, 0, 0, 0)') at = at.parentElement;
  return [border, background()];
})()`;

/** How bright a colour is, as WCAG reckons it. */
const luminance = (colour: string): number => {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrastOf = (colours: [string, string]): number => {
  const [dark = 0, light = 0] = colours.map(luminance).sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
};

const expectSeen = async (page: Page, label: string): Promise<void> => {
  await page.locator(`[aria-label="${label}"]`).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const contrast = async () => contrastOf((await page.evaluate(coloursOf(label))) as [string, string]);
    await expect.poll(contrast, { message: `${label}, ${colorScheme}` }).toBeGreaterThan(3);
  }
};

it('what is not chosen or not done is seen as well as what is', async () => {
  const t = await harness();
  const page = await openAs(t, 'STAFF');
  await page.goto('/admin/');
  await expectSeen(page, 'To do');
  await t.post('/offline-repairs', repairBody());
  await page.goto('/admin/offline-repairs');
  await expectSeen(page, 'Select all on this page');
});

it('the address of the service leads a person to the app, and tells a program what it told before', async () => {
  const t = await harness();
  const page = await openAs(t, 'STAFF');
  await page.goto('/');
  await page.getByRole('heading', { name: 'Overview', level: 2 }).waitFor();
  for (const accept of ['application/json', '*/*']) {
    const answer = await fetch(t.url, { headers: { accept }, redirect: 'manual' });
    expect(answer.status).toBe(404);
    expect(((await answer.json()) as { message: string }).message).toContain('/docs');
  }
});
