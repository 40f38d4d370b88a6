import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { goInside, openAs } from '../support/browser.ts';
import { newRepair, rowOf, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

// A tab that was open before an upgrade: the service returns values that its pages do not know.

const it = itWith(sharedHarness());

/** Replaces text of a response. */
const rewrite = (page: Page, path: string, from: RegExp, to: string) =>
  page.route(`**/admin/api${path}`, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    expect(text).toMatch(from);
    await route.fulfill({ response, body: text.replace(from, to) });
  });

it('pages show unknown values as they are, and keep working', async ({ t, admin }) => {
  const repair = await newRepair(t);
  const other = await newRepair(t);
  await t.post(`/offline-repairs/${repair.id}/resolve`, { offlineDisposition: 'WRITE_OFF' });
  await admin.put(`/offline-repairs/${other.id}/waiting-for`, { what: 'PART', until: null, note: null });
  await admin.post(`/offline-repairs/${other.id}/notes`, { text: 'Rings' });
  await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
  const page = await openAs(t, 'ADMIN');

  await rewrite(page, '/audit-log*', /"TARGET_DAYS_CHANGED"/, '"TARGETS_PAINTED"');
  await page.goto('/admin/settings/audit-log');
  await page.getByText('made a change: TARGETS_PAINTED').first().waitFor();

  await rewrite(page, `/offline-repairs/${repair.id}`, /"WRITE_OFF"/, '"RECYCLED"');
  await goInside(page, `/admin/offline-repairs/${repair.id}`);
  await page.getByText('RECYCLED').first().waitFor();
  await rewrite(page, `/offline-repairs/${other.id}/timeline*`, /"WAITING_SET"/, '"WAITING_PAINTED"');
  await rewrite(page, `/offline-repairs/${other.id}`, /"PART"/, '"RAIN"');
  await goInside(page, `/admin/offline-repairs/${other.id}`);
  await page.getByText('made a change (WAITING_PAINTED)').waitFor();
  await page.getByText('Waiting for rain').waitFor();
  await rewrite(page, '/offline-repairs?*', /"PART"/, '"RAIN"');
  await goInside(page, '/admin/offline-repairs');
  await rowOf(page, other.rmaNumber).getByText('RAIN').waitFor();

  await rewrite(page, '/clients', /"ACTIVE"/, '"FROZEN"');
  await goInside(page, '/admin/settings/external-api');
  await page.getByText('FROZEN').waitFor();
  await rewrite(page, '/users?*', /"ADMIN"/g, '"AUDITOR"');
  await goInside(page, '/admin/settings/team');
  await page.getByRole('cell', { name: 'AUDITOR' }).first().waitFor();
  await rewrite(page, '/overview*', /"kind":"OFFLINE_REPAIR"/, '"kind":"RENTAL"');
  await goInside(page, '/admin/');
  await title(page, 'Today').waitFor();
  await page.getByRole('region', { name: 'Next up' }).waitFor();
});

it('deliveries and the plan of a newer service are shown', async ({ t }) => {
  const page = await openAs(t, 'ADMIN');
  const times = { createdAt: new Date().toISOString(), nextAttemptAt: null };
  const delivery = { id: 'd1', rmaId: null, event: 'photo.added', status: 'PAUSED', reason: null, ...times };
  const items = [{ ...delivery, attempts: [], payload: {} }];
  await page.route('**/admin/api/clients/*/deliveries*', (route) =>
    route.fulfill({ json: { items, page: 1, limit: 20, total: 1, totalPages: 1 } }),
  );
  await page.goto(`/admin/settings/external-api/${t.client.id}`);
  await page.getByText('PAUSED').waitFor();
  await page
    .getByText(/^Added/)
    .first()
    .waitFor();
  await page.getByText('photo.added', { exact: true }).waitFor();
  await rewrite(page, '/session', /"plan":"[A-Z]+"/, '"plan":"ULTRA"');
  await page.goto('/admin/settings/plan');
  await page.getByText('ULTRA').waitFor();
});
