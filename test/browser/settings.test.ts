import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { newUser } from '../support/admin.ts';
import {
  expectAccessible,
  expectAccessibleDialog,
  goInside,
  openAt,
  openPageAs,
  saidAt,
} from '../support/browser.ts';
import {
  emailAt,
  expectDisabled,
  expectValue,
  menu,
  pick,
  rowWith,
  searchOf,
  title,
  toPage,
} from '../support/browser-pages.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';

const it = itWith(sharedHarness());

it('the team is ordered by name, and can be searched and filtered', async ({ t }) => {
  for (const [name, role] of [
    ['Zoe Adler', 'STAFF'],
    ['ada Pereira', 'ADMIN'],
    ['Bea Okafor', 'STAFF'],
  ] as const)
    await newUser(t, { name, role });
  const page = await openPageAs('Team', t, 'ADMIN', { email: emailAt(t, 'me') });
  const names = async () => {
    const texts = await page.getByRole('rowheader').allTextContents();
    return texts.map((text) => /^(Zoe|ada|Bea)/.exec(text)?.[0]).filter(Boolean);
  };
  await expect.poll(names).toEqual(['ada', 'Bea', 'Zoe']);
  const search = page.getByRole('searchbox', { name: 'Search by name or email' });
  await search.fill('OKA bea');
  await expect.poll(names).toEqual(['Bea']);
  await page.getByText('1 person', { exact: true }).waitFor();
  await search.fill('');
  const show = page.getByRole('combobox', { name: 'Show' });
  await show.selectOption('Admins');
  await expect.poll(names).toEqual(['ada']);
  await show.selectOption('Never signed in');
  await expect.poll(names).toEqual(['ada', 'Bea', 'Zoe']);
  await search.fill('nobody of this name');
  await page.getByText('No matches').waitFor();
  await page.getByRole('button', { name: 'Show everyone' }).click();
  await expect.poll(names).toEqual(['ada', 'Bea', 'Zoe']);
});

it('targets are suggested, and leaving them unsaved needs confirmation', async ({ t }) => {
  const page = await openPageAs('Targets', t, 'ADMIN');
  await page.getByRole('button', { name: 'Suggest targets' }).click();
  await expectValue(page.getByRole('textbox', { name: 'In repair' }), '10 days');
  const asked: string[] = [];
  page.once('dialog', (question) => {
    asked.push(question.message());
    void question.dismiss();
  });
  const team = menu(page, 'Team');
  await team.click();
  await expect.poll(() => asked).toHaveLength(1);
  await expectValue(page.getByRole('textbox', { name: 'In repair' }), '10 days');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expectValue(page.getByRole('textbox', { name: 'In repair' }), '');
  await page.getByRole('button', { name: 'Suggest targets' }).click();
  page.once('dialog', (question) => void question.accept());
  await team.click();
  await title(page, 'Team').waitFor();
});

it('shop settings suggest the browser’s time zone, and do not save it by themselves', async ({ t }) => {
  const page = await openPageAs('Shop', t, 'ADMIN', { timeZone: 'Europe/Berlin' });
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Use Europe/Berlin' }).click();
  await expectValue(page.getByLabel('Time zone'), 'Europe/Berlin');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Shop settings saved.').waitFor();
  await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
});

// An IP address needs no DNS.
const HOOK = 'https://93.184.216.34/hooks/handback';

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });

