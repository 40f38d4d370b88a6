import { expect } from 'vitest';
import { newUser } from '../support/admin.ts';
import { expectAccessible, openAs, openAt, openMove, openPageAs, signInHere } from '../support/browser.ts';
import { menu, newRepair, signInTitle, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

// Interruptions: a lost connection, a session that ends, a change of mind.

const it = itWith(sharedHarness());
const endSessions = (t: Harness) => t.ctx.db.deleteFrom('sessions').execute();

it('a page that cannot be loaded offline shows a message, and opens when the network is back', async ({
  t,
}) => {
  const page = await openPageAs('Account', t, 'STAFF', { ownProfile: true });
  await page.waitForLoadState('networkidle');
  await page.evaluate('window.sameDocument = true');
  await page.context().setOffline(true);
  await menu(page, 'Trade returns').click();
  await page.getByRole('alert').getByText('You are offline').waitFor();
  await menu(page, 'Account').click();
  await title(page, 'Account').waitFor();
  const notice = page.getByRole('status').filter({ hasText: 'You are offline' });
  await notice.waitFor();
  await menu(page, 'Repairs').click();
  await page.getByRole('alert').getByText('You are offline').waitFor();
  await page.context().setOffline(false);
  await title(page, 'Repairs').waitFor();
  await notice.waitFor({ state: 'detached' });
  // The network is back, but the service is not.
  await page.route('**/*', (route) => route.abort('internetdisconnected'));
  await menu(page, 'Trade returns').click();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.unroute('**/*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await title(page, 'Trade returns').waitFor();
  expect(await page.evaluate('window.sameDocument')).toBe(true);
});

it('a chunk that failed to load is loaded again, without a reload', async ({ t }) => {
  const page = await openPageAs('Account', t, 'STAFF', { ownProfile: true });
  await page.evaluate('window.sameDocument = true');
  let requested = 0;
  await page.route(/\/assets\/empty-list-.*\.js$/, (route) => {
    requested += 1;
    return requested === 1 ? route.abort('internetdisconnected') : route.continue();
  });
  await menu(page, 'Repairs').click();
  await page.getByText('No repairs').first().waitFor();
  expect(requested).toBe(2);
  // The other list uses the same chunk.
  await menu(page, 'Trade returns').click();
  await title(page, 'Trade returns').waitFor();
  await page.getByText('No trade returns').first().waitFor();
  expect(await page.evaluate('window.sameDocument')).toBe(true);
});

it('another user who signs in after a session ended sees nothing of it', async ({ t }) => {
  await newRepair(t, { customerName: 'Grace Okafor' });
  const { shop } = await t.addShop();
  const stranger = await newUser(t, { role: 'STAFF', shop });
  const page = await openPageAs('Repairs', t, 'STAFF');
  await page.getByText('Grace Okafor').waitFor();
  await endSessions(t);
  await page.getByRole('link', { name: 'Unassigned' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByRole('button', { name: 'Use another account' }).click();
  await signInTitle(page).waitFor();
  await signInHere(page, stranger.email);
  await title(page, 'Today').waitFor();
  await menu(page, 'Repairs').click();
  await page.getByText('No repairs').first().waitFor();
  expect(await page.content()).not.toContain('Grace Okafor');
});

it('signing out shows no errors and no second sign-in', async ({ t }) => {
  const page = await openPageAs('Today', t, 'STAFF');
  await page.evaluate(`
    window.seen = [];
    new MutationObserver(() => {
      for (const each of document.querySelectorAll('[role="alert"], [role="dialog"]')) window.seen.push(each.textContent);
    }).observe(document.body, { childList: true, subtree: true })`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInTitle(page).waitFor();
  expect(await page.evaluate('window.seen')).toEqual([]);
});

it('a tab left open across an upgrade reloads the page if a chunk of it is gone', async ({ t }) => {
  const page = await openPageAs('Today', t, 'STAFF');
  // The chunk is missing until the page is loaded again, which knows the new names of its chunks.
  let fetched = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) fetched += 1;
  });
  await page.route(/\/assets\/trade-returns-.*\.js$/, (route) =>
    fetched === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await menu(page, 'Trade returns').click();
  await title(page, 'Trade returns').waitFor();
  expect(new URL(page.url()).pathname).toBe('/admin/trade-returns');
  expect(fetched).toBeGreaterThan(0);
});

it('a page works without an optional component that cannot be loaded', async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  await page.route(/\/assets\/notification-area-.*\.js$/, (route) => route.fulfill({ status: 404 }));
  await page.route(/\/assets\/exact-time-.*\.js$/, (route) => route.fulfill({ status: 404 }));
  await newRepair(t);
  const gone = page.waitForResponse((response) => response.url().includes('/notification-area-'));
  await page.goto('/admin/offline-repairs');
  await gone;
  await page.getByRole('link', { name: '#RMA-000001' }).click();
  await page.getByText('Created just now').hover();
  await page.getByRole('heading', { name: '#RMA-000001' }).waitFor();
});

it('a service that is unavailable at the start is shown as such, and tried again', async ({ t }) => {
  const page = await openAs(t, 'STAFF');
  await page.route('**/admin/api/session', (route) => route.abort('internetdisconnected'));
  await page.goto('/admin/trade-returns');
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await expectAccessible(page);
  await page.unroute('**/admin/api/session');
  await page.getByRole('button', { name: 'Try again' }).click();
  await title(page, 'Trade returns').waitFor();
});

it("the response of a captive portal is not taken for the service's", async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openPageAs('Today', t, 'STAFF');
  const portal = { status: 200, contentType: 'text/html', body: '<h1>Welcome to our Wi-Fi</h1>' };
  await page.route('**/admin/api/**', (route) => route.fulfill(portal));
  await menu(page, 'Repairs').click();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await page.unroute('**/admin/api/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: repair.rmaNumber }).click();
  await page.getByRole('button', { name: 'Start repair' }).waitFor();
  await page.route('**/begin-repair*', (route) => route.fulfill(portal));
  await page.getByRole('button', { name: 'Start repair' }).click();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  // The same happens at the start: no response does not mean that there is no session.
  await page.route('**/admin/api/session', (route) => route.fulfill(portal));
  await page.reload();
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/admin/offline-repairs/${repair.id}`);
});

it('a request without a response ends after half a minute, and can be tried again', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openAs(t, 'STAFF', { ownProfile: true });
  await page.clock.install();
  await page.goto(`/admin/offline-repairs/${repair.id}`);
  const button = page.getByRole('button', { name: 'Start repair' });
  await button.waitFor();
  const asked = page.waitForRequest('**/begin-repair*');
  await page.route('**/begin-repair*', () => {});
  await button.click();
  await asked;
  await expect.poll(() => button.getAttribute('aria-busy')).toBe('true');
  await page.clock.runFor(30_000);
  const toast = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
  await toast.waitFor();
  await page.unroute('**/begin-repair*');
  await toast.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').getByText('repair started').waitFor();
});

it('a search request is cancelled when the user types on', async ({ t }) => {
  await newRepair(t);
  const page = await openPageAs('Repairs', t, 'STAFF');
  await page.getByText('1 repair', { exact: true }).waitFor();
  await page.route('**/admin/api/offline-repairs?q=first*', () => {});
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().includes('q=first'));
  const asked = page.waitForRequest('**/admin/api/offline-repairs?q=first*');
  const field = page.getByRole('textbox', { name: 'Search number, customer, phone, serial …' });
  await field.fill('first');
  await asked;
  await field.fill('second');
  await aborted;
});

it('a refusal is explained by its code without technical text, and what was typed is kept', async ({ t }) => {
  const repair = await newRepair(t);
  const page = await openAt(`/offline-repairs/${repair.id}`, t, 'STAFF');
  await openMove(page, 'Resolve');
  const dialog = page.getByRole('dialog', { name: 'Resolve' });
  await dialog.getByRole('radio', { name: /^Write off/ }).check();
  await dialog.getByLabel('Notes').fill('Beyond repair');
  for (const [status, code, words] of [
    [429, 'RATE_LIMITED', 'Too many requests. Try again in 20 seconds.'],
    [503, 'INTERNAL_ERROR', 'Something went wrong on our side. Try again.'],
    [409, 'FROZEN_BY_TAX', 'This could not be done (FROZEN_BY_TAX).'],
    [403, 'READ_ONLY', 'Your subscription is inactive.'],
  ] as const) {
    const body = {
      statusCode: status,
      error: '',
      code,
      message: 'POST /frozen: `faultyItem.sku`',
      requestId: 'r1',
    };
    await page.route('**/resolve?*', (route) =>
      route.fulfill({ status, json: body, headers: status === 429 ? { 'retry-after': '20' } : {} }),
    );
    await dialog.getByRole('button', { name: 'Resolve' }).click();
    await dialog.getByRole('alert').getByText(words).waitFor();
    expect(await dialog.getByText('faultyItem').count()).toBe(0);
    expect(await dialog.getByLabel('Notes').inputValue()).toBe('Beyond repair');
    await page.unroute('**/resolve?*');
  }
});

it('slow loading shows a message', async ({ t }) => {
  const page = await openPageAs('Account', t, 'STAFF');
  await page.route('**/admin/api/trade-returns?*', () => {});
  await menu(page, 'Trade returns').click();
  await page.getByText('Still loading. If this takes longer, check your connection.').waitFor();
  await expectAccessible(page);
});
