import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { openAs, openMove } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

const hasFocus = (input: Locator): Promise<boolean> => input.and(input.page().locator(':focus')).isVisible();
const focused = (page: Page) =>
  page.evaluate(
    `document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()`,
  );

it('the first row is a few keys away, and the focus returns when a dialog closes', async () => {
  const t = await harness();
  const { body: repair } = await t.post('/offline-repairs', repairBody());
  const page = await openAs(t, 'ADMIN');
  await page.goto('/admin/offline-repairs');
  await page.getByRole('link', { name: repair.rmaNumber }).waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the page');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the list');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe(repair.rmaNumber);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: repair.rmaNumber, level: 2 }).waitFor();

  await page.getByRole('button', { name: 'Begin repair' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect.poll(() => focused(page)).toBe('Begin repair');

  await page.goto('/admin/settings/team');
  await page.getByRole('button', { name: 'Invite person' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => focused(page)).toBe('Invite person');
});

it("a scanner's Enter goes on to the next field, and a scan replaces an old tracking number", async () => {
  const t = await harness();
  const tracking = { trackingNumber: 'OLD-1', carrierName: 'DHL' };
  const { body: repair } = await t.post('/offline-repairs', repairBody({ tracking }));
  const page = await openAs(t, 'STAFF');
  await page.goto(`/admin/offline-repairs/${repair.id}`);
  await openMove(page, 'Add tracking');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const number = dialog.getByLabel('Tracking number');
  await expect.poll(() => hasFocus(number)).toBe(true);
  await page.keyboard.type('NEW-22');
  await page.keyboard.press('Enter');
  expect(await number.inputValue()).toBe('NEW-22');
  await expect.poll(() => hasFocus(dialog.getByLabel('Carrier'))).toBe(true);
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'hidden' });
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.trackingNumber).toBe('NEW-22');

  await page.goto('/admin/offline-repairs/new');
  const serial = page.getByRole('textbox', { name: 'Serial number', exact: true });
  await serial.fill('SN-1');
  await page.keyboard.press('Enter');
  const quantity = page.getByRole('textbox', { name: 'Quantity', exact: true });
  await expect.poll(() => hasFocus(quantity)).toBe(true);
  expect(await page.getByText('another look').count()).toBe(0);
});
