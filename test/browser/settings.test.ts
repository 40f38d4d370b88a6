import { expect } from 'vitest';
import { newUser } from '../support/admin.ts';
import {
  expectAccessibleDialog,
  look,
  openAs,
  openPageAs,
  openWindow,
  saidAt,
  signIn,
} from '../support/browser.ts';
import { emailAt, menu, passwordField, pick, rowWith, title, toPage } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

const it = itWith(sharedHarness());

it('the team keeps its last Admin', async ({ t }) => {
  const email = emailAt(t, 'clerk');
  const page = await openPageAs('Team', t, 'ADMIN', { email });
  await page.getByRole('button', { name: `Change ${email}` }).click();
  const change = page.getByRole('dialog', { name: `Change ${email}` });
  await change.getByRole('radio', { name: 'Staff' }).check();
  await change.getByText('This is you').waitFor();
  await change.getByRole('button', { name: 'Save' }).click();
  const refusal = 'The shop needs an Admin: make another person an Admin first.';
  await change.getByRole('alert').filter({ hasText: refusal }).waitFor();
});

it('the team says at the input that an address is taken, and sets a new password', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF' });
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  const address = form.getByRole('textbox', { name: 'E-mail' });
  await address.fill(email);
  await form.getByRole('button', { name: 'Invite' }).click();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
  await expect.poll(() => saidAt(address)).not.toBe('');
  await form.getByRole('button', { name: 'Cancel' }).click();

  await pick(page, email, 'Set a password');
  await passwordField(page, 'New password').fill('quite another password');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText(`${email} has a new password.`).waitFor();
  const theirs = await openWindow(t);
  await signIn(theirs, email, 'quite another password');
});

it('the page of the team stands in the address', async ({ t }) => {
  const page = await openAs(t, 'ADMIN');
  await page.goto('/admin/settings/team?page=3');
  await page.getByText('This page is empty').waitFor();
  await page.getByRole('button', { name: 'To the first page' }).click();
  await rowWith(page, 'You').waitFor();
  expect(new URL(page.url()).search).toBe('');
});

it('changed rules of dangerous goods are not left unsaved without a question', async ({ t }) => {
  const page = await openPageAs('Dangerous goods', t, 'ADMIN');
  await page.getByRole('textbox', { name: 'Add a SKU' }).fill('AERO-1');
  await page.keyboard.press('Enter');
  await page.getByText('Exactly this SKU').waitFor();
  const asked: string[] = [];
  page.once('dialog', (question) => {
    asked.push(question.message());
    void question.dismiss();
  });
  const team = menu(page, 'Team');
  await team.click();
  await expect.poll(() => asked).toEqual(['Leave this page? The changed rules are not saved yet.']);
  await page.getByText('Exactly this SKU').waitFor();
  page.once('dialog', (question) => void question.accept());
  await team.click();
  await title(page, 'Team').waitFor();
});

it('axe finds nothing in the dialogs, in light and in dark', async ({ t }) => {
  const email = emailAt(t, 'clerk');
  const page = await openPageAs('External API', t, 'ADMIN', { email });
  const expectAccessibleInBoth = async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await look(page, { scheme });
      await expectAccessibleDialog(page, scheme);
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
  await inDialog('Till', 'Edit Till', 'Edit');
  await inDialog('Till', 'Replace Till?', 'Replace');
  await inDialog('Till', 'Revoke Till?', 'Revoke');
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
