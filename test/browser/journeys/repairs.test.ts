import { expect } from 'vitest';
import { expectAccessibleDialog, openAt, openMove, openPageAs } from '../../support/browser.ts';
import {
  closeBy,
  emailAt,
  expectValue,
  field,
  fillIn,
  newRepair,
  plainText,
  REPAIR_FIELDS,
  rowOf,
  title,
} from '../../support/browser-pages.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';

const it = itWith(sharedHarness());

it('two selected repairs are moved together, and the move is undone', async ({ t }) => {
  const [first, second, third] = [await newRepair(t), await newRepair(t), await newRepair(t)];
  const page = await openPageAs('Repairs', t, 'STAFF');
  await page.getByRole('checkbox', { name: `Select ${first.rmaNumber}` }).check();
  await page.getByRole('checkbox', { name: `Select ${second.rmaNumber}` }).check();
  const bar = page.getByRole('region', { name: 'Selected rows' });
  await bar.getByText('2 repairs selected').waitFor();
  await bar.getByRole('button', { name: 'Start repair' }).click();
  await page.getByText('Repair started: 2 repairs').waitFor();
  await bar.waitFor({ state: 'hidden' });
  await rowOf(page, first.rmaNumber).getByText('In repair').waitFor();
  await rowOf(page, second.rmaNumber).getByText('In repair').waitFor();
  await rowOf(page, third.rmaNumber).getByText('In diagnostics').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('2 repairs moved back. Their timelines have both changes.').waitFor();
  await rowOf(page, second.rmaNumber).getByText('In diagnostics').waitFor();
});

it('the repair form reports missing fields, then creates the repair', async ({ t }) => {
  const email = emailAt(t, 'clerk');
  const page = await openPageAs('New repair', t, 'STAFF', { email });
  await page.getByRole('button', { name: 'Create repair' }).click();
  await page.getByText(/^\d+ fields need another look\.$/).waitFor();
  expect(await field(page, 'Name').getAttribute('aria-invalid')).toBe('true');
  await fillIn(page, REPAIR_FIELDS);
  await page.getByText('another look').waitFor({ state: 'hidden' });

  await field(page, 'Email').fill('ada at example');
  await page.getByText('1 field needs another look.').waitFor();
  expect(await field(page, 'Email').getAttribute('aria-invalid')).toBe('true');
  await field(page, 'Email').fill('ada@example.com');
  await page.getByText('another look').waitFor({ state: 'hidden' });

  await page.getByRole('radio', { name: 'Swapped at counter' }).check();
  await page.getByRole('button', { name: 'Create repair' }).click();
  await page.getByRole('heading', { name: 'Store and order' }).waitFor();
  await page.getByLabel('What happened, newest first').getByText(email).waitFor();
});

it('a repair goes through its moves, and the timeline shows them', async ({ t }) => {
  const { id, rmaNumber } = await newRepair(t);
  const email = emailAt(t, 'clerk');
  const page = await openAt(`/offline-repairs/${id}`, t, 'STAFF', { email });
  await title(page, rmaNumber).waitFor();
  const story = page.getByLabel('What happened, newest first');
  await story.getByText('created this return').waitFor();
  const begin = async (label: string) => {
    await openMove(page, label);
    return page.getByRole('dialog', { name: `${label}: ${rmaNumber}` });
  };
  const told = (words: string) => expect.poll(() => plainText(story)).toContain(`${email} ${words}`);

  await openMove(page, 'Start repair with notes…');
  const repair = page.getByRole('dialog', { name: `Start repair: ${rmaNumber}` });
  await repair.getByLabel('Technician').fill('tech-12');
  await repair.getByLabel('Repair notes').fill('New heating element');
  await closeBy(repair, 'Start repair');
  await told('changed status to In repair');
  await story.getByText('Technician tech-12').waitFor();
  await page.getByText('New heating element').first().waitFor();

  const tracking = await begin('Add tracking');
  await tracking.getByRole('button', { name: 'Add tracking' }).click();
  await expect.poll(() => tracking.getByLabel('Tracking number').getAttribute('aria-invalid')).toBe('true');
  await tracking.getByLabel('Tracking number').fill('JD0146000034');
  await tracking.getByLabel('Carrier').fill('DHL');
  await closeBy(tracking, 'Add tracking');
  await told('added tracking');
  await story.getByText('Tracking JD0146000034 with DHL').waitFor();

  const resolve = await begin('Resolve');
  await expectAccessibleDialog(page);
  await resolve.getByRole('radio', { name: 'Write off' }).check();
  await resolve.getByLabel('Notes').fill('Beyond repair');
  await closeBy(resolve, 'Resolve');
  await told('set the outcome');
  await story.getByText('Write off').first().waitFor();
  await story.getByText('Beyond repair').waitFor();

  await openMove(page, 'Close');
  await told('closed it');

  await page.getByLabel('Add a note').fill('The customer was told');
  await page.getByRole('main').getByRole('button', { name: 'Add note' }).click();
  await told('added a note');
  await story.getByText('The customer was told').waitFor();
  await expectValue(page.getByLabel('Add a note'), '');
});
