import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { openAt } from '../../support/browser.ts';
import {
  age,
  closeBy,
  expectDisabled,
  expectValue,
  field,
  type Made,
  newRepair,
  newTradeReturn,
  rowOf,
  title,
} from '../../support/browser-pages.ts';
import { itWith } from '../../support/fixtures.ts';
import { type Harness, sharedHarness } from '../../support/harness.ts';

const it = itWith(sharedHarness());

const EMAIL = 'ada@planted.example';
const NAME = 'Ada Planted';

const closedRepair = async (t: Harness, more: Record<string, unknown> = {}): Promise<Made> => {
  const made = await newRepair(t, { customerName: NAME, customerEmail: EMAIL, ...more });
  await t.post(`/offline-repairs/${made.id}/close`);
  return made;
};

const find = async (page: Page, typed: string): Promise<void> => {
  await field(page, 'Email or phone').fill(typed);
  await page.getByRole('button', { name: 'Find' }).click();
};

const YEAR_MS = 365 * 86_400_000;

const openPage = async (t: Harness): Promise<Page> => {
  const page = await openAt('/settings/personal-data', t, 'ADMIN');
  await title(page, 'Personal data').waitFor();
  return page;
};

it('a customer is found, exported and erased', async ({ t }) => {
  const done = await closedRepair(t, { customerPhone: '+44 20 7946 0018', notes: 'Planted note' });
  const open = await newRepair(t, { customerName: NAME, customerEmail: 'ADA@Planted.example' });
  const trade = await newTradeReturn(t, { customerName: NAME, customerEmail: EMAIL });
  const page = await openPage(t);

  await find(page, 'Ada');
  await page.getByText('Enter a full email address, or a phone number with at least 5 digits.').waitFor();
  await find(page, 'other@planted.example');
  await page.getByText('No returns for other@planted.example.').waitFor();
  await find(page, '0044 (20) 79460018');
  await page.getByText('1 return for', { exact: false }).waitFor();
  await find(page, EMAIL);
  await page.getByText(`3 returns for ${EMAIL}`).waitFor();
  for (const { rmaNumber } of [done, open, trade]) await rowOf(page, rmaNumber).getByText(NAME).waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^customer-export-\d{4}-\d\d-\d\d\.json$/);
  const exported = JSON.parse(await readFile(await download.path(), 'utf8'));
  expect(exported.returns).toHaveLength(3);
  expect(JSON.stringify(exported)).toContain('Planted note');

  await page.getByRole('button', { name: 'Erase…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase a customer’s data' });
  await dialog.getByText(`1 return for ${EMAIL} will be erased. This can’t be undone.`).waitFor();
  await dialog.getByText('2 returns will not be erased').waitFor();
  await dialog.getByText(`Still open: ${trade.rmaNumber}, ${open.rmaNumber}`).waitFor();
  await dialog.getByRole('checkbox', { name: 'Erase open returns too' }).check();
  await dialog.getByText(`3 returns for ${EMAIL} will be erased.`).waitFor();
  await dialog.getByRole('checkbox', { name: 'Erase open returns too' }).uncheck();
  await dialog.getByRole('button', { name: 'Erase 1 return', exact: true }).click();
  await dialog.getByText('Required').waitFor();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Asked by letter');
  await dialog.getByRole('button', { name: 'Erase 1 return', exact: true }).click();
  await dialog.getByText('1 return erased.').waitFor();
  await dialog.getByText(`Still open: ${trade.rmaNumber}`).waitFor();
  await closeBy(dialog, 'Done');
  await page.getByText(`2 returns for ${EMAIL}`).waitFor();
});

it('scheduled erasure is turned on', async ({ t }) => {
  const old = await closedRepair(t);
  await age(t, 'offline_repairs', old, 2 * YEAR_MS);
  await closedRepair(t);
  const page = await openPage(t);
  const forgetting = page.getByRole('region', { name: 'Erase automatically' });
  const save = forgetting.getByRole('button', { name: /^Save/ });
  const repairs = forgetting.getByRole('switch', { name: 'Erase customer data from repairs' });
  const months = forgetting.getByRole('textbox', { name: 'Months until repairs are erased' });
  expect(await save.count()).toBe(0);
  await repairs.check();
  await expectValue(months, '24 months');
  await months.fill('25');
  await forgetting.getByText('No repair is that old yet. From now on this is checked every day.').waitFor();
  await months.fill('121');
  await forgetting.getByText('1 to 120 months').waitFor();
  await expectDisabled(save);
  await months.fill('12');
  await forgetting.getByText('This erases 1 repair within the next few minutes.').waitFor();
  await forgetting.getByRole('button', { name: 'Save and erase 1 return' }).click();
  await page.getByText('Saved.').waitFor();
  await save.waitFor({ state: 'detached' });
  await page.reload();
  await expectValue(months, '12 months');
});
