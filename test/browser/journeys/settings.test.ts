import { expect, it } from 'vitest';
import { newUser, PASSWORD } from '../../support/admin.ts';
import { repairBody } from '../../support/bodies.ts';
import {
  expectAccessibleDialog,
  openAs,
  openPageAs,
  openWindow,
  saidAt,
  signIn,
} from '../../support/browser.ts';
import {
  emailAt,
  expectFocus,
  newRepair,
  newTradeReturn,
  passwordField,
  pick,
  rowWith,
  signInTitle,
  title,
  toPage,
} from '../../support/browser-pages.ts';
import { sharedHarness } from '../../support/harness.ts';
import { startReceiver } from '../../support/receiver.ts';
import { webhookHarness } from '../../support/webhooks.ts';

const harness = sharedHarness();

// An address by number, so that no name has to be looked up.
const HOOK = 'https://93.184.216.34/hooks/handback';

it('a new API client shows a working key and secret once', async () => {
  const t = await harness();
  const page = await openPageAs('External API', t, 'ADMIN');
  await page.getByRole('button', { name: 'New client' }).click();

  const form = page.getByRole('dialog', { name: 'New API client' });
  await form.getByRole('textbox', { name: 'Name' }).fill('ERP, Hamburg');
  await form.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill(HOOK);
  await form.getByRole('button', { name: 'Create API client' }).click();

  const once = page.getByRole('dialog', { name: 'ERP, Hamburg is ready' });
  const key = await once.getByRole('textbox', { name: 'API key' }).inputValue();
  const secret = await once.getByRole('textbox', { name: 'Webhook secret' }).inputValue();
  expect(key).not.toBe('');
  expect(secret).not.toBe('');
  expect(await once.getByRole('group', { name: 'Try it' }).textContent()).toContain(key);
  expect(await t.get('/offline-repairs', { key })).toHaveStatus(200);

  // Neither the keyboard nor an unready hand closes it.
  const done = once.getByRole('button', { name: 'Done' });
  expect(await done.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await once.getByLabel('I have stored the key and the secret').check();
  await done.click();
  await once.waitFor({ state: 'hidden' });

  await rowWith(page, 'ERP, Hamburg').getByText(HOOK).waitFor();
  const kept = () => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  for (const where of [await page.content(), await kept()]) {
    expect(where).not.toContain(key);
    expect(where).not.toContain(secret);
  }
  await page.reload();
  await rowWith(page, 'ERP, Hamburg').waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await page.content()).not.toContain(secret);
});

it('a test event is the first delivery, without a return', async () => {
  const t = await webhookHarness();
  const receiver = await startReceiver();
  const client = await t.addReceiver(receiver.url);
  const page = await openAs(t, 'ADMIN');
  await page.goto(`/admin/settings/external-api/${client.id}`);
  await page.getByText('Nothing sent yet').waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  const [arrived] = await receiver.got(1);
  expect(arrived?.body.event).toBe('webhook.test');
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'webhook.test' }) });
  await row.getByText('Delivered').waitFor();
  expect(await row.getByRole('link').count()).toBe(0);
  await row.getByRole('button', { name: 'Details of webhook.test' }).click();
  const payload = page.getByRole('region', { name: 'What we send' });
  expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(arrived?.body);
});

