import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../../support/admin.ts';
import { expectAccessibleDialog, openAs, openAt, openMove, openPageAs } from '../../support/browser.ts';
import {
  closeBy,
  emailAt,
  exported,
  field,
  fillIn,
  newTradeReturn,
  plainText,
  rowOf,
  TRADE_FIELDS,
} from '../../support/browser-pages.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';

const it = itWith(sharedHarness());

/** Words of the API that people should not read: codes, and names of fields and headers. */
const OF_THE_API = /[A-Z]{3,}_[A-Z]|Retry-After|request-credit|\bRMA\b(?!-)/;

const finishReceiving = async (page: Page): Promise<void> => {
  await page.keyboard.press('F9');
  await closeBy(page.getByRole('dialog', { name: 'Finish receiving?' }), 'Finish receiving');
};

it('selected trade returns are moved, except one that a colleague moved', async ({ t }) => {
  const [first, second] = [await newTradeReturn(t), await newTradeReturn(t)];
  const other = await newPerson(t, { role: 'STAFF' });
  const page = await openAt('/trade-returns?open=all', t, 'STAFF');
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await other.post(`/trade-returns/${second.id}/reject`, {});
  const bar = page.getByRole('region', { name: 'Selected rows' });
  await bar.waitFor();
  await bar.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('1 done, 1 failed').waitFor();
  await page.getByRole('button', { name: 'Show' }).click();
  const dialog = page.getByRole('dialog', { name: 'Approve: 1 failed' });
  await expectAccessibleDialog(page);
  await dialog.getByRole('link', { name: second.rmaNumber }).waitFor();
  await dialog.getByRole('listitem').getByText('Rejected').waitFor();
  expect(await dialog.getByRole('listitem').innerText()).not.toMatch(OF_THE_API);
  await closeBy(dialog, 'Close');
  await bar.getByText('1 trade return selected').waitFor();
  await rowOf(page, first.rmaNumber).getByText('Approved').waitFor();
  await rowOf(page, second.rmaNumber).getByText('Rejected').waitFor();
  const { text } = await exported(page);
  expect(text).toContain(`${second.rmaNumber},Rejected,`);
  expect(text).not.toMatch(OF_THE_API);
});

it('the form keeps several items through a lost connection', async ({ t }) => {
  const page = await openPageAs('New trade return', t, 'STAFF');
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByText('fields need another look.').waitFor();
  expect(await field(page, 'Company').getAttribute('aria-invalid')).toBe('true');
  await fillIn(page, TRADE_FIELDS);
  await fillIn(page, {
    'SKU, line 1': 'LAMP-OAK',
    'Product, line 1': 'Table lamp',
    'Quantity, line 1': '4',
    'Unit price, line 1': '120.5',
  });
  await page.getByRole('button', { name: 'Add line' }).click();
  await pasteInto(
    page.getByLabel('SKU, line 2'),
    'Item no\tPrice\tQty\tDescription\r\nLAMP-ASH\t10\t2\tTable lamp\r\nLAMP-ELM\t1.5\t1\t"Lamp ""XL"""\r\n',
  );
  await page.getByText('3 lines, 7 pieces, total 503.50').waitFor();
  expect(await page.getByLabel('Product, line 3').inputValue()).toBe('Lamp "XL"');
  await page.getByRole('button', { name: 'Remove line 3' }).click();
  await page.getByText('2 lines, 6 pieces, total 502.00').waitFor();

  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByText('The service cannot be reached').waitFor();
  expect(await field(page, 'Company').inputValue()).toBe('Northwind Interiors');
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Create trade return' }).click();
  await page.getByRole('link', { name: 'Print slip' }).waitFor();
});

/** Pastes the text of a spreadsheet. The script is a text, since the types of the browser are not known here. */
const pasteInto = async (input: Locator, text: string): Promise<void> => {
  await input.focus();
  await input.page().evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
};

