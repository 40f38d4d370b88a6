import { expect } from 'vitest';
import { adminCaller, newUser, PASSWORD } from '../../support/admin.ts';
import { expectAccessible, openAt, openPageAs, saidAt } from '../../support/browser.ts';
import {
  emailAt,
  expectFocus,
  newRepair,
  newTradeReturn,
  passwordField,
  pick,
  rowWith,
  title,
  toPage,
} from '../../support/browser-pages.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';
import { startReceiver } from '../../support/receiver.ts';

const harness = sharedHarness();
const it = itWith(harness);

// An IP address needs no DNS.
const HOOK = 'https://93.184.216.34/hooks/handback';

it('a new API client shows its key and secret once, and cannot be left by mistake meanwhile', async ({
  t,
}) => {
  const page = await openPageAs('Team', t, 'ADMIN');
  await toPage(page, 'External API');
  await page.getByRole('button', { name: 'New client' }).click();
  const form = page.getByRole('dialog', { name: 'New API client' });
  await form.getByRole('textbox', { name: 'Name' }).fill('ERP, Hamburg');
  await form.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill(HOOK);
  await page.keyboard.press('Control+Enter');

  const once = page.getByRole('dialog', { name: 'ERP, Hamburg is ready' });
  const key = await once.getByRole('textbox', { name: 'API key' }).inputValue();
  const secret = await once.getByRole('textbox', { name: 'Webhook secret' }).inputValue();
  expect(secret).not.toBe('');
  expect(await once.getByRole('group', { name: 'Try it' }).textContent()).toContain(key);
  expect(await t.get('/offline-repairs', { key })).toHaveStatus(200);

  // Neither the way back, nor Escape, nor a click before the key was stored closes it.
  const asked: string[] = [];
  page.once('dialog', (question) => {
    asked.push(question.message());
    void question.dismiss();
  });
  await page.evaluate('history.back()');
  await expect.poll(() => asked).toEqual(['Leave this page? You won’t be able to see the API key again.']);
  const done = once.getByRole('button', { name: 'Done' });
  expect(await done.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await once.getByLabel('I have stored the key and the secret').check();
  await done.click();
  await once.waitFor({ state: 'hidden' });

  const row = rowWith(page, 'ERP, Hamburg');
  await row.getByText(HOOK).waitFor();
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  const before = await page.content();
  await page.reload();
  await row.waitFor();
  for (const kept of [stored, before, await page.content()]) {
    expect(kept).not.toContain(key);
    expect(kept).not.toContain(secret);
  }
});

it('a test event is the first delivery, without a return', async ({ sending: t }) => {
  const receiver = await startReceiver();
  const client = await t.addReceiver(receiver.url);
  const page = await openAt(`/settings/external-api/${client.id}`, t, 'ADMIN');
  await page.getByText('Nothing sent yet').waitFor();
  await page.getByRole('button', { name: 'Send test event' }).click();
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'webhook.test' }) });
  await row.getByText('Delivered').waitFor();
  expect(await row.getByRole('link').count()).toBe(0);
  expect(receiver.received.map(({ body }) => body.event)).toEqual(['webhook.test']);
});

it('a new user is added with a password, edited, given another password and removed', async ({ t }) => {
  const email = emailAt(t, 'grace');
  const taken = await newUser(t);
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  const address = form.getByRole('textbox', { name: 'Email' });
  await address.fill(taken.email);
  await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
  expect(await form.getByRole('radio', { name: 'Staff' }).isChecked()).toBe(true);
  await form.getByRole('button', { name: 'Set a password instead' }).click();
  await form.getByRole('button', { name: 'Suggest a strong password' }).click();
  await form.getByRole('button', { name: 'Add person' }).click();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => saidAt(address)).not.toBe('');
  await address.fill(email);
  const suggested = await passwordField(page, 'Password').inputValue();
  await form.getByRole('button', { name: 'Add person' }).click();
  await page.getByText('Grace Muller can sign in now.').waitFor();
  const row = rowWith(page, email);
  await row.getByRole('cell', { name: 'Staff', exact: true }).waitFor();
  const signsIn = (password: string) => adminCaller(t).post('/session', { email, password });
  expect(await signsIn(suggested)).toHaveStatus(200);

  await pick(page, 'Grace Muller', 'Edit');
  const change = page.getByRole('dialog', { name: 'Edit Grace Muller' });
  expect(await change.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Grace Muller');
  await change.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
  await change.getByRole('radio', { name: 'Admin' }).check();
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Grace Hopper saved.').waitFor();
  await row.getByRole('rowheader', { name: 'Grace Hopper' }).waitFor();
  await row.getByRole('cell', { name: 'Admin', exact: true }).waitFor();

  await pick(page, 'Grace Hopper', 'Set a password');
  await passwordField(page, 'New password').fill('quite another password');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Grace Hopper has a new password.').waitFor();
  expect(await signsIn('quite another password')).toHaveStatus(200);

  await pick(page, 'Grace Hopper', 'Remove from team');
  const question = page.getByRole('dialog', { name: 'Remove Grace Hopper?' });
  await question.getByRole('button', { name: 'Remove person' }).click();
  await page.getByText('Grace Hopper removed.').waitFor();
  await row.waitFor({ state: 'detached' });
});

