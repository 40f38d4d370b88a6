import { expect } from 'vitest';
import { expectAccessible, openPageAs } from '../support/browser.ts';
import { expectFocus, newRepair, newTradeReturn, openSearch, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

it('the search runs commands, and starts with what was opened last', async ({ t }) => {
  const [repair, trade] = [await newRepair(t), await newTradeReturn(t)];
  const page = await openPageAs('Today', t, 'ADMIN');
  const dialog = await openSearch(page);
  const options = dialog.getByRole('option');
  await page.keyboard.type('audit');
  await options.filter({ hasText: 'Settings: Audit log' }).waitFor();
  await page.keyboard.press('Enter');
  await title(page, 'Audit log').waitFor();

  for (const [path, { id, rmaNumber }] of [
    ['offline-repairs', repair],
    ['trade-returns', trade],
  ] as const) {
    await page.goto(`/admin/${path}/${id}`);
    await title(page, rmaNumber).waitFor();
  }
  await openSearch(page);
  // The open return is not among them.
  const recent = dialog.getByRole('group', { name: 'Recent' }).getByRole('option');
  await recent.filter({ hasText: repair.rmaNumber }).waitFor();
  expect(await recent.count()).toBe(1);
  await expectAccessible(page);
  const part = Promise.withResolvers<void>();
  await page.route(/\/assets\/print-page-.*\.js$/, (route) => part.promise.then(() => route.continue()));
  await page.keyboard.type('print');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('ids')).toBe(trade.id);
  await openSearch(page);
  // The page is shown only now, and does not take the focus from the search.
  part.resolve();
  await page.getByRole('group', { name: 'Paper', includeHidden: true }).waitFor();
  await expectFocus(dialog.getByRole('combobox'));
  for (const { rmaNumber } of [trade, repair]) await recent.filter({ hasText: rmaNumber }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();
});

it('the search shows no settings to Staff', async ({ t }) => {
  const page = await openPageAs('Repairs', t, 'STAFF');
  const dialog = await openSearch(page);
  await page.keyboard.type('team');
  await dialog.getByText('Nothing found for “team”').waitFor();
  expect(await dialog.getByRole('option').count()).toBe(0);
});

it('results precede commands, unless the whole name of a command was typed', async ({ t }) => {
  const ada = await newRepair(t);
  const page = await openPageAs('Account', t, 'ADMIN');
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  const options = dialog.getByRole('option');
  const search = async (text: string) => {
    await openSearch(page);
    await page.keyboard.type(text);
  };
  // "ad" also matches a word for "New repair".
  await search('ad');
  await options.filter({ hasText: 'Ada Pereira' }).waitFor();
  await options.filter({ hasText: 'New repair' }).waitFor();
  await page.keyboard.press('Enter');
  await title(page, ada.rmaNumber).waitFor();

  await newRepair(t, { orderNumber: 'TEAM-7', customerName: 'Team Seven' });
  await search('team');
  await options.filter({ hasText: 'Team Seven' }).waitFor();
  await page.keyboard.press('Enter');
  await title(page, 'Team').waitFor();
  // A return whose order number is exactly this word comes first.
  const own = await newRepair(t, { orderNumber: 'Team' });
  await search('Team');
  await options.filter({ hasText: 'This order' }).waitFor();
  await page.keyboard.press('Enter');
  await title(page, own.rmaNumber).waitFor();

  // Enter before the response waits for it.
  const response = Promise.withResolvers<void>();
  await page.route('**/admin/api/search?*', async (route) => {
    await response.promise;
    await route.continue();
  });
  await search('history');
  await page.keyboard.press('Enter');
  expect(await dialog.count()).toBe(1);
  response.resolve();
  await title(page, 'Audit log').waitFor();
});

it('a number is found without its prefix and zeros', async ({ t }) => {
  for (let i = 0; i < 12; i++) await newRepair(t, { orderNumber: `SO-7${i}` });
  const page = await openPageAs('Account', t, 'STAFF');
  const dialog = await openSearch(page);
  await page.keyboard.type('7');
  await dialog.getByRole('option').filter({ hasText: 'This number' }).first().waitFor();
  await page.keyboard.press('Enter');
  await title(page, '#RMA-000007').waitFor();
  await page.goto('/admin/offline-repairs');
  await page.getByRole('textbox', { name: 'Search number, customer, phone, serial …' }).fill('#7');
  await page.getByText('1 repair', { exact: true }).waitFor();
  await page.goto('/admin/offline-repairs/new');
  await page.getByRole('combobox', { name: /^Scan or type/ }).fill('rma-7');
  await page.keyboard.press('Enter');
  await page.getByText('Filled in from #RMA-000007').waitFor();
});