const LINES = 40;
const manyItems = Array.from({ length: LINES }, (_, i) => ({
  sku: `SKU-${String(i + 1).padStart(3, '0')}`,
  productName:
    i === 37 ? 'Stehleuchte „Bogenlampe Großraum“ mit drehbarem Schirm und Fußschalter' : `Lamp ${i + 1}`,
  quantity: i === LINES - 1 ? 5 : 1,
  price: 10.05,
}));

it('forty lines are received with a scanner and no mouse, wide and narrow, and the credit is for accepted units', async ({
  t,
  staff,
}) => {
  for (const { width, count, credit, declared } of [
    { width: 1280, count: LINES, credit: 432.15, declared: '442.20' },
    { width: 390, count: 10, credit: 130.65, declared: '140.70' },
  ]) {
    const items = manyItems.slice(-count);
    const { id, rmaNumber } = await newTradeReturn(t, { items });
    const page = await openAs(t, 'STAFF', { width });
    await staff.post(`/trade-returns/${id}/approve`, {});
    await page.goto(`/admin/trade-returns/${id}/receive`);
    await page.getByRole('heading', { name: `Receive ${rmaNumber}` }).waitFor();
    const scan = async (text: string) => {
      await page.keyboard.insertText(text);
      await page.keyboard.press('Enter');
    };
    for (const { sku, quantity } of items)
      for (let n = 0; n < quantity; n += 1) await scan(sku.toLowerCase());
    await page.getByText(`${count + 4} of ${count + 4} pieces`).waitFor();
    await scan(items[0]?.sku ?? '');
    await page.getByText('is complete: all 1 counted').waitFor();
    await scan('KETTLE-9');
    await page.getByText('is not on this return').waitFor();
    expect(await page.getByLabel(`Received of line ${count}`).inputValue()).toBe('5');
    await page.getByLabel(`Accepted of line ${count}`).focus();
    await page.keyboard.insertText('4');
    await page.getByLabel(`Why not all of line ${count} were accepted`).focus();
    await page.keyboard.insertText('One has no plug');
    await page.getByText(`credit ${credit} of ${declared}`).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await finishReceiving(page);
    await page.getByRole('heading', { name: rmaNumber, exact: true }).waitFor();
    await page.getByText(`and ${count - 5} more lines`).waitFor();
    const { status, creditAmount } = (await t.get(`/trade-returns/${id}`)).body;
    expect({ status, creditAmount }).toEqual({ status: 'TRADE_RECEIVED', creditAmount: credit });
  }
});

