import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newPerson, PASSWORD } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { openAs, openMove } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

const newRepair = async (t: Harness, more: Record<string, unknown> = {}) =>
  (await t.post('/offline-repairs', repairBody(more))).body as { id: string; rmaNumber: string };

const openRepair = async (page: Page, { id, rmaNumber }: { id: string; rmaNumber: string }) => {
  await page.goto(`/admin/offline-repairs/${id}`);
  await page.getByRole('heading', { name: rmaNumber, level: 2 }).waitFor();
};

const dialogOf = (page: Page, label: string): Locator => page.getByRole('dialog', { name: label });

it('a move that came too late tells who did what, keeps what was typed, and is made only on purpose', async () => {
  const t = await harness();
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await openAs(t, 'STAFF');
  await openRepair(page, repair);
  await openMove(page, 'Begin repair');
  const dialog = dialogOf(page, 'Begin repair');
  await dialog.getByLabel('Repair notes').fill('New heating element');
  await ana.post(`/offline-repairs/${repair.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  await ana.post(`/offline-repairs/${repair.id}/close`, {});

  await dialog.getByRole('button', { name: 'Begin repair' }).click();
  await dialog.getByText('Ana Lopez resolved it (Write off)').waitFor();
  await dialog.getByText('Ana Lopez closed it').waitFor();
  await dialog.getByText('The disposition Write off stays until the repair is resolved again.').waitFor();
  expect(await dialog.getByLabel('Repair notes').inputValue()).toBe('New heating element');
  const now = async () => (await t.get(`/offline-repairs/${repair.id}`)).body;
  expect(await now()).toMatchObject({ status: 'OFFLINE_CLOSED', repairNotes: null });

  await dialog.getByRole('button', { name: 'Leave it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect((await now()).status).toBe('OFFLINE_CLOSED');
  await openMove(page, 'Begin repair');
  expect(await dialog.getByLabel('Repair notes').inputValue()).toBe('New heating element');
  await ana.post(`/offline-repairs/${repair.id}/begin-diagnostics`, {});
  await dialog.getByRole('button', { name: 'Begin repair' }).click();
  await dialog.getByText('Ana Lopez moved it to In diagnostics').waitFor();
  await dialog.getByRole('button', { name: 'Do it anyway' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await now()).toMatchObject({ status: 'OFFLINE_REPAIR', repairNotes: 'New heating element' });
  await page.getByText('Left from before: this repair was opened again.').waitFor();
});

it('keeps half-written notes and moves through clicks outside, Escape, a reload and the end of the session', async () => {
  const t = await harness();
  const repair = await newRepair(t);
  const email = 'clerk@example.com';
  const page = await openAs(t, 'STAFF', { email });
  await openRepair(page, repair);
  await page.getByLabel('Add a note').fill('The customer was');
  await openMove(page, 'Begin repair');
  const dialog = dialogOf(page, 'Begin repair');
  const notes = dialog.getByLabel('Repair notes');
  await notes.fill('New heating');
  await page.mouse.click(5, 450);
  expect(await notes.inputValue()).toBe('New heating');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await openMove(page, 'Begin repair');
  await dialog.getByText('What you typed before is still here.').waitFor();
  expect(await notes.inputValue()).toBe('New heating');
  await notes.fill('New heating element');
  await page.reload();
  await dialog.waitFor();
  expect(await notes.inputValue()).toBe('New heating element');

  await t.ctx.db.deleteFrom('sessions').execute();
  await dialog.getByRole('button', { name: 'Begin repair' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password').and(page.locator('input')).fill(PASSWORD);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'hidden' });
  expect(await notes.inputValue()).toBe('New heating element');
  await dialog.getByRole('button', { name: 'Begin repair' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.repairNotes).toBe('New heating element');
  expect(await page.getByLabel('Add a note').inputValue()).toBe('The customer was');
  await page.getByLabel('Add a note').fill('The customer was told');
  await page.getByRole('button', { name: 'Add note' }).click();
  await expect.poll(() => page.getByLabel('Add a note').inputValue()).toBe('');

  // Cancel means it: nothing of it comes back.
  await openMove(page, 'Resolve');
  await dialogOf(page, 'Resolve').getByLabel('Notes').fill('Nonsense');
  await dialogOf(page, 'Resolve').getByRole('button', { name: 'Cancel' }).click();
  await openMove(page, 'Resolve');
  expect(await dialogOf(page, 'Resolve').getByLabel('Notes').inputValue()).toBe('');
});

it('keeps half-typed corrections through a reload, and never puts back what somebody else corrected', async () => {
  const t = await harness();
  const ana = await newPerson(t, { role: 'STAFF', name: 'Ana Lopez' });
  const repair = await newRepair(t);
  const page = await openAs(t, 'STAFF');
  await openRepair(page, repair);
  await openMove(page, 'Correct details');
  const dialog = dialogOf(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada Pereira-Li');
  const { updatedAt } = (await ana.get(`/offline-repairs/${repair.id}`)).body;
  await ana.post(`/offline-repairs/${repair.id}/correct`, { serialNumber: 'SN-NEW', seen: updatedAt });

  await page.reload();
  await dialog.getByText('What you typed before is still here.').waitFor();
  expect(await dialog.getByLabel('Customer').inputValue()).toBe('Ada Pereira-Li');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Somebody else corrected this meanwhile').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect((await t.get(`/offline-repairs/${repair.id}`)).body).toMatchObject({
    customerName: 'Ada Pereira-Li',
    faultyItem: { serialNumber: 'SN-NEW' },
  });

  // Closed with Escape it stays closed after a reload, and has what was typed when it is opened again.
  await openMove(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada P');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.reload();
  await openMove(page, 'Correct details');
  await dialog.getByText('What you typed before is still here.').waitFor();
  expect(await dialog.getByLabel('Customer').inputValue()).toBe('Ada P');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.reload();
  await page.getByRole('heading', { name: repair.rmaNumber, level: 2 }).waitFor();
  expect(await dialog.count()).toBe(0);
});

it('a scan into "Add tracking" replaces the old number', async () => {
  const t = await harness();
  const repair = await newRepair(t, { tracking: { trackingNumber: 'OLD-1', carrierName: 'DHL' } });
  const page = await openAs(t, 'STAFF');
  await openRepair(page, repair);
  await openMove(page, 'Add tracking');
  const number = dialogOf(page, 'Add tracking').getByLabel('Tracking number');
  await expect.poll(() => number.evaluate((input) => input.matches(':focus'))).toBe(true);
  await page.keyboard.type('JD0146000034');
  expect(await number.inputValue()).toBe('JD0146000034');
});

it('walks through the list one came from by keys, corrects a typing error, and shows earlier returns', async () => {
  const t = await harness();
  const serial = { ...repairBody().faultyItem, serialNumber: 'SN-1' };
  const repairs = [
    await newRepair(t, { faultyItem: serial }),
    await newRepair(t, { customerEmail: 'other@example.com' }),
    await newRepair(t, { faultyItem: serial, customerName: 'Ada Perera' }),
  ];
  const page = await openAs(t, 'STAFF');
  await page.goto('/admin/offline-repairs?q=so-10042&sort=number&order=asc');
  await page.getByText('3 repairs', { exact: true }).waitFor();
  const numbers = await page.getByRole('rowheader').allTextContents();
  expect(new Set(numbers)).toEqual(new Set(repairs.map(({ rmaNumber }) => rmaNumber)));
  const title = (number = '') => page.getByRole('heading', { name: number, level: 2, exact: true }).waitFor();
  await page.getByRole('link', { name: numbers[0] ?? '' }).click();
  await title(numbers[0]);
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await page.keyboard.press('j');
  await title(numbers[1]);
  await page.keyboard.press('k');
  await title(numbers[0]);
  await page.getByRole('button', { name: 'Next repair' }).click();
  await title(numbers[1]);
  await page.getByText('2 of 3', { exact: true }).waitFor();

  // In a field and in a dialog they are letters.
  await page.getByLabel('Add a note').pressSequentially('juku?', { delay: 60 });
  await title(numbers[1]);
  expect(await page.getByLabel('Add a note').inputValue()).toBe('juku?');
  await page.getByLabel('Add a note').fill('');
  await page.getByRole('heading', { name: 'Timeline' }).click();
  // And so they are when a scanner types them.
  await page.keyboard.type('SN-juk');
  await page.reload();
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys on this page' });
  for (const label of ['Next repair', 'Previous repair', 'Back to the list'])
    await keys.getByText(label).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' });
  await title(numbers[1]);

  const third = repairs[2] ?? { id: '', rmaNumber: '' };
  await openRepair(page, third);
  const earlier = page.getByRole('listitem').filter({ hasText: repairs[0]?.rmaNumber ?? '' });
  await earlier.first().waitFor();
  await page.getByRole('heading', { name: 'Of this serial number' }).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const dialog = dialogOf(page, 'Correct details');
  await dialog.getByLabel('Customer').fill('Ada Pereira');
  await dialog.getByLabel('Serial number').fill('');
  await dialog.getByLabel('E-mail').fill('ada');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Must be an e-mail address.').waitFor();
  await dialog.getByLabel('E-mail').fill('ada@example.com');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('Customer: Ada Pereira (was: Ada Perera)').waitFor();
  await page.getByText('Serial number: none (was: SN-1)').waitFor();
  expect((await t.get(`/offline-repairs/${third.id}`)).body).toMatchObject({
    customerName: 'Ada Pereira',
    faultyItem: { serialNumber: null },
  });
  await page.keyboard.press('u');
  await page.getByText('3 repairs', { exact: true }).waitFor();
});
