import { describe, expect } from 'vitest';
import { expectAccessible, goInside, openAs, openPageAs } from '../support/browser.ts';
import { expectDisabled, newRepair, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const it = itWith(harness);

const setShop = ({ ctx, shop }: Harness, values: { plan?: 'GROWTH'; subscription: 'inactive' }) =>
  ctx.db.updateTable('shops').set(values).where('id', '=', shop.id).execute();

it('the overview warns of a plan without the API, a read-only shop and an allowance nearly used', async () => {
  const t = await harness({ allowance: 5 });
  for (let i = 0; i < 4; i++) await newRepair(t);
  await setShop(t, { plan: 'GROWTH', subscription: 'inactive' });
  const page = await openPageAs('Overview', t, 'STAFF');
  await page.getByText('The subscription is inactive').waitFor();
  await page.getByText('does not include the External API').waitFor();
  await page.getByText("4 of this month's 5 returns are used").waitFor();
});

describe('a shop that cannot write', () => {
  it('has no live buttons, and says why and what to do', async ({ t }) => {
    const repair = await newRepair(t);
    await setShop(t, { subscription: 'inactive' });
    const admin = await openAs(t, 'ADMIN');
    await admin.goto(`/admin/offline-repairs/${repair.id}`);
    await admin.getByText('The subscription is inactive').waitFor();
    for (const name of ['Begin repair', 'Add note'])
      await expectDisabled(admin.getByRole('button', { name, exact: true }));
    await expectAccessible(admin);
    await admin.getByRole('button', { name: 'Begin repair' }).click({ force: true });
    expect(await admin.getByRole('dialog').count()).toBe(0);
    await admin.getByRole('link', { name: 'To Plan and usage' }).click();
    await title(admin, 'Plan and usage').waitFor();

    const staff = await openPageAs('Trade returns', t, 'STAFF');
    await staff.getByText('Ask an Admin of your shop').waitFor();
    await expectDisabled(staff.getByRole('button', { name: 'New trade return' }));
  });

  it('whose month is full makes no more, but moves what it has', async () => {
    const t = await harness({ allowance: 1 });
    const repair = await newRepair(t);
    const page = await openPageAs('Offline repairs', t, 'STAFF');
    await page.getByText('All 1 returns of this month are used').waitFor();
    await expectDisabled(page.getByRole('button', { name: 'New repair' }));
    await goInside(page, '/admin/offline-repairs/new');
    await expectDisabled(page.getByRole('button', { name: 'Create repair' }));
    await goInside(page, `/admin/offline-repairs/${repair.id}`);
    await expect.poll(() => page.getByRole('button', { name: 'Begin repair' }).isEnabled()).toBe(true);
  });
});

it('the plan shows use that is billed up to a cap, and a plan without the API', async () => {
  const t = await harness({ usageCap: 50 });
  await newRepair(t);
  await setShop(t, { plan: 'GROWTH', subscription: 'inactive' });
  const page = await openPageAs('Plan and usage', t, 'ADMIN');
  await page.getByRole('region', { name: 'Plan' }).getByText('Without the External API').waitFor();
  await page.getByRole('region', { name: 'Subscription' }).getByText('Inactive', { exact: true }).waitFor();
  await page.getByText('1 return', { exact: true }).waitFor();
  await page.getByText('up to a cap of 50 a calendar month').waitFor();
});
