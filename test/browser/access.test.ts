import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newUser, PASSWORD } from '../support/admin.ts';
import { expectAccessible, look, openPageAs, openWindow, saidAt } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';
import { appCode } from '../support/second-factor.ts';
import { mailServer } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const rowOf = (page: Page, words: string) => page.getByRole('row').filter({ hasText: words });
const password = (page: Page, label: string) => page.getByLabel(label).and(page.locator('input'));
const overview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 2 }).waitFor();
const pick = async (page: Page, name: string, item: string) => {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
/** On a desk in light, and on a phone in dark. */
const accessibleEverywhere = async (page: Page): Promise<void> => {
  await expectAccessible(page);
  await look(page, { scheme: 'dark', width: 390 });
  await expectAccessible(page);
  await look(page, { scheme: 'light', width: 1280 });
};

/** Reads the key on the page, as a person would type it into their app, and turns the second factor on. */
const turnOn = async (
  t: Harness,
  page: Page,
  begin: string,
): Promise<{ secret: string; codes: string[] }> => {
  await page.getByRole('button', { name: begin }).click();
  const key = page.getByLabel('Key for the authenticator app');
  const secret = ((await key.textContent()) ?? '').replaceAll(' ', '');
  await page
    .getByRole('img', { name: /QR code/ })
    .locator('path')
    .waitFor();
  const input = page.getByRole('textbox', { name: 'The code that the app shows now' });
  await input.fill('000000');
  await page.getByRole('button', { name: 'Turn it on' }).click();
  await expect.poll(() => saidAt(input)).toContain('This is wrong, or it was used before.');
  await input.fill(appCode(secret, t.ctx.clock.now()));
  await page.getByRole('button', { name: 'Turn it on' }).click();
  const list = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await list.first().waitFor();
  const codes = await list.allTextContents();
  expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await page.getByRole('checkbox', { name: 'I have stored the codes' }).check();
  return { secret, codes };
};

describe('invitations', () => {
  it('show a link, in which the person chooses a password; it works once', async () => {
    const t = await harness();
    const page = await openPageAs('Team', t, 'ADMIN');
    await page.getByRole('button', { name: 'Invite person' }).click();
    const form = page.getByRole('dialog', { name: 'Invite a person' });
    await form.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com');
    await form.getByRole('textbox', { name: 'Name' }).fill('Grace Muller');
    await form.getByRole('button', { name: 'Invite' }).click();
    const shown = page.getByRole('dialog', { name: 'Grace Muller is invited' });
    await shown.getByText('no e-mail was sent').waitFor();
    const link = await shown.getByRole('textbox', { name: 'Link' }).inputValue();
    expect(link.startsWith(`${t.url}/admin/link#`)).toBe(true);
    await accessibleEverywhere(page);
    await shown.getByRole('button', { name: 'Done' }).click();
    await rowOf(page, 'Grace Muller').getByText('Never signed in').waitFor();

    const theirs = await openWindow(t);
    let checks = 0;
    theirs.on('request', (request) => {
      if (request.url().endsWith('/links/check')) checks += 1;
    });
    await theirs.goto(link);
    await theirs.getByRole('heading', { name: 'Welcome, Grace Muller' }).waitFor();
    await theirs.getByText('sign in to Test shop as grace@example.com').waitFor();
    await accessibleEverywhere(theirs);
    await password(theirs, 'Password').fill('short');
    await theirs.keyboard.press('Enter');
    await expect.poll(() => saidAt(password(theirs, 'Password'))).toContain('at least 8 characters');
    await password(theirs, 'Password').fill('quite another password');
    await theirs.keyboard.press('Enter');
    await overview(theirs);
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

    await page.reload();
    await rowOf(page, 'Grace Muller').getByText('just now').waitFor();
    await pick(page, 'Grace Muller', 'New link to choose a password');
    await page.getByText('within an hour').waitFor();
    await page.getByRole('button', { name: 'Make the link' }).click();
    const second = page.getByRole('dialog', { name: 'A link for Grace Muller' });
    expect(await second.getByRole('textbox', { name: 'Link' }).inputValue()).toContain('/admin/link#');
  });

  it('and forgotten passwords are mailed where mail is set up', async () => {
    const mails = await mailServer();
    const t = await harness({ env: mails.env });
    const { email } = await newUser(t);
    const page = await openPageAs('Team', t, 'ADMIN');
    await page.getByRole('button', { name: `New link for ${email}` }).click();
    await page.getByRole('button', { name: 'Make the link' }).click();
    await page.getByText(`on its way to ${email} by e-mail`).waitFor();

    const theirs = await openWindow(t);
    await theirs.goto('/admin/sign-in');
    await theirs.getByRole('link', { name: 'Forgot your password?' }).click();
    await theirs.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
    await accessibleEverywhere(theirs);
    await theirs.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await theirs.getByRole('button', { name: 'Send the link' }).click();
    await theirs.getByRole('heading', { name: 'Look into your mailbox' }).waitFor();
    const mail = await until('the second mail comes', () => mails.received[1]);
    const [, path = ''] = /(\/admin\/link#[0-9a-f]{64})/.exec(mail.text) ?? [];
    await theirs.goto(path);
    await password(theirs, 'Password').fill('quite another password');
    await theirs.getByRole('button', { name: 'Save and sign in' }).click();
    await overview(theirs);
  });
});

describe('the second factor', () => {
  it('is turned on, asked for at sign-in, renewed, reset by an Admin and turned off', async () => {
    const t = await harness();
    const { email } = await newUser(t, { role: 'STAFF', name: 'Grace Muller' });
    const theirs = await openWindow(t);
    const signIn = async () => {
      await theirs.goto('/admin/sign-in');
      await theirs.getByLabel('E-mail').fill(email);
      await password(theirs, 'Password').fill(PASSWORD);
      await theirs.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn();
    await overview(theirs);
    await theirs.goto('/admin/account');
    const { secret, codes } = await turnOn(t, theirs, 'Set up a second factor');
    await accessibleEverywhere(theirs);
    await theirs.getByRole('button', { name: 'Done' }).click();
    await theirs.getByText('10 recovery codes are left').waitFor();
    await accessibleEverywhere(theirs);
    await theirs.getByRole('button', { name: 'Sign out' }).click();
    await theirs.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();

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
    await overview(theirs);

    await theirs.goto('/admin/account');
    await theirs.getByRole('button', { name: 'Make new recovery codes' }).click();
    const current = password(theirs, 'Current password').and(theirs.locator('[role=dialog] input'));
    await current.fill('not the password');
    await theirs.getByRole('button', { name: 'Make new codes' }).click();
    await expect.poll(() => saidAt(current)).toContain('not your current password');
    await theirs.getByRole('button', { name: 'Use a code instead of the password' }).click();
    await theirs.getByRole('button', { name: 'Use a recovery code instead' }).click();
    // Whoever asks for the other field wants to type into it.
    const recovery = theirs.getByRole('textbox', { name: 'Recovery code' });
    await expect.poll(() => recovery.evaluate((input) => input.matches(':focus'))).toBe(true);
    await recovery.fill(codes[0] ?? '');
    await theirs.getByRole('button', { name: 'Make new codes' }).click();
    await theirs.getByRole('list', { name: 'Recovery codes' }).waitFor();

    const page = await openPageAs('Team', t, 'ADMIN');
    await rowOf(page, 'Grace Muller').getByRole('cell', { name: 'On', exact: true }).waitFor();
    await pick(page, 'Grace Muller', 'Reset the second factor');
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
    await page.getByText('Grace Muller has no second factor any more.').waitFor();
    await signIn();
    await overview(theirs);
  });

  it('is set up before anything else where the shop requires it', async () => {
    const t = await harness();
    const staff = await openPageAs('Overview', t, 'STAFF');
    const page = await openPageAs('Team', t, 'ADMIN');
    await accessibleEverywhere(page);
    await page.getByRole('switch', { name: 'Require a second factor of everybody' }).click();
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await accessibleEverywhere(page);
    await turnOn(t, page, 'Begin');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Team', level: 2 }).waitFor();
    await page.goto('/admin/settings/audit-log');
    await page.getByText('Turned on the second factor').waitFor();

    // A colleague who was at work meanwhile is led there with the next thing they open, and can go nowhere else.
    await staff.getByRole('link', { name: 'Trade returns' }).first().click();
    await staff.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await staff.goto('/admin/offline-repairs');
    await staff.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await staff.getByRole('button', { name: 'Sign out' }).click();
    await staff.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  });
});
