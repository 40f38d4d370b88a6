import { describe, expect, it } from 'vitest';
import { newUser } from '../support/admin.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { openPageAs, openWindow } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

describe('signing in', () => {
  it('leads to the page that was asked for, and out again', async () => {
    const t = await harness();
    const { email, password } = await newUser(t, { role: 'STAFF' });
    const page = await openWindow(t);
    await page.goto('/admin/trade-returns');
    await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
    await page.getByLabel('E-mail').fill(email.toUpperCase());
    await page.getByLabel('Password').and(page.locator('input')).fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Trade returns', level: 2 }).waitFor();

    await page.getByRole('navigation', { name: 'Pages' }).getByText(email).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
    await page.goto('/admin/trade-returns');
    await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  });

  it('says why it did not work, and keeps what was typed', async () => {
    const t = await harness();
    const { email } = await newUser(t);
    const page = await openWindow(t);
    await page.goto('/admin/sign-in');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').and(page.locator('input')).fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/e-mail|password/i);
    expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
  });

  it('follows no link to another site', async () => {
    const t = await harness();
    const { email } = await newUser(t);
    const page = await openWindow(t);
    await page.goto('/admin/sign-in?to=//evil.example/');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').and(page.locator('input')).fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 2 }).waitFor();
    expect(new URL(page.url()).origin).toBe(new URL(t.url).origin);
  });
});

describe('the overview', () => {
  it('shows figures that lead to the lists behind them', async () => {
    const t = await harness({ allowance: 10 });
    await t.post('/offline-repairs', repairBody());
    await t.post('/trade-returns', tradeBody());
    const page = await openPageAs('Overview', t, 'STAFF');
    // How much of the plan is used is for Admins.
    expect(await page.getByText('of 10').count()).toBe(0);
    await page.getByRole('link', { name: /^In diagnostics/ }).click();
    await page.getByRole('heading', { name: 'Offline repairs', level: 2 }).waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('OFFLINE_DIAGNOSTICS');
  });

  it('warns of a plan without the API, a read-only shop and an allowance nearly used', async () => {
    const t = await harness({ allowance: 5 });
    for (let i = 0; i < 4; i++) await t.post('/offline-repairs', repairBody());
    await t.ctx.db
      .updateTable('shops')
      .set({ plan: 'GROWTH', subscription: 'inactive' })
      .where('id', '=', t.shop.id)
      .execute();
    const page = await openPageAs('Overview', t, 'STAFF');
    await page.getByText('The subscription is inactive').waitFor();
    await page.getByText('does not include the External API').waitFor();
    await page.getByText("4 of this month's 5 returns are used").waitFor();
  });
});