it('dangerous goods are saved as they are added and removed', async ({ t }) => {
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

  await page.getByRole('button', { name: 'Remove BATT-*' }).click();
  await page.getByText('BATT-* removed.').waitFor();
  await page.getByText('No dangerous goods yet').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await rules.getByText('BATT-*', { exact: true }).waitFor();
  await page.reload();
  await rules.getByText('BATT-*', { exact: true }).waitFor();
});

it('an empty shop has a checklist in an order that a new Admin can follow', async ({ t }) => {
  const page = await openPageAs('Today', t, 'ADMIN');
  const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await step('Connect your till or ERP').getByRole('img', { name: 'Done' }).waitFor();
  await step('Invite your team').getByRole('img', { name: 'To do' }).waitFor();
  const links = page.getByRole('region', { name: 'Ready in five steps' }).getByRole('link');
  expect(await links.allTextContents()).toEqual(['Shop', 'Team', 'Targets', 'New repair', 'API clients']);
  await expectAccessible(page);
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
  for (const value of ['Scale', 'Active'])
    await page.getByRole('definition').filter({ hasText: value }).waitFor();
  await page.getByRole('progressbar', { name: '2 of 1,200 returns used' }).waitFor();
  for (const words of ['2 returns', 'of 1,200']) await page.getByText(words, { exact: true }).waitFor();
  for (const words of [
    '1,198 left. The count starts again on',
    'LIMIT_EXCEEDED',
    'By plan: 1,200 new returns a month are included.',
  ])
    await page.getByText(words).waitFor();
});

it('the audit log says in words who changed what, newest first, with the details', async ({ t, admin }) => {
  const colleague = await newUser(t, { role: 'STAFF' });
  expect(await admin.put('/dangerous-goods', { rules: ['BATT-*'] })).toHaveStatus(200);
  expect(await admin.patch(`/users/${colleague.id}`, { role: 'ADMIN' })).toHaveStatus(200);
  expect(await admin.patch(`/clients/${t.client.id}`, { name: 'Till, Bremen' })).toHaveStatus(200);
  const page = await openPageAs('Plan and usage', t, 'ADMIN');
  await toPage(page, 'Audit log');
  const changes = [
    `${admin.email} edited API client Till, Bremen`,
    `${admin.email} edited ${colleague.email}`,
    `${admin.email} changed the dangerous goods`,
  ];
  const said = page.getByRole('rowheader');
  for (const change of changes) await said.filter({ hasText: change }).waitFor();
  const all = await said.allTextContents();
  expect(all.filter((words) => changes.includes(words))).toEqual(changes);
  await rowWith(page, changes[1] ?? '')
    .getByRole('button', { name: 'Details' })
    .click();
  await page.getByRole('img', { name: 'to' }).waitFor();
  await page.getByRole('definition').filter({ hasText: 'StaffAdmin' }).waitFor();
  await rowWith(page, changes[2] ?? '')
    .getByRole('button', { name: 'Details' })
    .click();
  await page.getByRole('definition').filter({ hasText: 'BATT-*' }).waitFor();
});

it('users change their own password', async ({ t }) => {
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
  await present.fill(PASSWORD);
  await change.click();
  await page.getByText('Password changed.').waitFor();
  await expectFocus(open);
  const signedIn = await adminCaller(t).post('/session', { email, password: 'quite another password' });
  expect(signedIn).toHaveStatus(200);
});
