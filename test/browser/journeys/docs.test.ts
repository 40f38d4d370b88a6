import { expect } from 'vitest';
import { BASE_PATH } from '../../../contract/common.ts';
import { expectAccessible, openWindow } from '../../support/browser.ts';
import { itWith } from '../../support/fixtures.ts';
import { sharedHarness } from '../../support/harness.ts';

// A reader with a base URL and a key.

const it = itWith(sharedHarness());

it('a reader copies the quick start with their own address, and finds an error code by keyboard only', async ({
  t,
}) => {
  const page = await openWindow(t);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/docs');
  expect(new URL(page.url()).pathname).toBe('/docs/');
  await page
    .getByRole('navigation', { name: 'Documentation' })
    .getByRole('link', { name: 'Quick start' })
    .click();
  const block = page.locator('.code').first();
  await expect.poll(() => block.locator('pre').textContent()).toContain(`export BASE=${t.url}${BASE_PATH}`);
  expect(await page.locator('main').textContent()).not.toContain('returns.example.com');
  // The button says so for two seconds.
  const copying = block.getByRole('button', { name: 'Copied' }).waitFor();
  await block.getByRole('button', { name: 'Copy' }).click();
  await copying;
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toBe(`${await block.locator('pre').textContent()}\n`);

  await page.keyboard.press('/');
  await page.keyboard.type('limit exceeded');
  const chosen = page.getByRole('option', { selected: true });
  await expect.poll(() => chosen.first().textContent()).toContain('LIMIT_EXCEEDED');
  await expectAccessible(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toBe(`${t.url}/docs/errors#LIMIT_EXCEEDED`);
  await page.locator('[id="LIMIT_EXCEEDED"]').waitFor();
});
