// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { SPECIFIED_EVENTS } from '../../contract/webhook-event.ts';
import { newRepair, newTradeReturn, rulesOf } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { deliveriesOf } from '../support/outbox.ts';
import { auditLog } from '../support/responses.ts';

const it = itWith(sharedHarness());

const DAY_MS = 24 * 60 * 60 * 1000;
const URL_A = 'https://1.1.1.1/a';
const ahead = (t: Harness, ms: number) => new Date(t.ctx.clock.now() + ms).toISOString();

describe('the rights and events of a client', () => {
  it('are by default write, nine events and no expiry', async ({ t, admin }) => {
    const settings = { rights: ['write'], events: SPECIFIED_EVENTS, expiresAt: null, keyStatus: 'ACTIVE' };
    expect((await admin.post('/clients', { name: 'ERP' })).body).toMatchObject(settings);
    const none = { rights: null, events: null, expiresAt: null };
    expect((await admin.post('/clients', { name: 'ERP', ...none })).body).toMatchObject(settings);
    const { items } = (await admin.get('/clients')).body;
    expect(items.find(({ id }: { id: string }) => id === t.client.id)).toMatchObject(settings);
  });

  it('are set at creation, changed later and recorded in the audit log', async ({ t, admin }) => {
    const expiresAt = ahead(t, 40 * DAY_MS);
    const chosen = { rights: ['move-trade-returns', 'write', 'write'], events: ['trade_return.resolved'] };
    const response = await admin.post('/clients', { name: 'ERP', ...chosen, expiresAt });
    expect(response).toHaveStatus(201);
    const shown = { rights: ['write', 'move-trade-returns'], events: ['trade_return.resolved'], expiresAt };
    expect(response.body).toMatchObject({ ...shown, keyStatus: 'ACTIVE' });
    const change = async (more: object) => (await admin.patch(`/clients/${response.body.id}`, more)).body;
    expect(await change({})).toMatchObject(shown);
    expect(await change({ rights: null, events: null })).toMatchObject(shown);
    expect(await change({ rights: [] })).toMatchObject({ ...shown, rights: [] });
    expect(await change({ expiresAt: null })).toMatchObject({ rights: [], expiresAt: null });
    const [changed] = await auditLog(admin, 'CLIENT_CHANGED');
    expect(changed.data).toEqual({ expiresAt: { from: expiresAt, to: null } });
    const [created] = await auditLog(admin, 'CLIENT_CREATED');
    const rights = 'write,move-trade-returns';
    expect(created.data).toEqual({ webhookUrl: null, rights, events: 'trade_return.resolved', expiresAt });
  });

  it('are refused if they are unknown, empty or in the past', async ({ t, admin }) => {
    const rules = async (more: object) => rulesOf(await admin.post('/clients', { name: 'ERP', ...more }));
    expect(await rules({ rights: ['read'] })).toEqual({ 'rights.0': 'oneOf' });
    expect(await rules({ rights: 'write' })).toEqual({ rights: 'type' });
    expect(await rules({ events: [] })).toEqual({ events: 'minItems' });
    expect(await rules({ events: ['webhook.test'] })).toEqual({ 'events.0': 'oneOf' });
    expect(Object.keys(await rules({ expiresAt: '2027-01-31' }))).toEqual(['expiresAt']);
    expect(await rules({ expiresAt: ahead(t, -1000) })).toEqual({ expiresAt: 'format' });
    const mistyped = { expiresAt: ahead(t, -365 * DAY_MS) };
    expect(rulesOf(await admin.patch(`/clients/${t.client.id}`, mistyped))).toEqual({ expiresAt: 'format' });
    expect((await admin.get('/clients')).body.items).toHaveLength(1);
  });

  it('come with a warning two weeks before the key expires', async ({ t, admin }) => {
    const expiresAt = ahead(t, 15 * DAY_MS);
    const { id } = (await admin.post('/clients', { name: 'ERP', expiresAt })).body;
    const statusNow = async () =>
      (await admin.get('/clients')).body.items.find((client: { id: string }) => client.id === id).keyStatus;
    expect(await statusNow()).toBe('ACTIVE');
    const { expires_at } = await t.ctx.db
      .selectFrom('api_clients')
      .select('expires_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const endsIn = (ms: number) =>
      t.ctx.db
        .updateTable('api_clients')
        .set({ expires_at: t.ctx.clock.now() + ms })
        .where('id', '=', id)
        .execute();
    expect(new Date(Number(expires_at)).toISOString()).toBe(expiresAt);
    await endsIn(14 * DAY_MS - 1);
    expect(await statusNow()).toBe('EXPIRES_SOON');
    await endsIn(0);
    expect(await statusNow()).toBe('EXPIRED');
    expect((await admin.post(`/clients/${id}/revoke`)).body.keyStatus).toBe('REVOKED');
  });
});

describe('a key that is replaced with an overlap', () => {
  it('works beside the new one until then, and events go to the new client immediately', async ({
    t,
    admin,
  }) => {
    const settings = {
      rights: ['write', 'erase'],
      events: ['offline_repair.created', 'trade_return.created'],
    };
    const old = (await admin.post('/clients', { name: 'ERP', webhookUrl: URL_A, ...settings })).body;
    const before = await newRepair(t, {}, { key: old.apiKey });
    const oldKeyUntil = ahead(t, DAY_MS);
    const replaced = await admin.post(`/clients/${old.id}/replace`, { oldKeyUntil });
    expect(replaced).toHaveStatus(201);
    const next = replaced.body;
    expect(next).toMatchObject({ name: 'ERP', webhookUrl: URL_A, ...settings, expiresAt: null });
    const { items } = (await admin.get('/clients')).body;
    expect(items.find(({ id }: { id: string }) => id === old.id)).toMatchObject({
      revokedAt: null,
      replacedBy: next.id,
      expiresAt: oldKeyUntil,
      keyStatus: 'EXPIRES_SOON',
    });
    const made = [
      await newRepair(t, {}, { key: old.apiKey }),
      await newTradeReturn(t, {}, { key: old.apiKey }),
      await newRepair(t, {}, { key: next.apiKey }),
    ];
    const deliveries = await deliveriesOf(t);
    expect(deliveries.map(({ rma_id, receiver_id }) => [rma_id, receiver_id])).toEqual(
      [before, ...made].map(({ id }) => [id, old.id]),
    );
    t.clock.advance(DAY_MS);
    expect(await t.get('/usage', { key: old.apiKey })).toFailWith(401);
    expect(await t.get('/usage', { key: next.apiKey })).toHaveStatus(200);
  });

  it('receives no events itself, even if only one of the two clients has a URL', async ({ t, admin }) => {
    const old = (await admin.post('/clients', { name: 'ERP' })).body;
    const oldKeyUntil = ahead(t, DAY_MS);
    const replace = (id: string, body: object) =>
      admin.post(`/clients/${id}/replace`, { oldKeyUntil, ...body });
    const next = (await replace(old.id, { webhookUrl: URL_A })).body;
    const one = await newRepair(t, {}, { key: old.apiKey });
    const last = (await replace(next.id, { webhookUrl: null })).body;
    for (const { apiKey } of [old, next, last]) await newRepair(t, {}, { key: apiKey });
    expect((await deliveriesOf(t)).map(({ rma_id }) => rma_id)).toEqual([one.id]);
    expect(await admin.post(`/clients/${next.id}/test-event`)).toFailWith(409, 'NO_WEBHOOK');
  });

  it('cannot be changed or extended, and ends immediately when it is revoked', async ({ t, admin }) => {
    const oldKeyUntil = ahead(t, DAY_MS);
    const replaced = await admin.post(`/clients/${t.client.id}/replace`, { oldKeyUntil });
    expect(replaced).toHaveStatus(201);
    const later = { expiresAt: ahead(t, 300 * DAY_MS) };
    const refused = await admin.patch(`/clients/${t.client.id}`, later);
    expect(refused).toFailWith(409, 'CLIENT_REPLACED');
    expect(refused.body.message).toContain(replaced.body.id);
    expect(await admin.post(`/clients/${t.client.id}/replace`)).toFailWith(409, 'CLIENT_REPLACED');
    expect(await t.get('/usage')).toHaveStatus(200);
    expect(await admin.post(`/clients/${t.client.id}/revoke`)).toHaveStatus(200);
    expect(await t.get('/usage')).toFailWith(401);
    expect((await auditLog(admin, 'CLIENT_REPLACED'))[0].data).toMatchObject({ oldKeyUntil });
  });

  it('ends no later than its own expiry and than 30 days from now', async ({ t, admin }) => {
    const soon = ahead(t, DAY_MS);
    const old = (await admin.post('/clients', { name: 'ERP', expiresAt: soon })).body;
    const replace = (id: string, oldKeyUntil: string) =>
      admin.post(`/clients/${id}/replace`, { oldKeyUntil });
    for (const wrong of [ahead(t, 30 * DAY_MS + 60_000), ahead(t, -1)])
      expect(rulesOf(await replace(old.id, wrong))).toEqual({ oldKeyUntil: 'format' });
    expect(await replace(old.id, ahead(t, 29 * DAY_MS))).toHaveStatus(201);
    const { items } = (await admin.get('/clients')).body;
    expect(items.find(({ id }: { id: string }) => id === old.id).expiresAt).toBe(soon);
    await admin.post(`/clients/${t.client.id}/revoke`);
    expect(await replace(t.client.id, soon)).toFailWith(409, 'CLIENT_REVOKED');
    expect(await admin.post(`/clients/${t.client.id}/replace`)).toHaveStatus(201);
  });

  it('keeps its own expiry when its successor is replaced immediately', async ({ t, admin }) => {
    const oldKeyUntil = ahead(t, DAY_MS);
    const next = (await admin.post(`/clients/${t.client.id}/replace`, { oldKeyUntil })).body;
    const last = (await admin.post(`/clients/${next.id}/replace`)).body;
    expect(await t.get('/usage')).toHaveStatus(200);
    expect(await t.get('/usage', { key: next.apiKey })).toFailWith(401);
    const { items } = (await admin.get('/clients')).body;
    expect(items).toMatchObject([{ replacedBy: last.id }, { replacedBy: last.id }, { replacedBy: null }]);
  });
});