it('a new user is invited, signs in, is promoted and removed', async () => {
  const t = await harness();
  const email = emailAt(t, 'grace');
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  await form.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
  expect(await form.getByRole('radio', { name: 'Staff' }).isChecked()).toBe(true);
  await form.getByRole('button', { name: 'Set a password instead' }).click();
  await form.getByRole('button', { name: 'Suggest a strong password' }).click();
  const suggested = await passwordField(page, 'Password').inputValue();
  await form.getByRole('button', { name: 'Add person' }).click();
  await page.getByText('Grace Muller can sign in now.').waitFor();
  await rowWith(page, email).getByRole('cell', { name: 'Staff', exact: true }).waitFor();

  const theirs = await openWindow(t);
  await signIn(theirs, email, suggested);
  expect(await theirs.getByRole('link', { name: 'Team' }).count()).toBe(0);

  await pick(page, 'Grace Muller', 'Edit');
  const change = page.getByRole('dialog', { name: 'Edit Grace Muller' });
  expect(await change.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Grace Muller');
  await change.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
  await change.getByRole('radio', { name: 'Admin' }).check();
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Grace Hopper saved.').waitFor();
  await rowWith(page, email).getByRole('rowheader', { name: 'Grace Hopper' }).waitFor();
  await rowWith(page, email).getByRole('cell', { name: 'Admin', exact: true }).waitFor();
  await theirs.reload();
  await toPage(theirs, 'Team');

  await pick(page, 'Grace Hopper', 'Remove from team');
  await page
    .getByRole('dialog', { name: 'Remove Grace Hopper?' })
    .getByRole('button', { name: 'Remove person' })
    .click();
  await page.getByText('Grace Hopper removed.').waitFor();
  await rowWith(page, email).waitFor({ state: 'detached' });
  await theirs.reload();
  await signInTitle(theirs).waitFor();
});

it('dangerous goods are saved as they are added and removed', async () => {
  const t = await harness();
  const page = await openPageAs('Dangerous goods', t, 'ADMIN');
  await page.getByText('No dangerous goods yet').waitFor();
  await page.getByRole('textbox', { name: 'SKU or prefix' }).fill('BATT-*');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const rules = page.getByRole('region', { name: 'Rules' });
  await rules.getByText('Every SKU that starts with BATT-').waitFor();
  await page.getByText('BATT-* added.').waitFor();

  const sku = page.getByRole('textbox', { name: 'SKU', exact: true });
  const verdict = page.getByRole('status').filter({ hasText: /angerous/ });
  await sku.fill('BATT-18V');
  await verdict.filter({ hasText: 'Dangerous: matches BATT-*.' }).waitFor();
  await sku.fill('batt-18v');
  await verdict.filter({ hasText: 'Not dangerous. BATT-* differs only in upper and lower case.' }).waitFor();

  const battery = repairBody({
    faultyItem: { sku: 'BATT-18V', productName: 'Battery', quantity: 1, price: 89 },
  });
  expect((await t.post('/offline-repairs', battery)).body.isDangerous).toBe(true);

  await page.getByRole('button', { name: 'Remove BATT-*' }).click();
  await page.getByText('BATT-* removed.').waitFor();
  await page.getByText('No dangerous goods yet').waitFor();
  expect((await t.post('/offline-repairs', battery)).body.isDangerous).toBe(false);
  await page.getByRole('button', { name: 'Undo' }).click();
  await rules.getByText('BATT-*', { exact: true }).waitFor();
  await page.reload();
  await rules.getByText('BATT-*', { exact: true }).waitFor();
});

it('an empty shop has a checklist that leads to the targets', async () => {
  const t = await harness();
  const page = await openAs(t, 'ADMIN');
  await page.goto('/admin/');
  const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await step('Connect your till or ERP').getByRole('img', { name: 'Done' }).waitFor();
  await step('Invite your team').getByRole('img', { name: 'To do' }).waitFor();
  await step('Set targets').getByRole('link', { name: 'Targets' }).click();
  await page.getByRole('textbox', { name: 'In diagnostics' }).fill('3');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Targets saved.').waitFor();
  await page.getByRole('link', { name: 'Today' }).click();
  await step('Set targets').getByRole('img', { name: 'Done' }).waitFor();
  await step('Create the first return').getByRole('link').click();
  await title(page, 'New repair').waitFor();
});

it('the plan shows how much of an allowance is used', async () => {
  const t = await harness({ allowance: 1200 });
  await newRepair(t);
  await newTradeReturn(t);
  const page = await openPageAs('Plan and usage', t, 'ADMIN');
  await page.getByRole('definition').filter({ hasText: 'Scale' }).waitFor();
  await page.getByRole('definition').filter({ hasText: 'Active' }).waitFor();
  await page.getByText('2 returns', { exact: true }).waitFor();
  await page.getByText('of 1,200', { exact: true }).waitFor();
  await page.getByRole('progressbar', { name: '2 of 1,200 returns used' }).waitFor();
  await page.getByText('1,198 left. The count starts again on').waitFor();
  await page.getByText('LIMIT_EXCEEDED').waitFor();
  await page.getByText('By plan: 1,200 new returns a month are included.').waitFor();
});

it('the audit log shows what was just done, and by whom', async () => {
  const t = await harness();
  const email = emailAt(t, 'clerk');
  const colleague = emailAt(t, 'grace');
  await newUser(t, { role: 'STAFF', email: colleague });
  const page = await openPageAs('Dangerous goods', t, 'ADMIN', { email });
  await page.getByRole('textbox', { name: 'SKU or prefix' }).fill('BATT-*');
  await page.keyboard.press('Enter');
  await page.getByText('BATT-* added.').waitFor();
  await toPage(page, 'Team');
  await pick(page, colleague, 'Edit');
  await page.getByRole('radio', { name: 'Admin' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${colleague} saved.`).waitFor();
  await toPage(page, 'External API');
  await pick(page, 'Till', 'Edit');
  await page.getByRole('textbox', { name: 'Name' }).fill('Till, Bremen');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Till, Bremen saved.').waitFor();

  await toPage(page, 'Audit log');
  const said = page.getByRole('rowheader');
  await said.first().waitFor();
  const changes = [
    `${email} edited API client Till, Bremen`,
    `${email} edited ${colleague}`,
    `${email} changed the dangerous goods`,
  ];
  expect((await said.allTextContents()).slice(0, 3)).toEqual(changes);
  await rowWith(page, `edited ${colleague}`).getByRole('button', { name: 'Details' }).click();
  await page.getByRole('img', { name: 'to' }).waitFor();
  await page.getByRole('definition').filter({ hasText: 'StaffAdmin' }).waitFor();
  await rowWith(page, 'changed the dangerous goods').getByRole('button', { name: 'Details' }).click();
  await page.getByRole('definition').filter({ hasText: 'BATT-*' }).waitFor();
});

it('users change their own password', async () => {
  const t = await harness();
  const email = emailAt(t, 'clerk');
  const page = await openPageAs('Account', t, 'STAFF', { email });
  const present = passwordField(page, 'Current password');
  const next = passwordField(page, 'New password');
  const open = page.getByRole('button', { name: 'Change your password' });
  const change = page.getByRole('button', { name: 'Change password' });
  await open.click();
  await expectFocus(present);
  await present.fill('not my password');
  await next.fill('quite another password');
  await change.click();
  await expect.poll(() => saidAt(present)).toContain('This is not your current password.');
  expect(await next.inputValue()).toBe('quite another password');

  await expectAccessibleDialog(page);
  const elsewhere = await openWindow(t);
  await signIn(elsewhere, email);
  await present.fill(PASSWORD);
  await change.click();
  await page.getByText('Password changed.').waitFor();
  await expectFocus(open);
  await page.reload();
  await title(page, 'Account').waitFor();
  await elsewhere.reload();
  await signInTitle(elsewhere).waitFor();
  await signIn(elsewhere, email, 'quite another password');
});
