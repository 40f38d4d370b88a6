import { expect } from 'vitest';
import { newUser } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { openAs, openAt, signInHere } from '../support/browser.ts';
import { menu, newRepair, rowOf, signInTitle, title } from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';

// Pages that stay open: for hours, or until the next person sits down at the same computer.

const it = itWith(sharedHarness());

it('an open list keeps its due times, groups and ages up to date', async ({ t, admin }) => {
  await admin.put('/target-days', { targets: [{ status: 'OFFLINE_DIAGNOSTICS', days: 2 }] });
  const { rmaNumber } = await newRepair(t);
  const page = await openAs(t, 'STAFF', { ownProfile: true, width: 1700 });
  await page.clock.install();
  await page.goto('/admin/offline-repairs?sort=dueAt');
  const row = rowOf(page, rmaNumber);
  await row.getByText('due in 2 days').waitFor();
  await row.getByText('just now').first().waitFor();
  // The response of the service is the same, only later.
  await page.clock.fastForward('49:00:00');
  await row.getByText('overdue today').waitFor();
  await row
    .getByText(/^[23] days ago$/)
    .first()
    .waitFor();
  await page
    .getByRole('rowheader', { name: 'Overdue' })
    .or(page.getByText('Overdue', { exact: true }))
    .last()
    .waitFor();
  expect(await row.getByText('just now').count()).toBe(0);
});

it('Today counts returns added since it was opened, and says if it could not', async ({ t }) => {
  await newRepair(t);
  const page = await openAs(t, 'STAFF', { ownProfile: true });
  await page.clock.install();
  await page.goto('/admin/');
  const created = page.getByRole('region', { name: 'New today' });
  await created.getByText('1', { exact: true }).waitFor();
  await newRepair(t);
  await page.clock.runFor(60_000);
  await created.getByText('2', { exact: true }).waitFor();
  await page.route('**/admin/api/overview*', (route) => route.fulfill({ status: 503 }));
  await page.clock.runFor(60_000);
  await page.getByRole('alert').getByText('This could not be refreshed').waitFor();
  await created.getByText('2', { exact: true }).waitFor();
});

it('at most four saved views have a count, which is refreshed every two minutes', async ({ t, admin }) => {
  await newRepair(t, { customerName: 'Counted' });
  const names = ['Counted', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth'];
  for (const name of names)
    await admin.post('/views', { kind: 'OFFLINE_REPAIR', name, search: { q: name }, shared: true });
  const page = await openAs(t, 'STAFF', { ownProfile: true });
  const counted: string[] = [];
  page.on('request', (request) => {
    const q = new URL(request.url()).searchParams.get('q');
    if (q !== null) counted.push(q);
  });
  await page.clock.install();
  await page.goto('/admin/offline-repairs');
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: /^Counted.*1$/ }).waitFor();
  await views.getByRole('link', { name: /^Fourth.*0$/ }).waitFor();
  const once = names.slice(0, 4);
  expect(counted.toSorted()).toEqual(once.toSorted());
  await newRepair(t, { customerName: 'Counted' });
  await page.clock.runFor(100_000);
  expect(counted).toHaveLength(once.length);
  await page.clock.runFor(30_000);
  await views.getByRole('link', { name: /^Counted.*2$/ }).waitFor();
  await expect.poll(() => counted.toSorted()).toEqual([...once, ...once].toSorted());
});

it('the next user of a computer finds no messages of the last one, and no Undo', async ({ t }) => {
  const { id, rmaNumber } = await newRepair(t);
  const next = await newUser(t, { role: 'STAFF' });
  const page = await openAt(`/offline-repairs/${id}`, t, 'STAFF');
  await title(page, rmaNumber).waitFor();
  await page.getByRole('button', { name: 'Start repair' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  // Under the pointer it does not close by itself.
  await undo.hover();
  await page.getByRole('button', { name: 'Sign out' }).focus();
  await page.keyboard.press('Enter');
  await signInTitle(page).waitFor();
  await signInHere(page, next.email);
  await title(page, 'Today').waitFor();
  await menu(page, 'Repairs').click();
  await rowOf(page, rmaNumber).waitFor();
  expect(await undo.count()).toBe(0);
});

it('a German browser shows English dates and numbers with the English texts', async ({ t, admin }) => {
  const { shopName: _, ...settings } = (await admin.get('/shop-settings')).body;
  expect(await admin.put('/shop-settings', { ...settings, currency: 'EUR' })).toHaveStatus(200);
  const faultyItem = { sku: 'K', productName: 'Kettle', quantity: 1, price: 1299.5, serialNumber: null };
  const { id, createdAt } = (await t.post('/offline-repairs', { ...repairBody(), faultyItem })).body;
  const page = await openAt(`/offline-repairs/${id}`, t, 'ADMIN', { locale: 'de-DE' });
  await page.getByText('€1,299.50').first().waitFor();
  await page.goto(`/admin/print?kind=offline-repairs&ids=${id}`);
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(new Date(createdAt));
  await page.getByText(day, { exact: true }).first().waitFor();
  await page.goto('/admin/settings/plan');
  const next = new Date(new Date().getFullYear(), new Date().getMonth() + 1, 1);
  const first = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' }).format(next);
  await page.getByText(first).waitFor();
});
