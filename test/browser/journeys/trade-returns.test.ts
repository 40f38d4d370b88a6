import { expect } from 'vitest';
import { newPerson } from '../../support/admin.ts';
import { expectAccessible, openAs, openPageAs } from '../../support/browser.ts';
import { journey } from '../../support/browser-journey.ts';
import {
  closeBy,
  emailAt,
  exported,
  field,
  fillIn,
  newTradeReturn,
  rowOf,
  TRADE_FIELDS,
} from '../../support/browser-pages.ts';
import { sharedHarness } from '../../support/harness.ts';

const harness = sharedHarness();

/** Words of the API, not of people: codes, names of fields and of headers. */
const OF_THE_API = /[A-Z]{3,}_[A-Z]|Retry-After|request-credit|\bRMA\b(?!-)/;

journey(['/trade-returns'], 'selected trade returns are moved, but for one a colleague moved', async () => {
  const t = await harness();
  const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
  const other = await newPerson(t, { role: 'STAFF' });
  const page = await openAs(t, 'STAFF');
  await page.goto('/admin/trade-returns?open=all');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await other.post(`/trade-returns/${second.id}/reject`, {});
  const bar = page.getByRole('region', { name: 'Selected rows' });
  await bar.waitFor();
  await expectAccessible(page);
  await bar.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve: 2 trade returns' });
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByText('Approved: 1 of 2').waitFor();
  await dialog.getByRole('link', { name: second.rmaNumber }).waitFor();
  await dialog.getByRole('listitem').getByText('Rejected').waitFor();
  expect(await dialog.getByRole('listitem').innerText()).not.toMatch(OF_THE_API);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await bar.getByText('1 trade return selected').waitFor();
  await rowOf(page, first.rmaNumber).getByText('Approved').waitFor();
  await rowOf(page, second.rmaNumber).getByText('Rejected').waitFor();
  expect((await t.get(`/trade-returns/${first.id}`)).body.status).toBe('TRADE_APPROVED');
  const { text } = await exported(page);
  expect(text).toContain(`${second.rmaNumber},Rejected,`);
  expect(text).not.toMatch(OF_THE_API);
});

journey(['/trade-returns/new'], 'the form keeps several items through a lost connection', async () => {
  const t = await harness();
  const page = await openPageAs('New trade return', t, 'STAFF');
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByText('fields need another look.').waitFor();
  expect(await field(page, 'Company').getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  await fillIn(page, TRADE_FIELDS);
  await page.getByRole('button', { name: 'Add an item' }).click();
  const items = [
    ['Item 1', 'LAMP-OAK', '4', '120.5'],
    ['Item 2', 'LAMP-ASH', '2', '10'],
  ] as const;
  for (const [legend, SKU, Quantity, price] of items)
    await fillIn(page.getByRole('group', { name: legend }), {
      SKU,
      Quantity,
      Product: 'Table lamp',
      'Price of one': price,
    });
  await page.getByText('Total 502').waitFor();

  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByText('The service cannot be reached').waitFor();
  expect(await field(page, 'Company').inputValue()).toBe('Northwind Interiors');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByRole('link', { name: 'Print slip' }).waitFor();
});

journey(['/trade-returns/$id'], 'a trade return is led to its end by an Admin', async () => {
  const t = await harness();
  const { id, rmaNumber } = await newTradeReturn(t);
  const email = emailAt(t, 'clerk');
  const page = await openAs(t, 'ADMIN', { email });
  await page.goto(`/admin/trade-returns/${id}`);
  const moves = page.getByRole('group', { name: 'What can be done' });
  const story = page.getByLabel('What happened, newest first');
  await story.getByText('created this return').waitFor();
  await expectAccessible(page);
  const steps = [
    ['Approve', 'changed the status', 'TRADE_APPROVED'],
    ['Receive', 'changed the status', 'TRADE_RECEIVED'],
    ['Request credit', 'requested the credit', 'TRADE_CREDIT_REQUESTED'],
    ['Resolve', 'resolved it', 'TRADE_RESOLVED'],
  ] as const;
  for (const [label, words, status] of steps) {
    await moves.getByRole('button', { name: label, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `${label}: ${rmaNumber}` });
    await dialog.getByLabel('Note').fill(`Note of: ${label}`);
    await closeBy(dialog, label);
    await story.getByText(`Note of: ${label}`).waitFor();
    expect(await story.innerText()).toContain(`${email} (staff) ${words}`);
    expect((await t.get(`/trade-returns/${id}`)).body.status).toBe(status);
  }
  await moves.getByText('This trade return is finished: no move is open any more.').waitFor();
  expect(await moves.getByRole('button').allTextContents()).toEqual(['More']);
});
