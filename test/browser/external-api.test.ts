import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { openAs, openPageAs, saidAt } from '../support/browser.ts';
import { harness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

// An address by number, so that no name has to be looked up.
const HOOK = 'https://93.184.216.34/hooks/handback';

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });

describe('API clients', () => {
  it('shows key and secret once, and they work', async () => {
    const t = await harness();
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'New client' }).click();

    const form = page.getByRole('dialog', { name: 'New API client' });
    await form.getByRole('textbox', { name: 'Name' }).fill('ERP, Hamburg');
    await form.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill(HOOK);
    await form.getByRole('button', { name: 'Create client' }).click();

    const once = page.getByRole('dialog', { name: 'ERP, Hamburg is ready' });
    const key = await once.getByRole('textbox', { name: 'API key' }).inputValue();
    const secret = await once.getByRole('textbox', { name: 'Webhook secret' }).inputValue();
    expect(key).not.toBe('');
    expect(secret).not.toBe('');
    expect(await once.getByRole('group', { name: 'Try it' }).textContent()).toContain(key);
    expect((await t.get('/offline-repairs', { key })).status).toBe(200);

    // Neither the keyboard nor an unready hand closes it.
    const done = once.getByRole('button', { name: 'Done' });
    expect(await done.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await once.getByLabel('I have stored the key and the secret').check();
    await done.click();
    await once.waitFor({ state: 'hidden' });

    await rowOf(page, 'ERP, Hamburg').getByText(HOOK).waitFor();
    const kept = () => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    for (const where of [await page.content(), await kept()]) {
      expect(where).not.toContain(key);
      expect(where).not.toContain(secret);
    }
    await page.reload();
    await rowOf(page, 'ERP, Hamburg').waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await page.content()).not.toContain(secret);
  });

  it('are not left by mistake while their key is shown', async () => {
    const t = await harness();
    const page = await openPageAs('Team', t, 'ADMIN');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'External API' }).click();
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Kiosk');
    await page.keyboard.press('Control+Enter');
    const once = page.getByRole('dialog', { name: 'Kiosk is ready' });
    await once.waitFor();
    const asked: string[] = [];
    page.once('dialog', (question) => {
      asked.push(question.message());
      void question.dismiss();
    });
    await page.evaluate('history.back()');
    await expect.poll(() => asked).toEqual(['Leave this page? The API key cannot be shown again.']);
    await once.getByRole('textbox', { name: 'API key' }).waitFor();
    await once.getByLabel('I have stored the key and the secret').check();
    await once.getByRole('button', { name: 'Done' }).click();
    await rowOf(page, 'Kiosk').getByText('None').waitFor();
  });

  it('take no webhook URL into a private network, and say so at the input', async () => {
    const t = await harness();
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'New client' }).click();
    const form = page.getByRole('dialog', { name: 'New API client' });
    const hook = form.getByRole('textbox', { name: 'Webhook URL (optional)' });
    await form.getByRole('textbox', { name: 'Name' }).fill('ERP');
    await hook.fill('https://10.0.0.8/hooks');
    await form.getByRole('button', { name: 'Create client' }).click();
    await expect.poll(() => saidAt(hook)).toContain('Must not lead into a private network.');
    expect(await hook.getAttribute('aria-invalid')).toBe('true');
    expect(await hook.inputValue()).toBe('https://10.0.0.8/hooks');

    await hook.fill(HOOK);
    await form.getByRole('button', { name: 'Create client' }).click();
    await page.getByRole('dialog', { name: 'ERP is ready' }).waitFor();
  });

  it('can be renamed and be given another webhook URL', async () => {
    const t = await harness();
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'Edit Till' }).click();
    const form = page.getByRole('dialog', { name: 'Edit Till' });
    const name = form.getByRole('textbox', { name: 'Name' });
    expect(await name.inputValue()).toBe('Till');
    await name.fill('Till, Bremen');
    await form.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill(HOOK);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Till, Bremen is saved.').waitFor();
    await rowOf(page, 'Till, Bremen').getByText(HOOK).waitFor();
    expect((await t.get('/offline-repairs')).status).toBe(200);

    await page.getByRole('button', { name: 'Edit Till, Bremen' }).click();
    await page.getByRole('textbox', { name: 'Webhook URL (optional)' }).fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, 'Till, Bremen').getByText('None').waitFor();
  });

  it('are revoked only by their name, and their key fails from then on', async () => {
    const t = await harness();
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'Revoke Till' }).click();
    const form = page.getByRole('dialog', { name: 'Revoke Till?' });
    const revoke = form.getByRole('button', { name: 'Revoke for good' });
    const typed = form.getByRole('textbox', { name: 'Type Till to confirm' });
    expect(await revoke.isDisabled()).toBe(true);
    await typed.fill('till');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    expect(await revoke.isDisabled()).toBe(true);
    expect((await t.get('/offline-repairs')).status).toBe(200);

    await typed.fill('Till');
    await revoke.click();
    await page.getByText('Till is revoked.').waitFor();
    await rowOf(page, 'Till').getByText('Revoked').waitFor();
    expect(await page.getByRole('button', { name: 'Edit Till' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Revoke Till' }).count()).toBe(0);
    expect((await t.get('/offline-repairs')).status).toBe(401);
  });

  it('are replaced with the rest taken over; the new key is shown once and works, and the old one fails', async () => {
    const t = await harness();
    const page = await openPageAs('External API', t, 'ADMIN');
    await page.getByRole('button', { name: 'Replace Till' }).click();
    const form = page.getByRole('dialog', { name: 'Replace Till?' });
    await form.getByText('If the program is no longer used, revoke the client instead.').waitFor();
    const name = form.getByRole('textbox', { name: 'Name' });
    expect(await name.inputValue()).toBe('Till');
    await name.fill('');
    await form.getByRole('button', { name: 'Replace client' }).click();
    await expect.poll(() => saidAt(name)).toContain('Please fill this in.');
    await name.fill('Till 2');
    const hook = form.getByRole('textbox', { name: 'Webhook URL (optional)' });
    await hook.fill('https://10.0.0.8/hooks');
    await form.getByRole('button', { name: 'Replace client' }).click();
    await expect.poll(() => saidAt(hook)).toContain('Must not lead into a private network.');
    expect((await t.get('/offline-repairs')).status).toBe(200);
    await hook.fill(HOOK);
    await form.getByRole('button', { name: 'Replace client' }).click();

    const once = page.getByRole('dialog', { name: 'Till 2 is ready' });
    await once.getByText('The old key has stopped working.').waitFor();
    const key = await once.getByRole('textbox', { name: 'API key' }).inputValue();
    expect((await t.get('/offline-repairs', { key })).status).toBe(200);
    expect((await t.get('/offline-repairs')).status).toBe(401);
    await once.getByLabel('I have stored the key and the secret').check();
    await once.getByRole('button', { name: 'Done' }).click();

    await rowOf(page, 'Till 2').getByText(HOOK).waitFor();
    const old = rowOf(page, 'Till');
    await old.getByText('Replaced', { exact: true }).waitFor();
    for (const button of ['Edit Till', 'Replace Till', 'Revoke Till'])
      expect(await page.getByRole('button', { name: button, exact: true }).count()).toBe(0);
    await old.getByRole('link', { name: 'Till 2', exact: true }).click();
    await page.getByRole('heading', { name: 'Deliveries to Till 2', level: 2 }).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('rowheader', { name: 'Replaced an API client' }).waitFor();
  });

  it('that were revoked in a hurry can still be replaced', async () => {
    const t = await harness();
    await revokeClient(t.ctx, OPERATOR, t.client);
    const page = await openPageAs('External API', t, 'ADMIN');
    await rowOf(page, 'Till').getByText('Revoked').waitFor();
    await page.getByRole('button', { name: 'Replace Till' }).click();
    await page.getByRole('button', { name: 'Replace client' }).click();
    await page.getByRole('dialog', { name: 'Till is ready' }).waitFor();
  });
});

