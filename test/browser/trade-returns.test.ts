import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { tradeBody } from '../support/bodies.ts';
import { openAs } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

const newTradeReturn = async (t: Harness, more: Record<string, unknown> = {}) => {
  const { status, body } = await t.post('/trade-returns', tradeBody(more));
  expect(status).toBe(201);
  return body as { id: string; rmaNumber: string };
};

const rowOf = (page: Page, rmaNumber: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: rmaNumber, exact: true }) });
const field = (at: Page | Locator, name: string): Locator => at.getByRole('textbox', { name, exact: true });
const chooseStatus = async (page: Page, label: string): Promise<void> => {
  const status = page.getByRole('combobox', { name: 'Status' });
  await status.selectOption((await status.getByRole('option', { name: label }).getAttribute('value')) ?? '');
};
const chooseOrigin = async (page: Page, label: string): Promise<void> => {
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('combobox', { name: 'Created by' }).selectOption(label);
};
const theTitle = (page: Page, name: string): Locator =>
  page.getByRole('heading', { name, level: 2, exact: true });

describe('the list of trade returns', () => {
  it('is filtered in the address, exported as it is filtered, and leads to each', async () => {
    const t = await harness();
    const person = await newPerson(t, { role: 'STAFF' });
    const { body: ofStaff } = await person.post(
      '/trade-returns',
      tradeBody({ companyName: 'Harbour Hotels' }),
    );
    const ofProgram = await newTradeReturn(t);
    await person.post(`/trade-returns/${ofStaff.id}/approve`, {});
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/trade-returns');
    await rowOf(page, ofProgram.rmaNumber).getByText('Northwind Interiors').waitFor();
    await rowOf(page, ofProgram.rmaNumber).getByText('4 × Oak table lamp').waitFor();
    await chooseStatus(page, 'Approved');
    await chooseOrigin(page, 'staff');
    await page.getByText('1 trade return', { exact: true }).waitFor();
    await field(page, 'Number, reference, customer, phone, serial …').fill('harbour');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('harbour');
    await page.reload();
    await rowOf(page, ofStaff.rmaNumber).getByText('Harbour Hotels').waitFor();
    expect(await rowOf(page, ofProgram.rmaNumber).count()).toBe(0);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      q: 'harbour',
      status: 'TRADE_APPROVED',
      origin: 'STAFF',
    });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const rows = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n').slice(1);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`${ofStaff.rmaNumber},Approved,TO-5501`);
    await page.getByRole('link', { name: ofStaff.rmaNumber }).click();
    await theTitle(page, ofStaff.rmaNumber).waitFor();
  });

  it('is empty at first', async () => {
    const t = await harness();
    const page = await openAs(t, 'ADMIN');
    await page.goto('/admin/trade-returns');
    await page.getByText('No trade returns yet').waitFor();
    await page.getByRole('link', { name: 'Create the first' }).click();
    await theTitle(page, 'New trade return').waitFor();
  });

  it('moves what is open of the selected, and tells of what somebody else was faster with', async () => {
    const t = await harness();
    const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
    const other = await newPerson(t, { role: 'STAFF' });
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/trade-returns?open=all');
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await other.post(`/trade-returns/${second.id}/reject`, {});
    const bar = page.getByRole('region', { name: 'Selected rows' });
    await bar.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve: 2 trade returns' });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('Approved: 1 of 2').waitFor();
    await dialog.getByRole('link', { name: second.rmaNumber }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await bar.getByText('1 trade return selected').waitFor();
    await rowOf(page, first.rmaNumber).getByText('Approved').waitFor();
    await rowOf(page, second.rmaNumber).getByText('Rejected').waitFor();
    expect((await t.get(`/trade-returns/${first.id}`)).body.status).toBe('TRADE_APPROVED');
  });
});

