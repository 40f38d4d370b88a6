import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson, newUser, PASSWORD, signInAs } from '../support/admin.ts';
import {
  accessibleEverywhere,
  expectAccessible,
  goInside,
  openAs,
  openPageAs,
  openWindow,
  saidAt,
  signIn,
  signInHere,
} from '../support/browser.ts';
import {
  emailAt,
  expectFocus,
  field,
  fillIn,
  newRepair,
  passwordField,
  pick,
  REPAIR_FIELDS,
  rowWith,
  signInTitle,
  signOut,
  title,
  toPage,
  turnFactorOn,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { appCode, turnOn } from '../support/second-factor.ts';

const it = itWith(sharedHarness());

it('an invitation shows a link with which the user chooses a password, once', async ({ t }) => {
  const email = emailAt(t, 'grace');
  const page = await openPageAs('Team', t, 'ADMIN');
  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  await form.getByRole('textbox', { name: 'Email' }).fill(email);
  await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
  await form.getByRole('button', { name: 'Invite' }).click();
  const shown = page.getByRole('dialog', { name: 'Grace Muller is invited' });
  await shown.getByText('no email was sent').waitFor();
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
  await title(theirs, 'Today').waitFor();
  await theirs.getByRole('navigation', { name: 'Pages' }).getByText('Grace Muller').waitFor();
  // A second check would find the link used, and its page would flash up.
  expect(checks).toBe(1);

  const late = await openWindow(t);
  await late.goto(link);
  await late.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  expect(await late.getByLabel('Password').count()).toBe(0);
  await late.getByRole('link', { name: 'Back to sign-in' }).click();
  await late.getByText('Ask an Admin of your shop for a link').waitFor();
  await late.goto('/admin/forgot-password');
  await late.getByText('Ask an Admin of your shop for a link to choose').waitFor();
  expect(await late.getByLabel('Email').count()).toBe(0);
});

it('a user whose older email has letters beyond ASCII signs in with it', async ({ t }) => {
  const { email } = await newUser(t, { email: `jos\u00e9.${emailAt(t, 'grace')}`, role: 'STAFF' });
  await signIn(await openWindow(t), email);

  const admin = await openPageAs('Team', t, 'ADMIN');
  await pick(admin, email, 'Edit');
  const form = admin.getByRole('dialog', { name: `Edit ${email}` });
  await form.getByRole('textbox', { name: 'Name' }).fill('Jos\u00e9');
  await form.getByRole('button', { name: 'Save' }).click();
  await rowWith(admin, 'Jos\u00e9').waitFor();
});

it('sensitive changes ask for the password, then resume with the form intact', async ({ t }) => {
  const page = await openPageAs('Team', t, 'ADMIN');
  t.clock.advance(10 * 60_000);
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
  const password = dialog.getByLabel('Current password').and(page.locator('input'));
  const rule = page.getByRole('switch', { name: 'Require two-step verification' });
  await rule.click();
  await expectFocus(password);
  await accessibleEverywhere(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('This needs your password.').waitFor();
  expect(await rule.isChecked()).toBe(false);

  await page.getByRole('button', { name: 'Invite person' }).click();
  const form = page.getByRole('dialog', { name: 'Invite a person' });
  const email = form.getByRole('textbox', { name: 'Email' });
  await email.fill(emailAt(t, 'grace'));
  await form.getByText('Admin', { exact: true }).click();
  const invite = form.getByRole('button', { name: 'Invite' });
  await invite.click();
  await expectFocus(password);
  // Escape closes this dialog alone, even if the focus is beside the input.
  await dialog.getByText('We check this before important changes').click();
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

  // The password is not asked for again for ten minutes.
  await rule.click();
  await page.getByRole('heading', { name: 'Set up two-step verification' }).waitFor();
  // The page that everyone must pass first asks for it, too.
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'Get started' }).click();
  await password.fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByLabel('Key for the authenticator app').waitFor();
});

