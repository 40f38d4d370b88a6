import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson, newUser, PASSWORD, signInAs } from '../support/admin.ts';
import {
  expectAccessible,
  goInside,
  openAs,
  openPageAs,
  openWindow,
  saidAt,
  signIn as signInWith,
} from '../support/browser.ts';
import {
  accessibleEverywhere,
  emailAt,
  expectFocus,
  field,
  newRepair,
  passwordField,
  pick,
  rowWith,
  signInTitle,
  title,
  toPage,
  turnFactorOn,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { appCode } from '../support/second-factor.ts';

const it = itWith(sharedHarness());

it('an invitation shows a link, in which the person chooses a password; it works once', async ({ t }) => {
  const email = emailAt(t, 'grace');
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  await form.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
  await form.getByRole('button', { name: 'Invite' }).click();
  const shown = page.getByRole('dialog', { name: 'Grace Muller is invited' });
  await shown.getByText('no e-mail was sent').waitFor();
  const link = await shown.getByRole('textbox', { name: 'Link' }).inputValue();
  expect(link.startsWith(`${t.url}/admin/link#`)).toBe(true);
  await accessibleEverywhere(page);
  await shown.getByRole('button', { name: 'Done' }).click();
  await rowWith(page, 'Grace Muller').getByText('Never signed in').waitFor();

  const theirs = await openWindow(t);
  let checks = 0;
  theirs.on('request', (request) => {
    if (request.url().endsWith('/links/check')) checks += 1;
  });
  await theirs.goto(link);
  await theirs.getByRole('heading', { name: 'Welcome, Grace Muller' }).waitFor();
  await theirs.getByText(`sign in to Test shop as ${email}`).waitFor();
  await accessibleEverywhere(theirs);
  await passwordField(theirs, 'Password').fill('quite another password');
  await theirs.keyboard.press('Enter');
  await title(theirs, 'Overview').waitFor();
  await theirs.getByRole('navigation', { name: 'Pages' }).getByText('Grace Muller').waitFor();
  // Checked again it would be over, and that page would flash up.
  expect(checks).toBe(1);

  const late = await openWindow(t);
  await late.goto(link);
  await late.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
  expect(await late.getByLabel('Password').count()).toBe(0);
  await accessibleEverywhere(late);
  await late.getByRole('link', { name: 'To the sign-in' }).click();
  await late.getByText('Ask an Admin of your shop for a link').waitFor();
  await late.goto('/admin/forgot-password');
  await late.getByText('Ask an Admin of your shop for a link with which').waitFor();
  expect(await late.getByLabel('E-mail').count()).toBe(0);
});

it('what matters asks for the password first, then goes on by itself with what was typed', async ({ t }) => {
  const page = await openPageAs('Team', t, 'ADMIN');
  t.clock.advance(10 * 60_000);
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  const password = dialog.getByLabel('Current password').and(page.locator('input'));
  const rule = page.getByRole('switch', { name: 'Require a second factor for everyone' });
  await rule.click();
  await expectFocus(password);
  await accessibleEverywhere(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('This needs your password.').waitFor();
  expect(await rule.isChecked()).toBe(false);

  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  const email = form.getByRole('textbox', { name: 'E-mail' });
  await email.fill(emailAt(t, 'grace'));
  await form.getByText('Admin', { exact: true }).click();
  const invite = form.getByRole('button', { name: 'Invite' });
  await invite.click();
  await expectFocus(password);
  // Escape, also from beside the input, closes this dialog alone.
  await dialog.getByText('For this we need').click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await form.getByRole('alert').filter({ hasText: 'This needs your password' }).waitFor();
  expect(await email.inputValue()).toBe(emailAt(t, 'grace'));

  await invite.click();
  await password.fill('not the password');
  await page.keyboard.press('Enter');
  await expect.poll(() => saidAt(password)).toContain('not your current password');
  // Without a second factor there is no code to offer.
  expect(await dialog.getByRole('button', { name: 'Use a code' }).count()).toBe(0);
  await password.fill(PASSWORD);
  await page.keyboard.press('Enter');
  const shown = page.getByRole('dialog', { name: /is invited/ });
  await shown.getByRole('button', { name: 'Done' }).click();
  await rowWith(page, emailAt(t, 'grace')).getByText('Admin').waitFor();

  // Not again for ten minutes.
  await rule.click();
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
  // And also on the page before all others.
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'Begin' }).click();
  await password.fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByLabel('Key for the authenticator app').waitFor();
});

