import { expect } from 'vitest';
import { expectAccessible, openPageAs } from '../support/browser.ts';
import { expectFocus, newRepair, newTradeReturn, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

it('the search runs commands, and begins with what was opened last', async ({ t }) => {
  const [repair, trade] = [await newRepair(t), await newTradeReturn(t)];
  const page = await openPageAs('Today', t, 'ADMIN');
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  const options = dialog.getByRole('option');
  const open = async () => {
    await page.keyboard.press('Control+k');
    await expectFocus(dialog.getByRole('combobox'));
  };

  await open();
  await page.keyboard.type('audit');
  await options.filter({ hasText: 'Settings: Audit log' }).waitFor();
  // A command waits for no answer.
  await page.keyboard.press('Enter');
  await title(page, 'Audit log').waitFor();

  for (const [path, { id, rmaNumber }] of [
    ['offline-repairs', repair],
    ['trade-returns', trade],
  ] as const) {
    await page.goto(`/admin/${path}/${id}`);
    await title(page, rmaNumber).waitFor();
  }
  await open();
  // The one that is open is not among them.
  const recent = dialog.getByRole('group', { name: 'Recent' }).getByRole('option');
  await recent.filter({ hasText: repair.rmaNumber }).waitFor();
  expect(await recent.count()).toBe(1);
  await expectAccessible(page);
  const part = Promise.withResolvers<void>();
  await page.route(/\/assets\/print-page-.*\.js$/, (route) => part.promise.then(() => route.continue()));
  await page.keyboard.type('print');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('ids')).toBe(trade.id);
  await open();
  // The page comes only now: it does not take the focus from the search.
  part.resolve();
  await page.getByRole('group', { name: 'Paper', includeHidden: true }).waitFor();
  await expectFocus(dialog.getByRole('combobox'));
  for (const { rmaNumber } of [trade, repair]) await recent.filter({ hasText: rmaNumber }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await title(page, repair.rmaNumber).waitFor();
});

it('the search offers Staff no settings', async ({ t }) => {
  const page = await openPageAs('Repairs', t, 'STAFF');
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog', { name: 'Search returns' });
  await expectFocus(dialog.getByRole('combobox'));
  await page.keyboard.type('team');
  await dialog.getByText('Nothing found for “team”').waitFor();
  expect(await dialog.getByRole('option').count()).toBe(0);
});
