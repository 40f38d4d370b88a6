import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newUser, PASSWORD } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { openAs, openPageAs } from '../support/browser.ts';
import { type Harness, harness } from '../support/harness.ts';

// What comes in between: a lost connection, a session that ends, a change of mind.

const menu = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 2, exact: true });
const endSessions = (t: Harness) => t.ctx.db.deleteFrom('sessions').execute();

it('offline, a page that is not loaded yet is told of inside the app, and opens when the network is back', async () => {
  const t = await harness();
  const page = await openPageAs('Account and password', t, 'STAFF', { ownProfile: true });
  await page.waitForLoadState('networkidle');
  await page.evaluate('window.sameDocument = true');
  await page.context().setOffline(true);
  await menu(page, 'Trade returns').click();
  await page.getByRole('alert').getByText('You are offline').waitFor();
  await menu(page, 'Account and password').click();
  await title(page, 'Account and password').waitFor();
  await menu(page, 'Offline repairs').click();
  await page.getByRole('alert').getByText('You are offline').waitFor();
  await page.context().setOffline(false);
  await title(page, 'Offline repairs').waitFor();
  expect(await page.evaluate('window.sameDocument')).toBe(true);
});

it('a service that is away while the network is there does not lead out of the app either', async () => {
  const t = await harness();
  const page = await openPageAs('Account and password', t, 'STAFF', { ownProfile: true });
  await page.waitForLoadState('networkidle');
  await page.evaluate('window.sameDocument = true');
  await page.route('**/*', (route) => route.abort('internetdisconnected'));
  await menu(page, 'Trade returns').click();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.unroute('**/*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await title(page, 'Trade returns').waitFor();
  expect(await page.evaluate('window.sameDocument')).toBe(true);
});

it('a session that ends inside a dialog is begun again above it, and what was typed is sent', async () => {
  const t = await harness();
  const { body: repair } = await t.post('/offline-repairs', repairBody());
  const email = 'clerk@example.com';
  const page = await openAs(t, 'STAFF', { email });
  await page.goto(`/admin/offline-repairs/${repair.id}`);
  await page.getByRole('button', { name: 'Begin repair' }).click();
  const move = page.getByRole('dialog', { name: /^Begin repair/ });
  await move.getByLabel('Repair notes').fill('A long note about the heating element');
  await endSessions(t);
  await move.getByRole('button', { name: 'Begin repair' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText(email).waitFor();
  const password = again.getByLabel('Password').and(page.locator('input'));
  await password.fill('not the password');
  await page.keyboard.press('Enter');
  await again.getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  await password.fill(PASSWORD);
  await page.keyboard.press('Enter');
  await again.waitFor({ state: 'hidden' });
  expect(await move.getByLabel('Repair notes').inputValue()).toBe('A long note about the heating element');
  await move.getByRole('button', { name: 'Begin repair' }).click();
  await page.getByText('A long note about the heating element').first().waitFor();
  expect((await t.get(`/offline-repairs/${repair.id}`)).body.status).toBe('OFFLINE_REPAIR');
});

it('somebody else who signs in after a session ended sees nothing of what was there', async () => {
  const t = await harness();
  await t.post('/offline-repairs', repairBody({ customerName: 'Grace Okafor' }));
  const { shop } = await t.addShop();
  const stranger = await newUser(t, { role: 'STAFF', shop });
  const page = await openAs(t, 'STAFF');
  await page.goto('/admin/offline-repairs');
  await page.getByText('Grace Okafor').waitFor();
  await endSessions(t);
  await page.getByRole('link', { name: 'Unassigned' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByRole('button', { name: 'Somebody else signs in' }).click();
  await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  await page.getByLabel('E-mail').fill(stranger.email);
  await page.getByLabel('Password').and(page.locator('input')).fill(stranger.password);
  await page.keyboard.press('Enter');
  await title(page, 'Overview').waitFor();
  await menu(page, 'Offline repairs').click();
  await page.getByText('No repairs').first().waitFor();
  expect(await page.content()).not.toContain('Grace Okafor');
});

it('signing out shows no error on the way, and nobody is asked to sign in again', async () => {
  const t = await harness();
  const page = await openPageAs('Overview', t, 'STAFF');
  await page.evaluate(`
    window.seen = [];
    new MutationObserver(() => {
      for (const each of document.querySelectorAll('[role="alert"], [role="dialog"]')) window.seen.push(each.textContent);
    }).observe(document.body, { childList: true, subtree: true })`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  expect(await page.evaluate('window.seen')).toEqual([]);
});

it('Cancel forgets the customer that was typed', async () => {
  const t = await harness();
  await newUser(t);
  const page = await openAs(t, 'STAFF');
  await page.goto('/admin/offline-repairs/new');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada Pereira');
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByText('No repairs yet').waitFor();
  await page.getByRole('link', { name: 'New repair' }).click();
  await title(page, 'New repair').waitFor();
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('');
  expect(await page.getByText('What you typed before is still here.').count()).toBe(0);
});
