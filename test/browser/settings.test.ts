import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newUser, PASSWORD } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import {
  expectAccessible,
  look,
  openAs,
  openPageAs,
  openWindow,
  saidAt,
  signIn,
} from '../support/browser.ts';
import { harness } from '../support/harness.ts';

const toPage = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
  await page.getByRole('heading', { name, level: 2 }).waitFor();
};

const rowOf = (page: Page, words: string | RegExp) =>
  page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') })
    .filter({ hasText: words });

const pick = async (page: Page, name: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

/** Labels of passwords also name the buttons that show them. */
const password = (page: Page, label: string) => page.getByLabel(label).and(page.locator('input'));

describe('the team', () => {
  it('takes somebody in, who signs in, rises and goes', async () => {
    const t = await harness();
    const page = await openPageAs('Team', t, 'ADMIN');
    await page.getByRole('button', { name: 'Invite person' }).click();
    const form = page.getByRole('dialog', { name: 'Invite a person' });
    await form.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com');
    await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
    expect(await form.getByRole('radio', { name: 'Staff' }).isChecked()).toBe(true);
    await form.getByRole('button', { name: 'Give them a password instead' }).click();
    await form.getByRole('button', { name: 'Suggest a strong one' }).click();
    const suggested = await password(page, 'Password').inputValue();
    await form.getByRole('button', { name: 'Add person' }).click();
    await page.getByText('Grace Muller can sign in now.').waitFor();
    await rowOf(page, 'grace@example.com').getByRole('cell', { name: 'Staff', exact: true }).waitFor();

    const theirs = await openWindow(t);
    await signIn(theirs, 'grace@example.com', suggested);
    expect(await theirs.getByRole('link', { name: 'Team' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Change Grace Muller' }).click();
    const change = page.getByRole('dialog', { name: 'Change Grace Muller' });
    expect(await change.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Grace Muller');
    await change.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
    await change.getByRole('radio', { name: 'Admin' }).check();
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Grace Hopper is saved.').waitFor();
    await rowOf(page, 'grace@example.com').getByRole('rowheader', { name: 'Grace Hopper' }).waitFor();
    await rowOf(page, 'grace@example.com').getByRole('cell', { name: 'Admin', exact: true }).waitFor();
    await theirs.reload();
    await toPage(theirs, 'Team');

    await pick(page, 'Grace Hopper', 'Remove from the team');
    await page
      .getByRole('dialog', { name: 'Remove Grace Hopper?' })
      .getByRole('button', { name: 'Remove person' })
      .click();
    await page.getByText('Grace Hopper is removed.').waitFor();
    await rowOf(page, 'grace@example.com').waitFor({ state: 'detached' });
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  });

  it('keeps its last Admin', async () => {
    const t = await harness();
    const email = 'clerk@example.com';
    const page = await openPageAs('Team', t, 'ADMIN', { email });
    await page.getByRole('button', { name: `Change ${email}` }).click();
    const change = page.getByRole('dialog', { name: `Change ${email}` });
    await change.getByRole('radio', { name: 'Staff' }).check();
    await change.getByText('This is you').waitFor();
    await change.getByRole('button', { name: 'Save' }).click();
    const refusal = 'The shop needs an Admin: make somebody else one first.';
    await change.getByRole('alert').filter({ hasText: refusal }).waitFor();
    await change.getByRole('button', { name: 'Cancel' }).click();
    await rowOf(page, email).getByRole('cell', { name: 'Admin', exact: true }).waitFor();

    await pick(page, email, 'Remove from the team');
    const remove = page.getByRole('dialog', { name: `Remove ${email}?` });
    await remove.getByRole('button', { name: 'Remove person' }).click();
    await remove.getByRole('alert').filter({ hasText: refusal }).waitFor();
  });

  it('says at the input that an address is taken, and sets a new password', async () => {
    const t = await harness();
    const { email } = await newUser(t, { role: 'STAFF' });
    const page = await openPageAs('Team', t, 'ADMIN');
    await page.getByRole('button', { name: 'Invite person' }).click();
    const form = page.getByRole('dialog', { name: 'Invite a person' });
    const address = form.getByRole('textbox', { name: 'E-mail' });
    await address.fill(email);
    await form.getByRole('button', { name: 'Invite' }).click();
    await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
    expect(await saidAt(address)).not.toBe('');
    await form.getByRole('button', { name: 'Cancel' }).click();

    await pick(page, email, 'Set a password');
    await password(page, 'New password').fill('quite another password');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText(`${email} has a new password.`).waitFor();
    const theirs = await openWindow(t);
    await signIn(theirs, email, 'quite another password');
  });
});

it('the page of the team stands in the address', async () => {
  const t = await harness();
  const page = await openAs(t, 'ADMIN');
  await page.goto('/admin/settings/team?page=3');
  await page.getByText('This page is empty').waitFor();
  await page.getByRole('button', { name: 'To the first page' }).click();
  await rowOf(page, 'You').waitFor();
  expect(new URL(page.url()).search).toBe('');
});

describe('dangerous goods', () => {
  it('are found by the rules that were saved', async () => {
    const t = await harness();
    const page = await openPageAs('Dangerous goods', t, 'ADMIN');
    await page.getByText('There are no rules').waitFor();
    await page.getByRole('textbox', { name: 'Add a SKU' }).fill('BATT-*');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const rules = page.getByRole('region', { name: 'Rules' });
    await rules.getByText('Every SKU that begins with BATT-').waitFor();
    await rules.getByText('Not saved yet').waitFor();

    const sku = page.getByRole('textbox', { name: 'SKU to try' });
    const verdict = page.getByRole('status').filter({ hasText: /\S/ });
    await sku.fill('BATT-18V');
    await verdict.filter({ hasText: 'Yes, dangerous. It fits BATT-*.' }).waitFor();
    await sku.fill('batt-18v');
    await verdict
      .filter({ hasText: 'No. No rule fits it. BATT-* would, but for upper and lower case.' })
      .waitFor();

    const battery = repairBody({
      faultyItem: { sku: 'BATT-18V', productName: 'Battery', quantity: 1, price: 89 },
    });
    expect((await t.post('/offline-repairs', battery)).body.isDangerous).toBe(false);
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('The rules are saved.').waitFor();
    await rules.getByText('Not saved yet').waitFor({ state: 'detached' });
    expect((await t.post('/offline-repairs', battery)).body.isDangerous).toBe(true);
    expect((await t.post('/offline-repairs', repairBody())).body.isDangerous).toBe(false);

    await page.getByRole('button', { name: 'Remove BATT-*' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await rules.getByText('BATT-*', { exact: true }).waitFor();
  });

  it('are not left unsaved without a question', async () => {
    const t = await harness();
    const page = await openPageAs('Dangerous goods', t, 'ADMIN');
    await page.getByRole('textbox', { name: 'Add a SKU' }).fill('AERO-1');
    await page.keyboard.press('Enter');
    await page.getByText('Exactly this SKU').waitFor();
    const asked: string[] = [];
    page.once('dialog', (question) => {
      asked.push(question.message());
      void question.dismiss();
    });
    const team = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Team' });
    await team.click();
    await expect.poll(() => asked).toEqual(['Leave this page? The changed rules are not saved yet.']);
    await page.getByText('Exactly this SKU').waitFor();
    page.once('dialog', (question) => void question.accept());
    await team.click();
    await page.getByRole('heading', { name: 'Team', level: 2 }).waitFor();
  });
});

describe('plan and usage', () => {
  it('shows how much of an allowance is used', async () => {
    const t = await harness({ allowance: 1200 });
    await t.post('/offline-repairs', repairBody());
    await t.post('/trade-returns', tradeBody());
    const page = await openPageAs('Plan and usage', t, 'ADMIN');
    await page.getByRole('region', { name: 'Plan' }).getByText('Scale', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Subscription' }).getByText('Active', { exact: true }).waitFor();
    await page.getByText('2 returns', { exact: true }).waitFor();
    await page.getByText('of 1,200', { exact: true }).waitFor();
    await page.getByRole('progressbar', { name: '2 of 1,200 returns used' }).waitFor();
    await page.getByText('1,198 left until').waitFor();
    await page.getByText('By plan: 1,200 new returns a calendar month are included.').waitFor();
  });

  it('shows use that is billed up to a cap, and a plan without the API', async () => {
    const t = await harness({ usageCap: 50 });
    await t.post('/offline-repairs', repairBody());
    await t.ctx.db
      .updateTable('shops')
      .set({ plan: 'GROWTH', subscription: 'inactive' })
      .where('id', '=', t.shop.id)
      .execute();
    const page = await openPageAs('Plan and usage', t, 'ADMIN');
    await page.getByRole('region', { name: 'Plan' }).getByText('Without the External API').waitFor();
    await page.getByRole('region', { name: 'Subscription' }).getByText('Inactive', { exact: true }).waitFor();
    await page.getByText('1 return', { exact: true }).waitFor();
    await page.getByText('up to a cap of 50 a calendar month').waitFor();
  });
});

it('the audit log tells what was just done, and by whom', async () => {
  const t = await harness();
  const email = 'clerk@example.com';
  await newUser(t, { role: 'STAFF', email: 'grace@example.com' });
  const page = await openPageAs('Dangerous goods', t, 'ADMIN', { email });
  await page.getByRole('textbox', { name: 'Add a SKU' }).fill('BATT-*');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save rules' }).click();
  await page.getByText('The rules are saved.').waitFor();
  await toPage(page, 'Team');
  await page.getByRole('button', { name: 'Change grace@example.com' }).click();
  await page.getByRole('radio', { name: 'Admin' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('grace@example.com is saved.').waitFor();
  await toPage(page, 'External API');
  await page.getByRole('button', { name: 'Edit Till' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Till, Bremen');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Till, Bremen is saved.').waitFor();

  await toPage(page, 'Audit log');
  const said = page.getByRole('rowheader');
  await said.first().waitFor();
  expect((await said.allTextContents()).slice(0, 3)).toEqual([
    'Changed an API client',
    'Changed a person',
    'Changed the dangerous-goods rules',
  ]);
  for (const words of ['Changed an API client', 'Changed a person', 'Changed the dangerous-goods rules'])
    await rowOf(page, words).getByRole('cell', { name: email }).waitFor();
  await rowOf(page, 'Changed a person').getByRole('button', { name: 'Details' }).click();
  await page.getByRole('img', { name: 'to' }).waitFor();
  await page.getByRole('definition').filter({ hasText: 'StaffAdmin' }).waitFor();
  await rowOf(page, 'Changed the dangerous-goods rules').getByRole('button', { name: 'Details' }).click();
  await page.getByRole('definition').filter({ hasText: 'BATT-*' }).waitFor();
});

it('people change their own password', async () => {
  const t = await harness();
  const email = 'clerk@example.com';
  const page = await openPageAs('Account and password', t, 'STAFF', { email });
  const present = password(page, 'Current password');
  const next = password(page, 'New password');
  const change = page.getByRole('button', { name: 'Change password' });
  await present.fill('not my password');
  await next.fill('quite another password');
  await change.click();
  await expect.poll(() => saidAt(present)).toContain('This is not your current password.');
  expect(await next.inputValue()).toBe('quite another password');

  const elsewhere = await openWindow(t);
  await signIn(elsewhere, email);
  await present.fill(PASSWORD);
  await change.click();
  await page.getByText('Your password is changed.').waitFor();
  expect(await next.inputValue()).toBe('');
  await page.reload();
  await page.getByRole('heading', { name: 'Account and password', level: 2 }).waitFor();
  await elsewhere.reload();
  await elsewhere.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  await signIn(elsewhere, email, 'quite another password');
});

it('axe finds nothing in the dialogs, in light and in dark', { timeout: 60_000 }, async () => {
  const t = await harness();
  const email = 'clerk@example.com';
  const page = await openPageAs('External API', t, 'ADMIN', { email });
  const expectAccessibleInBoth = async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await look(page, { scheme });
      await expectAccessible(page, scheme);
    }
  };
  const inDialog = async (button: string, title: string, item?: string) => {
    if (item) await pick(page, button, item);
    else await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog', { name: title }).getByRole('button', { name: 'Cancel' }).waitFor();
    await expectAccessibleInBoth();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await inDialog('Edit Till', 'Edit Till');
  await inDialog('Replace Till', 'Replace Till?');
  await inDialog('Revoke Till', 'Revoke Till?');
  await page.getByRole('button', { name: 'New client' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Kiosk');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog', { name: 'Kiosk is ready' }).waitFor();
  await expectAccessibleInBoth();
  await page.getByLabel('I have stored the key and the secret').check();
  await page.getByRole('button', { name: 'Done' }).click();
  await toPage(page, 'Team');
  await inDialog('Invite person', 'Invite a person');
  await inDialog(`Change ${email}`, `Change ${email}`);
  await inDialog(email, `Remove ${email}?`, 'Remove from the team');
});
