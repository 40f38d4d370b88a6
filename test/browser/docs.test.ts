import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { expectAccessible, look, openWindow } from '../support/browser.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

// A reader with a base URL and a key. What the console complains of and what is asked of another host fails each test.

const it = itWith(sharedHarness());

const title = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

/** Asked from here: the page's own policy forbids scripts made of text. */
const overflow = (page: Page) =>
  page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`);

const screenshot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: `${folder}/docs-${name}.png` });
};

/** The addresses in the navigation, but for the reference, which has a test of its own. */
const articlesIn = async (page: Page): Promise<string[]> => {
  const links = await page
    .locator('nav.pages a')
    .evaluateAll((found) => found.map((link) => (link as unknown as { href: string }).href));
  return links.filter((address) => !address.endsWith('/reference'));
};

describe('the search', () => {
  it('finds a call, with a slip of the finger, and leads into the reference', async ({ t }) => {
    const page = await openWindow(t);
    await page.goto('/docs/webhooks');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.keyboard.type('lodge trackin');
    const first = page.getByRole('option').first();
    await expect.poll(() => first.textContent()).toContain('POST /offline-repairs/{id}/tracking');
    await first.click();
    await page.getByRole('heading', { name: 'Lodge return tracking' }).first().waitFor();
    expect(page.url()).toContain('/docs/reference#tag/offline-repairs/');
  });

  it('says so when nothing is found, and closes with Escape', async ({ t }) => {
    const page = await openWindow(t);
    await page.goto('/docs/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('zzzzqqqq');
    await expect.poll(() => page.getByRole('status').textContent()).toContain('Nothing was found');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });
});

/** Layouts come with the width and colours with the scheme; axe looks at the first and the last. */
const LOOKS = [
  { width: 1280, scheme: 'light', isAskedAxe: true },
  { width: 1024, scheme: 'light' },
  { width: 390, scheme: 'dark', isAskedAxe: true },
] as const;

it('every page fits its window and is accessible, in light and in dark', async ({ t }) => {
  const page = await openWindow(t);
  await page.goto('/docs/');
  for (const address of await articlesIn(page)) {
    await page.goto(address);
    expect(await page.locator('nav.pages [aria-current="page"]').count(), address).toBe(1);
    for (const { width, scheme, ...more } of LOOKS) {
      await look(page, { width, scheme });
      expect(await overflow(page), `${address} ${width}`).toBeLessThanOrEqual(0);
      await screenshot(page, `${address.split('/').at(-1) || 'index'}-${width}-${scheme}`);
      if ('isAskedAxe' in more) await expectAccessible(page, `${address} ${width} ${scheme}`);
    }
  }
});

it('has a menu on a phone, which Escape closes', async ({ t }) => {
  const page = await openWindow(t, { width: 390 });
  await page.goto('/docs/limits');
  const menu = page.getByRole('button', { name: 'Menu' });
  const pages = page.getByRole('navigation', { name: 'Documentation' });
  expect(await pages.isVisible()).toBe(false);
  await menu.click();
  await pages.waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect.poll(() => pages.isVisible()).toBe(false);
  await menu.click();
  await pages.getByRole('link', { name: 'Webhooks' }).click();
  await expect.poll(() => title(page)).toBe('Webhooks');
});

it('leads with the keyboard past the navigation', async ({ t }) => {
  const page = await openWindow(t);
  await page.goto('/docs/errors');
  await page.keyboard.press('Tab');
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('main:focus').count()).toBe(1);
});

it('the address in an error leads to its explanation', async ({ t }) => {
  const refused = await t.get('/offline-repairs', { key: 'wrong' });
  const page = await openWindow(t);
  await page.goto(refused.body.docs);
  await expect.poll(() => page.locator(':target').textContent()).toContain('UNAUTHENTICATED');
  const top = await page
    .locator(':target')
    .evaluate((found) =>
      Math.round(
        (found as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect().top,
      ),
    );
  // Below the top bar, not under it.
  expect(top).toBeGreaterThanOrEqual(56);
});