describe('deliveries', () => {
  it('tell what was sent, how often, and what came back', async () => {
    const t = await webhookHarness();
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
    await page.getByRole('heading', { name: 'Deliveries to Receiver', level: 2 }).waitFor();
    await page.getByText(`Events go to ${receiver.url}.`).waitFor();
    const row = (words: string) =>
      page
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader') })
        .filter({ hasText: words });
    const dropped = row('Dropped');
    const there = row('Delivered');
    await dropped.getByText('The receiver failed (500)').waitFor();
    expect(await dropped.count()).toBe(1);
    expect(await there.count()).toBe(1);
    expect(await dropped.getByRole('link').getAttribute('href')).toBe(`/admin/offline-repairs/${refused.id}`);
    expect(await there.getByRole('link').getAttribute('href')).toBe(`/admin/offline-repairs/${delivered.id}`);

    await dropped.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    const attempts = page.getByRole('region', { name: 'Attempts' });
    await page.getByText('Dropped: four attempts failed').waitFor();
    expect(await attempts.getByRole('row').count()).toBe(1 + 4);
    expect(await attempts.getByRole('cell', { name: '500', exact: true }).count()).toBe(4);
    expect(await attempts.getByRole('cell', { name: 'The receiver failed' }).count()).toBe(4);
    const payload = page.getByRole('region', { name: 'What is sent' });
    expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(receiver.received[0]?.body);
    await dropped.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    await attempts.waitFor({ state: 'hidden' });

    await there.getByRole('button', { name: 'Details of offline_repair.created' }).click();
    await attempts.getByRole('cell', { name: 'Acknowledged' }).waitFor();
    expect(await attempts.getByRole('row').count()).toBe(1 + 1);
    expect(await attempts.getByRole('cell', { name: '200', exact: true }).count()).toBe(1);
    expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(receiver.received[4]?.body);
  });

  it('begin with a test event, which arrives and touches no return', async () => {
    const t = await webhookHarness();
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    const page = await openAs(t, 'ADMIN');
    await page.goto(`/admin/settings/external-api/${client.id}`);
    await page.getByText('Nothing has been sent yet').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    const [arrived] = await receiver.got(1);
    expect(arrived?.body.event).toBe('webhook.test');
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'webhook.test' }) });
    await row.getByText('Delivered').waitFor();
    expect(await row.getByRole('link').count()).toBe(0);
    await row.getByRole('button', { name: 'Details of webhook.test' }).click();
    const payload = page.getByRole('region', { name: 'What is sent' });
    expect(JSON.parse((await payload.textContent()) ?? '')).toEqual(arrived?.body);
    expect((await t.get('/offline-repairs', { key: client.apiKey })).body.total).toBe(0);
    expect((await t.get('/trade-returns', { key: client.apiKey })).body.total).toBe(0);
    expect(receiver.received).toHaveLength(1);
  });

  it('can be filtered, and the filter is in the address', async () => {
    const t = await webhookHarness();
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    await t.create(client);
    await t.drained();
    const page = await openAs(t, 'ADMIN');
    await page.goto(`/admin/settings/external-api/${client.id}`);
    const delivered = page.getByRole('rowheader', { name: 'offline_repair.created' });
    await delivered.waitFor();

    const status = page.getByRole('combobox', { name: 'Status' });
    await status.selectOption('Dropped');
    await page.getByText('Nothing fits these filters').waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('DROPPED');
    await page.reload();
    await page.getByText('Nothing fits these filters').waitFor();
    expect(await status.inputValue()).toBe('DROPPED');

    await status.selectOption('Delivered');
    await delivered.waitFor();
    expect(new URL(page.url()).searchParams.get('status')).toBe('DELIVERED');
    await page.getByRole('combobox', { name: 'Event' }).selectOption('offline_repair.closed');
    await page.getByText('Nothing fits these filters').waitFor();
    await page.goBack();
    await delivered.waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(await status.inputValue()).toBe('');
    await delivered.waitFor();
  });

  it('that have not happened yet are no empty page', async () => {
    const t = await harness();
    const page = await openAs(t, 'ADMIN');
    await page.goto(`/admin/settings/external-api/${t.client.id}`);
    await page.getByText('Nothing has been sent yet').waitFor();
    await page.getByText('This client has no webhook URL').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'External API' }).click();
    await page.getByRole('heading', { name: 'External API', level: 2 }).waitFor();
  });
});