it('a session that ends at the password prompt leads to sign-in, and the form is kept', async ({ t }) => {
  const page = await openPageAs('External API', t, 'ADMIN');
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'New client' }).first().click();
  const form = page.getByRole('dialog', { name: /client/ });
  await field(form, 'Name').fill('Till 7');
  await form.getByRole('button', { name: 'Create API client' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' });
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

it('users change their own email, and see and end their own sessions', async ({ t }) => {
  const person = await newPerson(t, { role: 'STAFF' });
  const page = await openWindow(t);
  await signIn(page, person.email);
  await signInAs(t, person);
  await toPage(page, 'Account');
  const sessions = page.getByRole('table', { name: /Where you are signed in/ });
  const rows = sessions.getByRole('row');
  await expect.poll(() => rows.count()).toBe(4);
  await rows.filter({ hasText: 'This device' }).getByText('Chrome on Linux').waitFor();
  await accessibleEverywhere(page);
  const other = rows.filter({ hasNotText: 'This device' }).nth(1);
  await other.getByRole('button', { name: /^Sign out/ }).click();
  await expect.poll(() => rows.count()).toBe(3);
  // Five are shown at first.
  for (let i = 0; i < 5; i++) await signInAs(t, person);
  await page.reload();
  await expect.poll(() => rows.count()).toBe(6);
  await page.getByRole('button', { name: 'Show all 7' }).click();
  await expect.poll(() => rows.count()).toBe(8);
  await page.getByRole('button', { name: 'Sign out all other devices' }).click();
  await expect.poll(() => rows.count()).toBe(2);
  expect(await page.getByRole('button', { name: 'Sign out all other devices' }).count()).toBe(0);

  await page.getByRole('button', { name: 'Change your email' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change your email' });
  const password = dialog.getByLabel('Current password').and(page.locator('input'));
  await dialog.getByRole('textbox', { name: 'New email' }).fill(emailAt(t, 'new'));
  await password.fill('wrong');
  await page.keyboard.press('Enter');
  await expect.poll(() => saidAt(password)).toContain('not your current');
  await password.fill(PASSWORD);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('main').getByText(emailAt(t, 'new')).waitFor();
});

it('an Admin changes their own name; Staff ask an Admin', async ({ t }) => {
  const page = await openPageAs('Account', t, 'ADMIN');
  await page.getByRole('button', { name: 'Change your name' }).click();
  await field(page.getByRole('dialog', { name: 'Change your name' }), 'Name').fill('Grace Hopper');
  await page.keyboard.press('Enter');
  await page.getByText('Name changed.').waitFor();
  await page.getByRole('main').getByText('Grace Hopper').waitFor();
  const staff = await openPageAs('Account', t, 'STAFF');
  await staff.getByText('An Admin can change it.').waitFor();
  expect(await staff.getByRole('button', { name: 'Change your name' }).count()).toBe(0);
});

it('two-step verification is turned on, required at sign-in, and reset by an Admin', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF', name: 'Grace Muller' });
  const theirs = await openWindow(t);
  await signIn(theirs, email);
  await toPage(theirs, 'Account');
  const { secret } = await turnFactorOn(t, theirs, 'Set up two-step verification');
  await accessibleEverywhere(theirs);
  await theirs.getByRole('button', { name: 'Done' }).click();
  await theirs.getByText('10 recovery codes left').waitFor();
  await accessibleEverywhere(theirs);
  await signOut(theirs);
  await signInHere(theirs, email);
  const code = theirs.getByRole('textbox', { name: 'Code from your authenticator app' });
  await code.waitFor();
  await expect.poll(() => theirs.locator('input:focus').getAttribute('autocomplete')).toBe('one-time-code');
  expect(await theirs.getByRole('alert').count()).toBe(0);
  await accessibleEverywhere(theirs);
  await code.fill('000 000');
  await theirs.keyboard.press('Enter');
  await theirs.getByRole('alert').filter({ hasText: 'The code is wrong' }).waitFor();
  await expectFocus(code);
  t.clock.advance(30_000);
  await code.fill(appCode(secret, t.ctx.clock.now()));
  await theirs.keyboard.press('Enter');
  await title(theirs, 'Today').waitFor();

  const page = await openPageAs('Team', t, 'ADMIN');
  await rowWith(page, 'Grace Muller').getByRole('cell', { name: 'On', exact: true }).waitFor();
  await pick(page, 'Grace Muller', 'Reset two-step verification');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
  await page.getByText('Two-step verification for Grace Muller is off.').waitFor();
  await rowWith(page, 'Grace Muller')
    .getByRole('cell', { name: 'On', exact: true })
    .waitFor({ state: 'detached' });
});

it('with a second factor a code or a recovery code is asked for instead of the password', async ({ t }) => {
  const person = await newPerson(t, { role: 'STAFF' });
  const { recoveryCodes } = await turnOn(t, person);
  const page = await openWindow(t, { cookie: person.cookie });
  await page.goto('/admin/account');
  t.clock.advance(10 * 60_000);
  await page.getByRole('button', { name: 'Create new recovery codes' }).click();
  const renewal = page.getByRole('dialog', { name: 'Create new recovery codes' });
  const code = renewal.getByRole('textbox', { name: 'Code from your authenticator app' });
  await expectFocus(code);
  await accessibleEverywhere(page);
  for (const [typed, fault] of [
    ['', 'Required'],
    ['000000', 'This is wrong, or it was used before.'],
  ] as const) {
    await code.fill(typed);
    await page.keyboard.press('Enter');
    await expect.poll(() => saidAt(code)).toContain(fault);
  }
  await renewal.getByRole('button', { name: 'Use a recovery code instead' }).click();
  // The focus goes to the field that was asked for.
  const recovery = renewal.getByRole('textbox', { name: 'Recovery code' });
  await expectFocus(recovery);
  await recovery.fill(recoveryCodes[0] ?? '');
  await page.keyboard.press('Enter');
  const list = page.getByRole('list', { name: 'Recovery codes' });
  await list.waitFor();
  const [fresh = ''] = await list.getByRole('listitem').allTextContents();
  await page.getByRole('checkbox', { name: 'I have stored the codes' }).check();
  await page.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('button', { name: 'Change your password' }).click();
  const change = page.getByRole('dialog', { name: 'Change your password' });
  expect(await change.getByLabel('Current password').count()).toBe(0);
  await change.getByRole('button', { name: 'Use a recovery code instead' }).click();
  await change.getByRole('textbox', { name: 'Recovery code' }).fill(fresh);
  await passwordField(page, 'New password').fill('quite another password');
  await change.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Password changed.').waitFor();

  await page.getByRole('button', { name: 'Turn off' }).click();
  const off = page.getByRole('dialog', { name: 'Turn off two-step verification?' });
  await off.getByRole('textbox', { name: 'Code from your authenticator app' }).fill('000000');
  await off.getByRole('button', { name: 'Turn off' }).click();
  await off.getByText('This is wrong, or it was used before.').waitFor();
});

it('signing in never redirects to another site', async ({ t }) => {
  const { email } = await newUser(t);
  const page = await openWindow(t);
  // These lead to another host, or out of the app to another page of this host.
  const outside = [
    '//evil.example/',
    '/..',
    '/%2e%2e//x',
    '/../docs',
    '/.//evil.example',
    '/\\\\evil.example',
  ];
  for (const to of outside) {
    await page.goto(`/admin/sign-in?to=${encodeURIComponent(to)}`);
    await signInHere(page, email);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const { origin, pathname } = new URL(page.url());
    expect([to, origin, pathname.startsWith('/admin/')]).toEqual([to, new URL(t.url).origin, true]);
    await signOut(page);
  }
});

it("the service's address leads people to the app, and API clients to the docs", async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  await page.goto('/');
  await title(page, 'Today').waitFor();
  for (const accept of ['application/json', '*/*']) {
    const response = await fetch(t.url, { headers: { accept }, redirect: 'manual' });
    expect(response).toHaveStatus(404);
    expect(((await response.json()) as { docs: string }).docs).toBe(`${t.url}/docs/errors#ROUTE_NOT_FOUND`);
  }
});

const WORK = ['Today', 'Repairs', 'Trade returns', 'Scan station'];
const SETTINGS =
  'Shop,Team,Targets,Dangerous goods,External API,Plan and usage,Personal data,Audit log'.split(',');

const pages = (page: Page, name = 'Pages') => page.getByRole('navigation', { name }).getByRole('link');

it('the menu leads an Admin to every page', async ({ t }) => {
  const page = await openPageAs('Today', t, 'ADMIN');
  const shown = await pages(page).allTextContents();
  expect(shown.slice(0, -1)).toEqual([...WORK, 'Settings', 'Docs']);
  expect(shown.at(-1)).toContain('Account');
  const expectPage = async (link: Locator, name: string) => {
    await link.click();
    await title(page, name).waitFor();
    await expect.poll(() => page.title()).toBe(`${name} · Handback`);
  };
  for (const name of WORK) await expectPage(pages(page).filter({ hasText: name }), name);
  await expectPage(pages(page).filter({ hasText: 'Settings' }), 'Shop');
  expect(await pages(page, 'Settings').allTextContents()).toEqual(SETTINGS);
  for (const name of SETTINGS) await expectPage(pages(page, 'Settings').filter({ hasText: name }), name);
  await expectPage(pages(page).filter({ hasText: 'Account' }), 'Account');
});

it('Staff see the work and their own account, and are told that settings are for Admins', async ({ t }) => {
  const page = await openPageAs('Today', t, 'STAFF');
  expect((await pages(page).allTextContents()).slice(0, -1)).toEqual([...WORK, 'Docs']);
  for (const path of ['shop', `external-api/${t.client.id}`, 'audit-log']) {
    await goInside(page, `/admin/settings/${path}`);
    await title(page, 'Settings are for Admins').waitFor();
  }
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Go to Today' }).click();
  await title(page, 'Today').waitFor();
});

it('Staff of a shared computer leave nothing behind when they sign out', async ({ t }) => {
  await newRepair(t, { customerName: 'Grace Okafor' });
  const page = await openPageAs('New repair', t, 'STAFF');
  await field(page, 'Name').fill('Ada Pereira');
  await page.reload();
  await page.getByText('What you typed before is still here.').waitFor();
  // A search and a return that it found are stored for the way back and for the next return.
  await page.goto('/admin/offline-repairs?q=Okafor');
  await page.getByRole('rowheader').getByRole('link').click();
  await page.getByRole('heading', { name: /^#RMA-/ }).waitFor();
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).toContain('Okafor');
  await signOut(page);
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

it('a signed-in user skips the sign-in page, forward and back', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF' });
  const page = await openWindow(t);
  await page.goto('/admin/sign-in?to=%2Ftrade-returns');
  await signInHere(page, email);
  await title(page, 'Trade returns').waitFor();
  await page.goto('/admin/sign-in?to=%2Faccount');
  await title(page, 'Account').waitFor();
  expect(new URL(page.url()).pathname).toBe('/admin/account');
  await page.goBack();
  await title(page, 'Trade returns').waitFor();
});

it('users can sign in, work and sign out if the browser blocks storage', async ({ t }) => {
  const { email } = await newUser(t, { role: 'STAFF' });
  const page = await openWindow(t, { ownProfile: true });
  // The component library warns in the console about what it cannot store.
  await page.addInitScript(`console.warn = () => {};
    for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
  await page.goto('/admin/');
  await signInTitle(page).waitFor();
  await signInHere(page, email);
  await title(page, 'Today').waitFor();
  // The cookie still identifies the user.
  await page.goto('/admin/offline-repairs/new');
  await fillIn(page, REPAIR_FIELDS);
  await page.getByRole('button', { name: 'Create repair' }).click();
  await title(page, '#RMA-000001').waitFor();
  await page.goto('/admin/scan-station');
  await page.getByRole('checkbox', { name: 'Sound' }).check();
  await signOut(page);
  await page.goto('/admin/');
  await signInTitle(page).waitFor();
});

it('on a phone the second factor starts with a link and a key, since a phone cannot scan its own screen', async ({
  t,
}) => {
  const page = await openPageAs('Account', t, 'STAFF', { width: 390 });
  await page.getByRole('button', { name: 'Set up two-step verification' }).click();
  const link = page.getByRole('link', { name: 'Open the app on this device' });
  await link.waitFor();
  expect(await link.getAttribute('href')).toMatch(/^otpauth:\/\/totp\//);
  await page.getByText('Add this account to an authenticator app.').waitFor();
  const topOf = async (at: Locator) => (await at.boundingBox())?.y ?? Number.NaN;
  const picture = page.getByRole('img', { name: /QR code/ });
  expect(await topOf(link)).toBeLessThan(await topOf(picture));
  expect(await topOf(page.getByLabel('Key for the authenticator app'))).toBeLessThan(await topOf(picture));
  await accessibleEverywhere(page);
});
