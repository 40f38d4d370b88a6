import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { openAs, openPageAs } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

const WORK = ['Overview', 'Offline repairs', 'Trade returns', 'Bench'];
const SETTINGS = [
  'Shop',
  'External API',
  'Team',
  'Dangerous goods',
  'Targets',
  'Plan and usage',
  'Audit log',
];
const OWN = ['Account and password'];

const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 2, exact: true });

describe('an Admin', () => {
  it('is led to every page, by the menu', async () => {
    const t = await harness();
    const page = await openPageAs('Overview', t, 'ADMIN');
    expect(await pages(page).allTextContents()).toEqual([...WORK, ...SETTINGS, ...OWN]);
    for (const name of [...WORK, ...SETTINGS, ...OWN]) {
      await pages(page).filter({ hasText: name }).click();
      await title(page, name).waitFor();
      await expect.poll(() => page.title()).toBe(`${name} · Handback`);
    }
  });

  it('who becomes Staff sees the settings no more', async () => {
    const t = await harness();
    const other = await newPerson(t, { role: 'ADMIN' });
    const page = await openPageAs('Overview', t, 'ADMIN');
    const { body: team } = await other.get('/users');
    const self = team.items.find(({ id }: { id: string }) => id !== other.id);
    expect((await other.patch(`/users/${self.id}`, { role: 'STAFF' })).status).toBe(200);
    await page.goto('/admin/settings/audit-log');
    await title(page, 'Overview').waitFor();
    expect(await pages(page).allTextContents()).toEqual([...WORK, ...OWN]);
  });
});

describe('Staff', () => {
  it('see the work and their own account, and are led away from the settings', async () => {
    const t = await harness();
    const page = await openPageAs('Overview', t, 'STAFF');
    expect(await pages(page).allTextContents()).toEqual([...WORK, ...OWN]);
    for (const path of [
      'shop',
      'external-api',
      `external-api/${t.client.id}`,
      'team',
      'dangerous-goods',
      'plan',
      'audit-log',
    ]) {
      await page.goto(`/admin/settings/${path}`);
      await title(page, 'Overview').waitFor();
      expect(new URL(page.url()).pathname, path).toBe('/admin/');
    }
  });

  it('of a shared computer leave nothing behind when they sign out', async () => {
    const t = await harness();
    await t.post('/offline-repairs', repairBody({ customerName: 'Grace Okafor' }));
    const page = await openAs(t, 'STAFF');
    await page.goto('/admin/offline-repairs/new');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada Pereira');
    await page.reload();
    await page.getByText('What you typed before is still here.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(kept).not.toContain('Ada Pereira');
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
    expect(await page.content()).not.toContain('Ada Pereira');
  });
});
