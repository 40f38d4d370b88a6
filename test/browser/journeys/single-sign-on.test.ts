import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newPerson, newUser, PASSWORD } from '../../support/admin.ts';
import { expectAccessible, openPageAs, openWindow } from '../../support/browser.ts';
import { field, pick, signInTitle, title, toPage } from '../../support/browser-pages.ts';
import { harness } from '../../support/harness.ts';
import { realProvider } from '../../support/identity-provider.ts';

const ACCOUNTS = {
  grace: { email: 'grace@example.com', email_verified: true },
  ada: { email: 'ada@example.com', email_verified: true },
};

/** A service with a real provider, at which Grace and Ada have accounts; Grace is Admin of the shop. */
const withRealProvider = async (env: Record<string, string> = {}) => {
  const provider = await realProvider(ACCOUNTS);
  const t = await harness({ env: { ...provider.env, ...env } });
  provider.register(t.url);
  await newUser(t, { email: ACCOUNTS.grace.email, name: 'Grace Muller' });
  return { t, provider, page: await openWindow(t, { provider: provider.issuer }) };
};

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in with Example SSO' });

/** On the provider's own page. */
const enterThere = async (page: Page, account: string): Promise<void> => {
  await page.getByRole('heading', { name: 'Example SSO' }).waitFor();
  await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Continue' }).click();
};

it('a user signs in with the identity provider, and confirms sensitive changes there', async () => {
  const { t, page } = await withRealProvider();
  await page.goto('/admin/settings/team');
  await signInTitle(page).waitFor();
  await page.getByLabel('Email').waitFor();
  await signInButton(page).waitFor();
  await expectAccessible(page);
  // A person without an account is told so, and may try again.
  await signInButton(page).click();
  await enterThere(page, 'ada');
  await page.getByRole('alert').getByText('There is no account with your email address here.').waitFor();
  await expectAccessible(page);
  expect(new URL(page.url()).pathname).toBe('/admin/sign-in');
  await page.context().clearCookies({ domain: 'localhost' });

  await page.goto('/admin/settings/team');
  await signInButton(page).click();
  await enterThere(page, 'grace');
  await title(page, 'Team').waitFor();
  expect(new URL(page.url()).pathname).toBe('/admin/settings/team');

  // Later, the confirmation opens a window of its own, and the form is kept.
  t.clock.advance(11 * 60_000);
  await toPage(page, 'External API');
  await page.getByRole('button', { name: 'New client' }).first().click();
  const form = page.getByRole('dialog', { name: /client/ });
  await field(form, 'Name').fill('Till 7');
  await form.getByRole('button', { name: 'Create API client' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await dialog.getByText('Example SSO opens in a new window').waitFor();
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    dialog.getByRole('button', { name: 'Confirm with Example SSO' }).click(),
  ]);
  await enterThere(opened, 'grace');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Till 7').first().waitFor();
  await expect
    .poll(async () => opened.isClosed() || (await opened.getByText('You can close').count()) > 0)
    .toBe(true);

  // The session ends, and the page stays as it is.
  await t.ctx.db.deleteFrom('sessions').execute();
  await page.reload();
  await signInTitle(page).waitFor();
  await signInButton(page).click();
  await title(page, 'External API').waitFor();
});

it('without passwords there is one button, and a message while the provider is unavailable', async () => {
  const { t, provider, page } = await withRealProvider({ PASSWORD_SIGN_IN: 'false' });
  await page.goto('/admin/sign-in');
  await signInButton(page).waitFor();
  expect(await page.getByLabel('Email').filter({ visible: true }).count()).toBe(0);
  await provider.stop();
  await signInButton(page).click();
  await page.getByText('Your identity provider does not answer.').waitFor();
  await expectAccessible(page);

  const { userLink } = await import('../../../src/cli/commands.ts');
  const { link } = await userLink(t.ctx, ACCOUNTS.grace.email);
  await page.goto(`/admin/link#${link.split('#')[1]}`);
  await page.getByText(`Signing in as ${ACCOUNTS.grace.email}`).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await title(page, 'Today').waitFor();
  await page.goto('/admin/account');
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Change your password' }).count()).toBe(0);
});

it('an Admin confirms an address that its user chose, and is warned before a user of the provider gets a password', async () => {
  const { t, page } = await withRealProvider();
  const admin = await openPageAs('Team', t, 'ADMIN');
  const ada = await newPerson(t, { role: 'STAFF', name: 'Ada Pereira', email: 'old@example.com' });
  await ada.put('/session/email', { email: ACCOUNTS.ada.email, currentPassword: PASSWORD });
  await page.goto('/admin/sign-in');
  await signInButton(page).click();
  await enterThere(page, 'ada');
  await page.getByRole('alert').getByText('was changed and never confirmed').waitFor();

  await admin.reload();
  await pick(admin, 'Ada Pereira', 'Edit');
  const edit = admin.getByRole('dialog', { name: 'Edit Ada Pereira' });
  await edit.getByLabel('This email address is theirs').check();
  await expectAccessible(admin);
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });

  await page.context().clearCookies({ domain: 'localhost' });
  await signInButton(page).click();
  await enterThere(page, 'ada');
  await title(page, 'Today').waitFor();
  await toPage(page, 'Account');
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  expect(await page.getByRole('button', { name: 'Change your password' }).count()).toBe(0);

  await admin.reload();
  await pick(admin, 'Ada Pereira', 'New password link');
  const link = admin.getByRole('dialog');
  await link.getByText('signs in with Example SSO and has no password').waitFor();
  await link.getByRole('button', { name: 'Create link' }).click();
  await admin.getByRole('textbox', { name: 'Link' }).waitFor();
});
