import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PAGES } from '../../scripts/docs/pages.ts';
import { expectAccessible, look, openWindow } from '../support/browser.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

// A message in the browser's console and a request to another host fail each test.

const it = itWith(sharedHarness());

const title = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

const overflow = (page: Page) =>
  page.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`);

it('the search finds an endpoint despite a typo, and says so when nothing is found', async ({ t }) => {
  const page = await openWindow(t);
  await page.goto('/docs/webhooks');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.keyboard.type('lodge trackin');
  const first = page.getByRole('option').first();
  await expect.poll(() => first.textContent()).toContain('POST /offline-repairs/{id}/tracking');
  await first.click();
  await page.getByRole('heading', { name: 'Lodge return tracking' }).first().waitFor();
  expect(page.url()).toContain('/docs/reference#tag/offline-repairs/');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zzzzqqqq');
  await expect.poll(() => page.getByRole('status').textContent()).toContain('Nothing was found');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
});

/** The layout depends on the width, colours on the scheme. Axe checks colours where a page has elements that no page before it had. */
const LOOKS = [
  { width: 1280, scheme: 'light', seenBefore: 'butColours' },
  { width: 1024, scheme: 'light', seenBefore: 'ofWidth' },
  { width: 390, scheme: 'dark', seenBefore: 'ofWidth' },
] as const;

/** The elements of the page that the stylesheet can tell apart. */
const kindsOn = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...new Set([...document.querySelectorAll('body *')].map((at) => at.tagName + '.' + at.className))]`,
  );

const seen = new Set<string>();
const GROUPS = Map.groupBy(
  // The reference has a test of its own.
  PAGES.filter(({ name }) => name !== 'reference'),
  ({ group }) => group,
);

it.for([...GROUPS])(
  'the pages under “%s” fit their window and are accessible, in light and in dark',
  async ([, pages], { t }) => {
    const page = await openWindow(t);
    for (const { name } of pages) {
      const address = `/docs/${name === 'index' ? '' : name}`;
      await page.goto(address);
      const kinds = await kindsOn(page);
      const isNew = kinds.some((kind) => !seen.has(kind));
      for (const kind of kinds) seen.add(kind);
      expect(await page.locator('nav.pages [aria-current="page"]').count(), address).toBe(1);
      for (const { width, scheme, seenBefore } of LOOKS) {
        await look(page, { width, scheme });
        expect(await overflow(page), `${address} ${width}`).toBeLessThanOrEqual(0);
        const rules = isNew && width !== 1024 ? 'all' : seenBefore;
        await expectAccessible(page, `${address} ${width} ${scheme}`, rules);
      }
    }
  },
);

it('the documentation has a menu on a phone, which Escape closes', async ({ t }) => {
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

it('the keyboard can skip the navigation', async ({ t }) => {
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
  // The top bar does not cover it.
  expect(top).toBeGreaterThanOrEqual(56);
});

const ground = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor');

it('the reference shows every part of the API, and has the menu of the other pages on a phone', async ({
  t,
}) => {
  const page = await openWindow(t);
  await page.goto('/docs/reference');
  await page.getByRole('heading', { name: 'Handback External API' }).waitFor();
  expect(await page.getByText('Powered by').isVisible()).toBe(false);
  const { tags = [] } = t.app.swagger() as { tags?: { name: string }[] };
  expect(tags.length).toBeGreaterThan(1);
  for (const { name } of tags) await page.getByText(name, { exact: true }).first().waitFor();
  await look(page, { width: 390 });
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await page
    .getByRole('navigation', { name: 'Documentation' })
    .getByRole('link', { name: 'Webhooks' })
    .click();
  await expect.poll(() => title(page)).toBe('Webhooks');
});

it('the documentation shares light or dark with the admin app, and links to it', async ({ t }) => {
  const page = await openWindow(t);
  await page.goto('/docs/');
  const light = await ground(page);
  await page.getByRole('button', { name: 'Switch between light and dark' }).click();
  const dark = await ground(page);
  expect(dark).not.toBe(light);
  await page.goto('/docs/reference');
  expect(await ground(page)).toBe(dark);
  await page.getByRole('link', { name: 'Open app' }).click();
  await page.getByRole('heading', { name: 'Sign in to Handback' }).waitFor();
  expect(await page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
});