describe('a trade return', () => {
  it.each(['STAFF', 'ADMIN'] as const)('is led to its end by %s', async (role) => {
    const t = await harness();
    const { id, rmaNumber } = await newTradeReturn(t);
    const email = 'clerk@example.com';
    const page = await openAs(t, role, { email });
    await page.goto(`/admin/trade-returns/${id}`);
    const moves = page.getByRole('group', { name: 'What can be done' });
    const story = page.getByLabel('What happened, newest first');
    const steps = [
      ['Approve', 'moved it', 'TRADE_APPROVED'],
      ['Receive', 'moved it', 'TRADE_RECEIVED'],
      ['Request credit', 'requested the credit', 'TRADE_CREDIT_REQUESTED'],
      ['Resolve', 'resolved it', 'TRADE_RESOLVED'],
    ] as const;
    for (const [label, words, status] of steps) {
      await moves.getByRole('button', { name: label, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: `${label}: ${rmaNumber}` });
      await dialog.getByLabel('Note').fill(`Note of: ${label}`);
      await dialog.getByRole('button', { name: label, exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      await story.getByText(`Note of: ${label}`).waitFor();
      expect(await story.innerText()).toContain(`${email} (staff) ${words}`);
      expect((await t.get(`/trade-returns/${id}`)).body.status).toBe(status);
    }
    await moves.getByText('This trade return is finished: no move is open any more.').waitFor();
    expect(await moves.getByRole('button').allTextContents()).toEqual(['More']);
  });

  it('that somebody else moved meanwhile is explained, and shown as it stands', async () => {
    const t = await harness();
    const { id, rmaNumber } = await newTradeReturn(t);
    const other = await newPerson(t, { role: 'ADMIN' });
    const page = await openAs(t, 'STAFF');
    await page.goto(`/admin/trade-returns/${id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: `Approve: ${rmaNumber}` });
    await dialog.waitFor();
    expect((await other.post(`/trade-returns/${id}/reject`, { note: 'Too late' })).status).toBe(200);
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText(`${other.email} moved it to Rejected`).waitFor();
    await dialog.getByText('so “Approve” is not possible any more').waitFor();
    expect(await dialog.getByRole('button', { name: 'Do it anyway' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Leave it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('This trade return is finished').waitFor();
    await page.getByLabel('What happened, newest first').getByText(other.email).waitFor();
    expect((await t.get(`/trade-returns/${id}`)).body.status).toBe('TRADE_REJECTED');
  });
});

describe('the form for a trade return', () => {
  it('takes several items, keeps them through a lost connection', async () => {
    const t = await harness();
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/trade-returns/new');
    await page.getByRole('button', { name: 'Create trade return' }).click();
    await page.getByText('fields need another look.').waitFor();
    expect(await field(page, 'Company').getAttribute('aria-invalid')).toBe('true');
    for (const [name, text] of Object.entries({
      Company: 'Northwind Interiors',
      'Company id': 'company-118',
      Contact: 'Nora Wind',
      'E-mail': 'buying@northwind.example',
      'Trade order number': 'TO-5501',
      Reason: 'Damaged in transit',
      Street: '12 Harbour Road',
      Suburb: 'Port Melbourne',
      State: 'VIC',
      Postcode: '3207',
    }))
      await field(page, name).fill(text);
    await page.getByRole('button', { name: 'Add an item' }).click();
    const items = [
      ['Item 1', 'LAMP-OAK', '4', '120.5'],
      ['Item 2', 'LAMP-ASH', '2', '10'],
    ] as const;
    for (const [legend, sku, quantity, price] of items) {
      const item = page.getByRole('group', { name: legend });
      await field(item, 'SKU').fill(sku);
      await field(item, 'Product').fill('Table lamp');
      await field(item, 'Quantity').fill(quantity);
      await field(item, 'Price of one').fill(price);
    }
    await page.getByText('Total 502').waitFor();

    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Create trade return' }).click();
    await page.getByText('The service cannot be reached').waitFor();
    expect(await field(page, 'Company').inputValue()).toBe('Northwind Interiors');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Create trade return' }).click();
    await page.getByRole('link', { name: 'Print slip' }).waitFor();
  });
});