it('a session that ends while the password is asked for leads to sign-in; the form stays', async ({ t }) => {
  const page = await openPageAs('External API', t, 'ADMIN');
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'New client' }).first().click();
  const form = page.getByRole('dialog', { name: /client/ });
  await field(form, 'Name').fill('Till 7');
  await form.getByRole('button', { name: 'Create client' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.waitFor();
  await t.ctx.db.deleteFrom('sessions').execute();
  await dialog.getByLabel('Current password').and(page.locator('input')).fill(PASSWORD);
  await page.keyboard.press('Enter');
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Password').and(page.locator('input')).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await again.waitFor({ state: 'detached' });
  expect(await dialog.count()).toBe(0);
  expect(await field(form, 'Name').inputValue()).toBe('Till 7');
});

it('people change their own e-mail and see and end their own sessions', async ({ t }) => {
  const person = await newPerson(t, { role: 'STAFF' });
  const page = await openWindow(t);
  await signInWith(page, person.email);
  const elsewhere = await signInAs(t, person);
  await toPage(page, 'Account and password');
  const sessions = page.getByRole('table', { name: /Your sessions/ });
  const rows = sessions.getByRole('row');
  await expect.poll(() => rows.count()).toBe(4);
  await rows.filter({ hasText: 'This one' }).getByText('Chrome on Linux').waitFor();
  await accessibleEverywhere(page);
  const other = rows.filter({ hasNotText: 'This one' }).nth(1);
  await other.getByRole('button', { name: /^Sign out/ }).click();
  await expect.poll(() => rows.count()).toBe(3);
  expect((await elsewhere.get('/session')).status).toBe(401);
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.getByRole('button', { name: 'Sign out everywhere else' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Change your e-mail' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change your e-mail' });
  const password = dialog.getByLabel('Current password').and(page.locator('input'));
  await dialog.getByRole('textbox', { name: 'New e-mail' }).fill(emailAt(t, 'new'));
  await password.fill('wrong');
  await page.keyboard.press('Enter');
  await expect.poll(() => saidAt(password)).toContain('not your current');
  await accessibleEverywhere(page);
  await password.fill(PASSWORD);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('main').getByText(emailAt(t, 'new')).waitFor();
});

it('a second factor is turned on, asked for at sign-in, renewed and reset by an Admin', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF', name: 'Grace Muller' });
  const theirs = await openWindow(t);
  const signIn = async () => {
    await theirs.goto('/admin/sign-in');
    await theirs.getByLabel('E-mail').fill(email);
    await passwordField(theirs, 'Password').fill(PASSWORD);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
  };
  await signIn();
  await title(theirs, 'Overview').waitFor();
  await toPage(theirs, 'Account and password');
  const { secret, codes } = await turnFactorOn(t, theirs, 'Set up a second factor');
  await accessibleEverywhere(theirs);
  await theirs.getByRole('button', { name: 'Done' }).click();
  await theirs.getByText('10 recovery codes are left').waitFor();
  await accessibleEverywhere(theirs);
  await theirs.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(theirs).waitFor();

  await signIn();
  const code = theirs.getByRole('textbox', { name: 'Code from your authenticator app' });
  await code.waitFor();
  await expect.poll(() => theirs.locator('input:focus').getAttribute('autocomplete')).toBe('one-time-code');
  expect(await theirs.getByRole('alert').count()).toBe(0);
  await accessibleEverywhere(theirs);
  await code.fill('000 000');
  await theirs.keyboard.press('Enter');
  await theirs.getByRole('alert').filter({ hasText: 'The code is wrong' }).waitFor();
  t.clock.advance(30_000);
  await code.fill(appCode(secret, t.ctx.clock.now()));
  await theirs.keyboard.press('Enter');
  await title(theirs, 'Overview').waitFor();

  await toPage(theirs, 'Account and password');
  t.clock.advance(10 * 60_000);
  await theirs.getByRole('button', { name: 'Make new recovery codes' }).click();
  await theirs.getByRole('button', { name: 'Make new codes' }).click();
  const current = passwordField(theirs, 'Current password').and(theirs.locator('[role=dialog] input'));
  await current.fill('not the password');
  await theirs.getByRole('button', { name: 'Confirm' }).click();
  await expect.poll(() => saidAt(current)).toContain('not your current password');
  const confirm = theirs.getByRole('dialog', { name: 'Confirm that it is you' });
  await confirm.getByRole('button', { name: 'Use a code instead of the password' }).click();
  await theirs.getByRole('button', { name: 'Use a recovery code instead' }).click();
  // Who asks for the other field wants to type into it.
  const recovery = theirs.getByRole('textbox', { name: 'Recovery code' });
  await expectFocus(recovery);
  await recovery.fill(codes[0] ?? '');
  await theirs.getByRole('button', { name: 'Confirm' }).click();
  await theirs.getByRole('list', { name: 'Recovery codes' }).waitFor();

  const page = await openPageAs('Team', t, 'ADMIN');
  await rowWith(page, 'Grace Muller').getByRole('cell', { name: 'On', exact: true }).waitFor();
  await pick(page, 'Grace Muller', 'Reset the second factor');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
  await page.getByText('Grace Muller has no second factor any more.').waitFor();
  await signIn();
  await title(theirs, 'Overview').waitFor();
});

