// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { newPerson } from '../support/admin.ts';
import { ISO, rulesOf } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { atOnce, auditLog, pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

const URL_A = 'https://1.1.1.1/a';
const replacedClient = async (t: Harness, id = t.client.id, body?: unknown) => {
  const admin = await newPerson(t);
  const response = await admin.post(`/clients/${id}/replace`, body);
  expect(response).toHaveStatus(201);
  return response.body;
};

describe('replacing a client', () => {
  it('returns a new key and secret, shown once, and stops the old key immediately', async ({ t, admin }) => {
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
    const response = await admin.post(`/clients/${t.client.id}/replace`);
    expect(response).toHaveStatus(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { id, apiKey, webhookSecret, ...shown } = response.body;
    expect(shown).toMatchObject({ name: 'Till', webhookUrl: null, lastUsedAt: null, revokedAt: null });
    expect(apiKey).toMatch(/^handback_ext_[0-9a-f]{48}$/);
    expect(webhookSecret).toMatch(/^whsec_[0-9a-f]{48}$/);
    expect([apiKey, webhookSecret]).not.toContain(t.client.apiKey);
    expect(await t.get('/offline-repairs')).toHaveStatus(401);
    expect(await t.get('/offline-repairs', { key: apiKey })).toHaveStatus(200);
    const { body } = await admin.get('/clients');
    expect(body.items).toMatchObject([
      { id: t.client.id, replacedBy: id, revokedAt: expect.stringMatching(ISO) },
      { id, replacedBy: null, revokedAt: null },
    ]);
  });

  it('keeps the name and the URL unless new ones are given', async ({ admin }) => {
    const erp = { name: 'ERP', webhookUrl: URL_A };
    for (const [body, expected] of [
      [undefined, erp],
      [{}, erp],
      [{ name: null }, erp],
      [{ name: ' ERP 2 ' }, { ...erp, name: 'ERP 2' }],
      [{ webhookUrl: 'https://1.1.1.1/b' }, { ...erp, webhookUrl: 'https://1.1.1.1/b' }],
      [{ webhookUrl: null }, { ...erp, webhookUrl: null }],
      [{ webhookUrl: '' }, { ...erp, webhookUrl: null }],
    ]) {
      const { id } = (await admin.post('/clients', erp)).body;
      expect((await admin.post(`/clients/${id}/replace`, body)).body).toMatchObject(expected as object);
    }
  });

  it('with an invalid webhook URL or name is refused and changes nothing', async ({ t, admin }) => {
    const rules = async (body: object) => rulesOf(await admin.post(`/clients/${t.client.id}/replace`, body));
    for (const webhookUrl of ['https://127.0.0.1/', 'nonsense'])
      expect(await rules({ webhookUrl })).toEqual({ webhookUrl: 'address' });
    expect(await rules({ url: URL_A, name: 7 })).toEqual({ url: 'unknown', name: 'type' });
    expect((await admin.get('/clients')).body.items).toMatchObject([{ revokedAt: null, replacedBy: null }]);
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
  });

  it('works for a client that was revoked before, and keeps its time of revocation', async ({ t, admin }) => {
    await revokeClient(t.ctx, OPERATOR, t.client);
    const [{ revokedAt }] = (await admin.get('/clients')).body.items;
    t.clock.advance(60_000);
    const { id } = await replacedClient(t);
    expect((await admin.get('/clients')).body.items[0]).toMatchObject({ revokedAt, replacedBy: id });
  });

  it('is refused for a replaced client, with the id of its successor', async ({ t, admin }) => {
    const second = await replacedClient(t);
    const again = await admin.post(`/clients/${t.client.id}/replace`);
    expect(again).toFailWith(409, 'CLIENT_REPLACED');
    expect(again.body.message).toContain(second.id);
    t.clock.advance(1);
    const third = await replacedClient(t, second.id);
    const { items } = (await admin.get('/clients')).body;
    expect(pluck(items, 'replacedBy')).toEqual([third.id, third.id, null]);
    for (const { apiKey } of [t.client, second])
      expect(await t.get('/offline-repairs', { key: apiKey })).toHaveStatus(401);
    expect(await t.get('/offline-repairs', { key: third.apiKey })).toHaveStatus(200);
  });

  it('by several users at once happens once', async ({ t, admin }) => {
    const responses = await atOnce(4, () => admin.post(`/clients/${t.client.id}/replace`));
    expect(responses).toHaveStatuses({ 201: 1, 409: 3 });
    expect((await admin.get('/clients')).body.items).toHaveLength(2);
  });

  it('is recorded in the audit log, with the changes', async ({ t, admin }) => {
    const { id } = await replacedClient(t, t.client.id, { name: 'Desk' });
    const [entry] = await auditLog(admin, 'CLIENT_REPLACED');
    expect(entry).toMatchObject({
      actor: { type: 'USER' },
      subject: { type: 'CLIENT', id: t.client.id, name: 'Till' },
      data: { replacedBy: id, name: { from: 'Till', to: 'Desk' } },
    });
  });

  it('takes over returns and idempotency keys: a retry with the new key returns the first result', async ({
    t,
  }) => {
    const headers = { 'idempotency-key': 'SO-10042' };
    const first = await t.post('/offline-repairs', repairBody(), { headers });
    const { apiKey, id } = await replacedClient(t);
    const same = await t.get(`/offline-repairs/${first.body.id}`, { key: apiKey });
    expect(same.body).toEqual(first.body);
    const retried = await t.post('/offline-repairs', repairBody(), { headers, key: apiKey });
    expect(retried).toHaveStatus(201);
    expect(retried.headers.get('idempotency-replayed')).toBe('true');
    expect(retried.body).toEqual(first.body);
    t.clock.advance(1);
    const { apiKey: third } = await replacedClient(t, id);
    const other = await t.post('/offline-repairs', repairBody({ orderNumber: 'SO-2' }), {
      headers,
      key: third,
    });
    expect(other).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
  });
});