it("counts survive a reload and a colleague's counts; the credit is shown, and changed with a note", async ({
  t,
  staff,
}) => {
  const { id, rmaNumber } = await newTradeReturn(t, {
    items: [1, 2, 3].map((quantity, i) => ({ ...manyItems[i], quantity })),
  });
  await staff.post(`/trade-returns/${id}/approve`, {});
  const page = await openAt(`/trade-returns/${id}/receive`, t, 'STAFF');
  await page.getByLabel('Received of line 3').fill('4');
  await page.getByText('At most 3').waitFor();
  await page.getByLabel('Received of line 3').fill('1,250');
  await page.getByText('Did you mean 1250 or 1.25?').waitFor();
  expect(await page.getByLabel('Accepted of line 3').getAttribute('placeholder')).toBe('');
  await page.getByLabel('Received of line 3').fill('2');
  await page.reload();
  await page.getByText('What you typed before is still here.').waitFor();
  await staff.post(`/trade-returns/${id}/receive`, { lines: [{ line: 1, received: 1 }] });
  await page.getByRole('button', { name: 'Save, more to come' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'This was counted meanwhile' });
  await alert.getByRole('button', { name: 'Save mine anyway' }).click();
  await page.getByText('Line 3: 2 received').waitFor();
  const { items } = (await t.get(`/trade-returns/${id}`)).body;
  expect(items.map(({ received }: { received: number }) => received)).toEqual([1, 0, 2]);
  await openMove(page, 'Receive');
  await page.getByRole('button', { name: 'Finish receiving' }).click();
  // The question says what will happen.
  const question = page.getByRole('dialog', { name: 'Finish receiving?' });
  await question.getByText('3 of 6 pieces, credit 30.15 of 60.30; 3 missing.').waitFor();
  await question.getByText('what is missing is not expected any more').waitFor();
  await expectAccessibleDialog(page);
  await closeBy(question, 'Cancel');
  expect((await t.get(`/trade-returns/${id}`)).body.status).toBe('TRADE_APPROVED');
  await finishReceiving(page);
  await openMove(page, 'Correct what arrived');
  await page.getByLabel('Received of line 2').fill('1');
  await page.getByRole('button', { name: 'Save corrections' }).click();
  await openMove(page, 'Request credit');
  const dialog = page.getByRole('dialog', { name: `Request credit: ${rmaNumber}` });
  await dialog.getByText('Credit for accepted items: 40.20 of 60.30 declared').waitFor();
  await expectAccessibleDialog(page);
  await dialog.getByLabel('Other amount').fill('30');
  await dialog.getByRole('button', { name: 'Request credit' }).click();
  await expect.poll(() => dialog.getByLabel('Note').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Note').fill('Boxes were opened');
  await dialog.getByRole('button', { name: 'Request credit' }).click();
  await page.getByText('Credit 30.00 instead of 40.20').waitFor();
  await page.getByText('as requested').waitFor();
  await page.goto(`/admin/trade-returns/${id}/receive`);
  await page.getByText('The counts of this return can no longer be changed.').waitFor();
  await page.goto('/admin/trade-returns?open=all');
  const row = rowOf(page, rmaNumber);
  await row.getByText('3 lines, 6 pieces').waitFor();
  await row.getByText('Credit 30.00').waitFor({ state: 'attached' });
});

it('an Admin takes a trade return through all its moves', async ({ t }) => {
  const { id, rmaNumber } = await newTradeReturn(t);
  const email = emailAt(t, 'clerk');
  const page = await openAt(`/trade-returns/${id}`, t, 'ADMIN', { email });
  const moves = page.getByRole('group', { name: 'Actions' });
  const story = page.getByLabel('What happened, newest first');
  await story.getByText('created this return').waitFor();
  const steps = [
    ['Approve', 'changed status to Approved'],
    ['Request credit', 'requested the credit'],
    ['Resolve', 'resolved it'],
  ] as const;
  for (const [label, words] of steps) {
    if (label === 'Request credit') {
      await moves.getByRole('button', { name: 'Receive', exact: true }).click();
      await page.getByRole('heading', { name: `Receive ${rmaNumber}` }).waitFor();
      await page.keyboard.press('F2');
      await finishReceiving(page);
      await story.getByText('changed status to').nth(1).waitFor();
    }
    await moves.getByRole('button', { name: label, exact: true }).click();
    if (label === 'Approve') {
      await page.getByRole('alert').getByRole('button', { name: 'Add note' }).click();
      await page.keyboard.insertText(`Note of: ${label}`);
      await page.keyboard.press('Control+Enter');
    } else {
      const dialog = page.getByRole('dialog', { name: `${label}: ${rmaNumber}` });
      await dialog.getByLabel('Note').fill(`Note of: ${label}`);
      await closeBy(dialog, label);
    }
    await story.getByText(`Note of: ${label}`).waitFor();
    expect(await plainText(story)).toContain(`${email} ${words}`);
  }
  await moves.getByText('This trade return is finished.').waitFor();
  expect(await moves.getByRole('button').allTextContents()).toEqual(['More']);
});

it('an unapproved return can be approved on the receiving page', async ({ t }) => {
  const { id } = await newTradeReturn(t);
  const page = await openAt(`/trade-returns/${id}/receive`, t, 'STAFF');
  await page.getByText('Not approved yet').waitFor();
  await page.getByRole('button', { name: 'Approve' }).press('Enter');
  await page.getByRole('button', { name: /^All arrived/ }).waitFor();
  // The focused element is gone with the page, so the return gets the focus.
  await page.keyboard.press('F2');
  await finishReceiving(page);
  await page.waitForURL(`**/trade-returns/${id}`);
  await expect.poll(() => page.evaluate(`document.activeElement.tagName`)).not.toBe('BODY');
});