it('signing in follows no link to another site', async ({ t }) => {
  const { email } = await newUser(t);
  const page = await openWindow(t);
  await page.goto('/admin/sign-in?to=//evil.example/');
  await page.getByLabel('E-mail').fill(email);
  await passwordField(page, 'Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await title(page, 'Overview').waitFor();
  expect(new URL(page.url()).origin).toBe(new URL(t.url).origin);
});

it('the address of the service leads a person to the app, and a program to the docs', async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  await page.goto('/');
  await title(page, 'Overview').waitFor();
  for (const accept of ['application/json', '*/*']) {
    const answer = await fetch(t.url, { headers: { accept }, redirect: 'manual' });
    expect(answer.status).toBe(404);
    expect(((await answer.json()) as { message: string }).message).toContain('/docs');
  }
});

const WORK = ['Overview', 'Offline repairs', 'Trade returns', 'Bench'];
const SETTINGS =
  'Shop,External API,Team,Dangerous goods,Targets,Plan and usage,Personal data,Audit log'.split(',');
const OWN = ['Account and password'];

const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link');

it('an Admin is led to every page, by the menu', async ({ t }) => {
  const page = await openPageAs('Overview', t, 'ADMIN');
  expect(await pages(page).allTextContents()).toEqual([...WORK, ...SETTINGS, ...OWN]);
  for (const name of [...WORK, ...SETTINGS, ...OWN]) {
    await pages(page).filter({ hasText: name }).click();
    await title(page, name).waitFor();
    await expect.poll(() => page.title()).toBe(`${name} · Handback`);
  }
});

it('Staff see the work and their own account, and read that the settings are for Admins', async ({ t }) => {
  const page = await openPageAs('Overview', t, 'STAFF');
  expect(await pages(page).allTextContents()).toEqual([...WORK, ...OWN]);
  for (const path of ['shop', `external-api/${t.client.id}`, 'audit-log']) {
    await goInside(page, `/admin/settings/${path}`);
    await title(page, 'Only Admins can open Settings').waitFor();
  }
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Go to overview' }).click();
  await title(page, 'Overview').waitFor();
});

it('Staff of a shared computer leave nothing behind when they sign out', async ({ t }) => {
  await newRepair(t, { customerName: 'Grace Okafor' });
  const page = await openPageAs('New repair', t, 'STAFF');
  await field(page, 'Name').fill('Ada Pereira');
  await page.reload();
  await page.getByText('What you typed before is still here.').waitFor();
  // A search, and a return found by it: the way back and the walk through the list remember it.
  await page.goto('/admin/offline-repairs?q=Okafor');
  await page.getByRole('rowheader').getByRole('link').click();
  await page.getByRole('heading', { name: /^#RMA-/ }).waitFor();
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toContain('Okafor');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(page).waitFor();
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  expect(kept).not.toContain('Ada Pereira');
  expect(kept).not.toContain('Okafor');
  expect(
    await page.evaluate("Object.keys(sessionStorage).filter((name) => name.startsWith('handback.'))"),
  ).toEqual([]);
  await page.goBack();
  await signInTitle(page).waitFor();
  expect(await page.content()).not.toContain('Ada Pereira');
});
