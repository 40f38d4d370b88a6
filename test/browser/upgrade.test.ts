import { expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { expectAccessible, openAs, openPageAs, settled } from '../support/browser.ts';
import { harness } from '../support/harness.ts';

it('a tab left open across an upgrade fetches the page anew where a part of it is gone', async () => {
  const t = await harness();
  const page = await openPageAs('Overview', t, 'STAFF');
  // Gone until the page itself is asked for again, which knows the parts by their new names.
  let fetched = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) fetched += 1;
  });
  await page.route(/\/assets\/trade-returns-.*\.js$/, (route) =>
    fetched === 0 ? route.fulfill({ status: 404 }) : route.continue(),
  );
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Trade returns' }).click();
  await page.getByRole('heading', { name: 'Trade returns', level: 2 }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/admin/trade-returns');
  expect(fetched).toBeGreaterThan(0);
});

it('the page works without a component that is optional and cannot be loaded', async () => {
  const t = await harness();
  const page = await openAs(t, 'STAFF');
  await page.route(/\/assets\/notification-area-.*\.js$/, (route) => route.fulfill({ status: 404 }));
  await page.route(/\/assets\/exact-time-.*\.js$/, (route) => route.fulfill({ status: 404 }));
  await t.post('/offline-repairs', repairBody());
  const gone = page.waitForResponse((response) => response.url().includes('/notification-area-'));
  await page.goto('/admin/offline-repairs');
  await gone;
  await page.getByRole('link', { name: '#RMA-000001' }).click();
  await page.getByText('Created just now').hover();
  await page.getByRole('heading', { name: '#RMA-000001' }).waitFor();
});

it('a service that cannot answer at the beginning is told of, and tried again', async () => {
  const t = await harness();
  const page = await openAs(t, 'STAFF');
  await page.route('**/admin/api/session', (route) => route.abort('internetdisconnected'));
  await page.goto('/admin/trade-returns');
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
  await settled(page);
  await expectAccessible(page);
  await page.unroute('**/admin/api/session');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Trade returns', level: 2 }).waitFor();
});