describe('API clients', () => {
  it('are revoked after their name is typed, and can only be replaced then', async ({ t }) => {
    const page = await openPageAs('External API', t, 'ADMIN');
    await pick(page, 'Till', 'Revoke');
    const form = page.getByRole('dialog', { name: 'Revoke Till?' });
    const revoke = form.getByRole('button', { name: 'Revoke for good' });
    const typed = form.getByRole('textbox', { name: 'Type “Till” to confirm' });
    await expectDisabled(revoke);
    await typed.fill('till');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    expect(await revoke.isDisabled()).toBe(true);
    expect(await t.get('/offline-repairs')).toHaveStatus(200);

    await typed.fill('Till');
    await revoke.click();
    await page.getByText('Till revoked.').waitFor();
    await rowOf(page, 'Till').getByText('Revoked').waitFor();
    await page.getByRole('button', { name: 'More for Till' }).click();
    const actions = page.getByRole('menuitem');
    await actions.first().waitFor();
    expect(await actions.allTextContents()).toEqual(['Replace']);
  });

  it('are replaced with the same settings unless others are given', async ({ t }) => {
    const page = await openPageAs('External API', t, 'ADMIN');
    await pick(page, 'Till', 'Replace');
    const form = page.getByRole('dialog', { name: 'Replace Till?' });
    await form.getByText('No longer in use? Revoke the client instead.').waitFor();
    const replace = () => form.getByRole('button', { name: 'Replace client' }).click();
    const name = form.getByRole('textbox', { name: 'Name' });
    expect(await name.inputValue()).toBe('Till');
    await name.fill('');
    await replace();
    await expect.poll(() => saidAt(name)).toContain('Required');
    await name.fill('Till 2');
    const hook = form.getByRole('textbox', { name: 'Webhook URL (optional)' });
    await hook.fill('https://10.0.0.8/hooks');
    await replace();
    await expect.poll(() => saidAt(hook)).toContain('Must not lead into a private network.');
    await hook.fill(HOOK);
    await replace();

    const once = page.getByRole('dialog', { name: 'Till 2 is ready' });
    await once.getByText('The old key has stopped working.').waitFor();
    await closeKeys(page, 'Till 2');

    await rowOf(page, 'Till 2').getByText(HOOK).waitFor();
    const old = rowOf(page, 'Till');
    await old.getByText('Replaced', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More for Till', exact: true }).waitFor({ state: 'detached' });
    await old.getByRole('link', { name: 'Till 2', exact: true }).click();
    await title(page, 'Deliveries to Till 2').waitFor();
    await menu(page, 'Audit log').click();
    await page.getByRole('rowheader', { name: 'replaced API client Till' }).waitFor();
  });
});

const DAY_MS = 86_400_000;
/** One time for the whole suite, which may run across midnight. */
const NOW_MS = Date.now();
const dayAhead = (days: number): string => new Date(NOW_MS + days * DAY_MS).toISOString().slice(0, 10);
/** The end of a day in UTC, in the app's own words. */
const shownEnd = (day: string): string => {
  const shown = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  return `the end of ${shown.format(Date.parse(day))} (UTC)`;
};
const closeKeys = async (page: Page, name: string) => {
  const once = page.getByRole('dialog', { name: `${name} is ready` });
  await once.getByLabel('I have stored the key and the secret').check();
  await once.getByRole('button', { name: 'Done' }).click();
};

describe('rights, events and the expiry of a key', () => {
  it('are chosen for a new client, edited, and shown in the audit log', async ({ t, admin }) => {
    const stored = async () =>
      (await admin.get('/clients')).body.items.find(({ name }: { name: string }) => name === 'Warehouse');
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'New client' }).click();
    const form = page.getByRole('dialog', { name: 'New API client' });
    const create = () => form.getByRole('button', { name: 'Create API client' }).click();
    const events = form.getByRole('group', { name: 'Events to send' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Warehouse');
    expect(await events.count()).toBe(0);
    await form.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill(HOOK);
    await events.waitFor();
    expect(await events.getByRole('checkbox', { checked: true }).count()).toBe(9);
    await expectAccessibleDialog(page);
    for (const checkbox of await events.getByRole('checkbox').all()) await checkbox.uncheck();
    await create();
    const missing = form.getByText('Choose at least one event.');
    await missing.waitFor();
    const ofTrade = events.getByRole('group', { name: 'Trade returns' });
    await ofTrade.getByRole('checkbox', { name: 'Items counted' }).check();
    await missing.waitFor({ state: 'detached' });
    await form.getByRole('checkbox', { name: 'Create returns and update repairs' }).uncheck();
    await form.getByRole('checkbox', { name: 'Update trade returns' }).check();
    const lastDay = form.getByLabel('Key valid until (optional)');
    await lastDay.fill(dayAhead(-1));
    await create();
    await expect.poll(() => saidAt(lastDay)).toContain('Must be in the future.');
    await lastDay.fill(dayAhead(40));
    await create();
    await closeKeys(page, 'Warehouse');
    const row = rowWith(page, 'Warehouse');
    await row.getByText('Update trade returns').waitFor();
    await row.getByText('Active', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({
      rights: ['move-trade-returns'],
      events: ['trade_return.items_received'],
      expiresAt: `${dayAhead(41)}T00:00:00.000Z`,
    });

    await pick(page, 'Warehouse', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit Warehouse' });
    await expectValue(edit.getByLabel('Key valid until (optional)'), dayAhead(40));
    await edit.getByLabel('Key valid until (optional)').fill('');
    await edit.getByRole('checkbox', { name: 'Update trade returns' }).uncheck();
    await edit.getByRole('checkbox', { name: 'Status changed' }).first().check();
    await edit.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Read only').waitFor();
    expect(await stored()).toMatchObject({
      rights: [],
      events: ['offline_repair.status_changed', 'trade_return.items_received'],
      expiresAt: null,
    });
    await row.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByText('Permissions: Read only.').waitFor();

    await menu(page, 'Audit log').click();
    await page.getByRole('button', { name: /^Details of “.* edited API client Warehouse”$/ }).click();
    for (const words of [
      'Update trade returnsRead only',
      'offline_repair.status_changed',
      `${shownEnd(dayAhead(40))}No end`,
    ])
      await page.getByRole('definition').filter({ hasText: words }).first().waitFor();
  });

  it('let the old key of a replaced client work for a while, and be revoked early', async ({ t }) => {
    const page = await openPageAs('External API', t, 'ADMIN');
    await pick(page, 'Till', 'Replace');
    const form = page.getByRole('dialog', { name: 'Replace Till?' });
    const replace = () => form.getByRole('button', { name: 'Replace client' }).click();
    const until = form.getByLabel('Old key works until');
    expect(await until.count()).toBe(0);
    await form.getByRole('radio', { name: 'Keeps working for a while' }).check();
    await replace();
    await expect.poll(() => saidAt(until)).toContain('Required');
    await until.fill(dayAhead(31));
    await replace();
    await expect.poll(() => saidAt(until)).toContain('Must be in the future, by 30 days at most.');
    await expectAccessibleDialog(page);
    await form.getByRole('textbox', { name: 'Name' }).fill('Till 2');
    const lastDay = (await until.getAttribute('max')) ?? '';
    await until.fill(lastDay);
    await replace();
    const works = `The old key works until ${shownEnd(lastDay)}.`;
    await page.getByRole('dialog', { name: 'Till 2 is ready' }).getByText(works).waitFor();
    await closeKeys(page, 'Till 2');

    const old = rowOf(page, 'Till');
    await old.getByText('Replaced', { exact: true }).waitFor();
    await old.getByText(works).waitFor();
    await old.getByRole('link', { name: 'Deliveries to Till' }).click();
    await page.getByText(`${works} Events go to the client that replaced it.`).waitFor();
    expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0);
    await toPage(page, 'External API');
    await pick(page, 'Till', 'Revoke');
    await page.getByRole('dialog', { name: 'Revoke Till?' }).waitFor();
  });

  it('show a key that expires within two weeks, and one that has expired', async ({ t, admin }) => {
    const expiresAt = `${dayAhead(6)}T00:00:00Z`;
    await admin.post('/clients', { name: 'Kiosk', expiresAt, webhookUrl: HOOK });
    await t.ctx.db
      .updateTable('api_clients')
      .set({ expires_at: Date.parse('2026-01-01T10:30:00Z') })
      .where('id', '=', t.client.id)
      .execute();
    const page = await openPageAs('External API', t, 'ADMIN');
    await rowWith(page, 'Kiosk').getByText('Expires soon').waitFor();
    await rowWith(page, 'Kiosk')
      .getByText(`The key works until ${shownEnd(dayAhead(5))}.`)
      .waitFor();
    await rowOf(page, 'Till').getByText('Key expired').waitFor();
    await expectAccessible(page);
    await rowOf(page, 'Till').getByRole('link', { name: 'Deliveries to Till' }).click();
    await page.getByText('The key worked until Jan 1, 2026, 10:30 AM (UTC).').waitFor();
    await expectAccessible(page);
  });
});

describe('deliveries', () => {
  it('show what was sent, how often and the response, or that nothing was sent', async ({ sending: t }) => {
    const receiver = await startReceiver((n) => (n <= 4 ? 500 : 200));
    const client = await t.addReceiver(receiver.url);
    const refused = await t.create(client, { orderNumber: 'SO-REFUSED' });
    for (let count = 1; count < 4; count++) {
      await t.attempted(count);
      t.advance(16_000);
    }
    await t.drained();
    const delivered = await t.create(client, { orderNumber: 'SO-DELIVERED' });
    await t.drained();

    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('link', { name: 'Deliveries to Receiver' }).click();
    await title(page, 'Deliveries to Receiver').waitFor();
    await page.getByText(`Events go to ${receiver.url}.`).waitFor();
    const dropped = rowWith(page, 'Failed');
    const there = rowWith(page, 'Delivered');
    await dropped.getByText('Your system failed (500)').waitFor();
    // The event in words, beside the name that programs use.
    await dropped.getByRole('rowheader').filter({ hasText: 'Repairs: Created' }).waitFor();
    expect(await dropped.count()).toBe(1);
    expect(await there.count()).toBe(1);
    expect(await dropped.getByRole('link').getAttribute('href')).toBe(`/admin/offline-repairs/${refused.id}`);
    expect(await there.getByRole('link').getAttribute('href')).toBe(`/admin/offline-repairs/${delivered.id}`);

    await dropped.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    const attempts = page.getByRole('region', { name: 'Attempts' });
    await page.getByText('Four attempts failed: status 500.').waitFor();
    await expect.poll(() => attempts.getByRole('row').count()).toBe(1 + 4);
    expect(await attempts.getByRole('cell', { name: '500', exact: true }).count()).toBe(4);
    expect(await attempts.getByRole('cell', { name: 'Your system failed' }).count()).toBe(4);
    const payload = page.getByRole('region', { name: 'What we send' });
    expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(receiver.received[0]?.body);
    await dropped.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    await attempts.waitFor({ state: 'hidden' });

    await there.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    await attempts.getByRole('cell', { name: 'Accepted' }).waitFor();
    expect(await attempts.getByRole('row').count()).toBe(1 + 1);
    expect(await attempts.getByRole('cell', { name: '200', exact: true }).count()).toBe(1);
    expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(receiver.received[4]?.body);

    // Nothing was sent to this client.
    await goInside(page, `/admin/settings/external-api/${t.client.id}`);
    await page.getByText('Nothing sent yet').waitFor();
    await page.getByText('This client has no webhook URL').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'External API' }).last().click();
    await title(page, 'External API').waitFor();
  });

  it('that failed for the same reason share one message, with advice', async ({ sending: t }) => {
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    for (let count = 0; count < 3; count++) await t.create(client);
    await t.drained();
    await t.ctx.db
      .updateTable('webhook_deliveries')
      .set({ status: 'DROPPED', reason: 'four attempts failed: status 404' })
      .where('receiver_id', '=', client.id)
      .execute();
    const page = await openAt(`/settings/external-api/${client.id}`, t, 'ADMIN');
    const message = page.getByRole('alert').filter({ hasText: '3 failed: status 404' });
    await message.getByText('Check the webhook URL.').waitFor();
    await expectAccessible(page);
    await message.getByRole('button', { name: 'Show failed' }).click();
    await expect.poll(() => searchOf(page)).toEqual({ status: 'DROPPED' });
    await message.getByRole('button', { name: 'Edit client' }).click();
    await page.getByRole('dialog', { name: 'Edit Receiver' }).waitFor();
  });

  it('can be filtered, and the filter is in the address', async ({ sending: t }) => {
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    await t.create(client);
    await t.drained();
    const page = await openAt(`/settings/external-api/${client.id}`, t, 'ADMIN');
    const delivered = page.getByRole('rowheader', { name: 'offline_repair.created' });
    await delivered.waitFor();

    const status = page.getByRole('combobox', { name: 'Status' });
    await status.selectOption('Failed');
    await page.getByText('No matches').waitFor();
    await expect.poll(() => searchOf(page)).toEqual({ status: 'DROPPED' });
    await page.reload();
    await page.getByText('No matches').waitFor();
    await expectValue(status, 'DROPPED');

    await status.selectOption('Delivered');
    await delivered.waitFor();
    await expect.poll(() => searchOf(page)).toEqual({ status: 'DELIVERED' });
    await page.getByRole('combobox', { name: 'Event' }).selectOption('offline_repair.closed');
    await page.getByText('No matches').waitFor();
    await page.goBack();
    await delivered.waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await expectValue(status, '');
    await delivered.waitFor();
  });
});

it('a letterhead shows each of its lines once, even if two are equal', async ({ t }) => {
  const page = await openPageAs('Shop', t, 'ADMIN');
  const address = page.getByRole('textbox', { name: 'Address', exact: true });
  const lines = page.getByRole('article').locator('header span');
  for (const typed of [
    ['Harbour Road', 'Harbour Road', 'Port'],
    ['Port', 'Harbour Road', 'Harbour Road'],
    ['Harbour Road', 'Port', 'Port'],
  ]) {
    await address.fill(typed.join('\n'));
    await expect.poll(() => lines.allTextContents()).toEqual(typed);
  }
});
