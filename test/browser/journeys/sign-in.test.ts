import { expect } from 'vitest';
import { newUser } from '../../support/admin.ts';
import {
  accessibleEverywhere,
  expectAccessible,
  openPageAs,
  openWindow,
  saidAt,
  signInHere,
} from '../../support/browser.ts';
import {
  expectValue,
  passwordField,
  pick,
  signInTitle,
  title,
  toPage,
  turnFactorOn,
} from '../../support/browser-pages.ts';
import { cliHere } from '../../support/commands-here.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';
import { emptyDatabase, startServer } from '../../support/process.ts';
import { mailServer } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';

const harness = sharedHarness();
const it = itWith(harness);

it('the setup link of the first start creates the shop and its Admin, once', async () => {
  const server = await startServer(await emptyDatabase());
  const link = await until('the link is printed', () => /http\S+set-up#\w+/.exec(server.stderr)?.[0]);
  const page = await openWindow(server, { timeZone: 'Europe/Berlin' });
  await page.goto(link);
  const password = passwordField(page, 'Password');
  // The browser's time zone is suggested, but no currency: its language says nothing about that.
  await expectValue(page.getByLabel('Time zone'), 'Europe/Berlin');
  await expectValue(page.getByLabel('Currency'), '');
  await page.getByLabel('Currency').selectOption('EUR');
  await page.getByRole('textbox', { name: 'Shop name' }).fill('Harbour Road Electrics');
  await page.getByRole('textbox', { name: 'Your email' }).fill('grace at example');
  await password.fill('short');
  await page.getByRole('button', { name: 'Create shop' }).click();
  await expect.poll(() => saidAt(password)).toContain('Must be at least 10 characters long.');
  await expectAccessible(page);
  await page.getByRole('textbox', { name: 'Your email' }).fill('grace@example.com');
  await password.fill('correct horse battery');
  await page.getByRole('button', { name: 'Create shop' }).click();

  await title(page, 'Today').waitFor();
  await page.getByRole('banner').getByText('Harbour Road Electrics').waitFor();
  await toPage(page, 'Shop');
  await expectValue(page.getByLabel('Time zone'), 'Europe/Berlin');
  await expectValue(page.getByLabel('Currency'), 'EUR');

  const late = await openWindow(server);
  await late.goto(link);
  await late.getByRole('heading', { name: 'There is already a shop here' }).waitFor();
  expect(await late.getByRole('textbox').count()).toBe(0);
  await late.getByRole('link', { name: 'Sign in' }).click();
  await signInTitle(late).waitFor();
  for (const hidden of [link.split('#')[1] ?? link, 'correct horse battery'])
    expect(server.stdout).not.toContain(hidden);
});

it('a setup link is refused beside a demo shop, and the form is kept', async () => {
  const env = await emptyDatabase();
  const server = await startServer(env);
  const link = await until('the link is printed', () => /http\S+set-up#\w+/.exec(server.stderr)?.[0]);
  const page = await openWindow(server);
  await page.goto(link);
  const name = page.getByRole('textbox', { name: 'Shop name' });
  await name.fill('Harbour Road Electrics');
  await page.getByRole('textbox', { name: 'Your email' }).fill('grace@example.com');
  await passwordField(page, 'Password').fill('correct horse battery');
  await cliHere(['demo'], env);
  await page.getByRole('button', { name: 'Create shop' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /There is (already )?a shop here/ })
    .waitFor();
  expect(await name.inputValue()).toBe('Harbour Road Electrics');
  await expectAccessible(page);
});

it('signing in leads to the requested page, and signing out works', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF' });
  const page = await openWindow(t);
  await page.goto('/admin/trade-returns');
  await signInTitle(page).waitFor();
  await signInHere(page, email.toUpperCase(), 'not the password');
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/email|password/i);
  expect(await page.getByLabel('Email').inputValue()).toBe(email.toUpperCase());
  await expectAccessible(page);
  await signInHere(page, email.toUpperCase());
  await title(page, 'Trade returns').waitFor();

  await page.goto('/admin/nowhere-1');
  await title(page, 'Page not found').waitFor();
  await page.getByRole('navigation', { name: 'Pages' }).getByText(email).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(page).waitFor();
  await page.goto('/admin/trade-returns');
  await signInTitle(page).waitFor();
});

it('a link to choose a password arrives by email', async () => {
  const mails = await mailServer();
  const t = await harness({ env: mails.env });
  const { email } = await newUser(t);
  const admin = await openPageAs('Team', t, 'ADMIN');
  await pick(admin, email, 'New invite link');
  await admin.getByRole('button', { name: 'Create link' }).click();
  await admin.getByText(`emailed the link to ${email}`).waitFor();

  const page = await openWindow(t);
  await page.goto('/admin/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
  await accessibleEverywhere(page);
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByRole('button', { name: 'Send link' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const mail = await until('the second mail comes', () => mails.received[1]);
  const [, path = ''] = /(\/admin\/link#[0-9a-f]{64})/.exec(mail.text) ?? [];
  await page.goto(path);
  await passwordField(page, 'Password').fill('quite another password');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await title(page, 'Today').waitFor();
});

it('two-step verification must be set up first if the shop requires it', async ({ t }) => {
  const staff = await openPageAs('Account', t, 'STAFF');
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('switch', { name: 'Require two-step verification' }).click();
  await page.getByRole('heading', { name: 'Set up two-step verification' }).waitFor();
  await accessibleEverywhere(page);
  await turnFactorOn(t, page, 'Get started');
  await page.getByRole('button', { name: 'Done' }).click();
  await title(page, 'Team').waitFor();
  await toPage(page, 'Audit log');
  await page.getByText('turned on two-step verification').waitFor();

  // A colleague who is signed in is led there by the next page that they open, and can open no other.
  await staff.getByRole('link', { name: 'Trade returns' }).first().click();
  await staff.getByRole('heading', { name: 'Set up two-step verification' }).waitFor();
  await staff.goto('/admin/offline-repairs');
  await staff.getByRole('heading', { name: 'Set up two-step verification' }).waitFor();
  await staff.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(staff).waitFor();
});
