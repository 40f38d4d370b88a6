import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { WEBHOOK_EVENT_DATA } from '../../contract/webhook-event.ts';
import { newPerson } from '../support/admin.ts';
import { ISO } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { atOnce, pluck } from '../support/responses.ts';
import { until } from '../support/until.ts';

const it = itWith(sharedHarness());

describe('API clients', () => {
  it('are created with a key and a secret that work and are shown once', async ({ t, admin }) => {
    const made = await admin.post('/clients', { name: ' ERP ', webhookUrl: 'https://1.1.1.1/hook' });
    expect(made).toHaveStatus(201);
    expect(made.body).toMatchObject({
      name: 'ERP',
      webhookUrl: 'https://1.1.1.1/hook',
      lastUsedAt: null,
      revokedAt: null,
      replacedBy: null,
      apiKey: expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/),
      webhookSecret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
    });
    expect(await t.get('/offline-repairs', { key: made.body.apiKey })).toHaveStatus(200);

    const body = await until('the use is noted', async () => {
      const { body } = await admin.get('/clients');
      return body.items[1].lastUsedAt && body;
    });
    const { apiKey, webhookSecret, ...shown } = made.body;
    expect(body.items).toEqual([
      expect.objectContaining({ id: t.client.id }),
      { ...shown, lastUsedAt: expect.stringMatching(ISO) },
    ]);
  });

  it('can be edited: the name and the URL, which can also be removed', async ({ admin }) => {
    const webhookUrl = 'https://1.1.1.1/a';
    const { id } = (await admin.post('/clients', { name: 'ERP', webhookUrl })).body;
    const patch = async (body: object) => (await admin.patch(`/clients/${id}`, body)).body;
    expect(await patch({ name: 'ERP 2' })).toMatchObject({ name: 'ERP 2', webhookUrl });
    for (const body of [{ webhookUrl: null }, {}])
      expect(await patch(body)).toMatchObject({ name: 'ERP 2', webhookUrl: null });
  });

  it.for([
    ['http://example.com/', 'https'],
    ['https://127.0.0.1/', 'private network'],
    ['https:example.com/hook', 'complete URL'],
    ['https:/example.com/hook', 'complete URL'],
    ['https:\\\\example.com/hook', 'complete URL'],
    ['https://user:pass@example.com/', 'user name'],
    ['nonsense', 'complete URL'],
  ] as const)('refuse %s as a new or edited webhook URL', async ([webhookUrl, words], { t, admin }) => {
    const made = await admin.post('/clients', { name: 'ERP', webhookUrl });
    expect(made).toHaveStatus(400);
    expect(made.body.errors).toEqual([
      { field: 'webhookUrl', rule: 'address', message: expect.stringContaining(words) },
    ]);
    expect((await admin.get('/clients')).body.items).toHaveLength(1);
    expect(await admin.patch(`/clients/${t.client.id}`, { webhookUrl })).toHaveStatus(400);
  });

  it('are revoked permanently, and the key fails on the next request', async ({ t, admin }) => {
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
    const revoked = await admin.post(`/clients/${t.client.id}/revoke`);
    expect(revoked.body.revokedAt).toMatch(ISO);
    expect(await t.get('/offline-repairs')).toHaveStatus(401);
    expect((await admin.post(`/clients/${t.client.id}/revoke`)).body.revokedAt).toBe(revoked.body.revokedAt);
    for (const change of [{ name: 'Back again' }, { webhookUrl: 'https://1.1.1.1/hook' }, {}])
      expect(await admin.patch(`/clients/${t.client.id}`, change)).toFailWith(409, 'CLIENT_REVOKED');
    const { body } = await admin.get('/clients');
    expect(body.items).toMatchObject([{ id: t.client.id, name: 'Till', webhookUrl: null }]);
  });
});

it('deliveries show event, status, attempts and payload, and can be filtered', async ({ sending: t }) => {
  const receiver = await startReceiver((n) => (n === 1 ? 500 : 200));
  const admin = await newPerson(t);
  const client = await t.addReceiver(receiver.url);
  const repair = await t.create(client);
  await receiver.got(1);
  t.advance(1_000);
  await t.drained();
  await t.post(`/offline-repairs/${repair.id}/close`, undefined, { key: client.apiKey });
  await t.drained();

  const read = (query = '') => admin.get(`/clients/${client.id}/deliveries${query}`);
  const { body } = await read();
  expect(body).toMatchObject({ total: 2, page: 1, totalPages: 1 });
  expect(pluck(body.items, 'event')).toEqual(['offline_repair.closed', 'offline_repair.created']);
  expect(body.items[1]).toMatchObject({
    reason: null,
    event: 'offline_repair.created',
    status: 'DELIVERED',
    rmaId: repair.id,
    finishedAt: expect.stringMatching(ISO),
    nextAttemptAt: null,
    attempts: [500, 200].map((statusCode) => ({ statusCode, error: null })),
    payload: receiver.received[0]?.body,
  });
  expect((await read('?event=offline_repair.closed&status=DELIVERED')).body.total).toBe(1);
});

describe('a test event', () => {
  it('is signed and delivered like any other, and changes no RMA', async ({ sending: t }) => {
    const receiver = await startReceiver();
    const admin = await newPerson(t);
    const client = await t.addReceiver(receiver.url);
    const sent = await admin.post(`/clients/${client.id}/test-event`);
    expect(sent).toHaveStatus(201);
    expect(sent.body).toMatchObject({ event: 'webhook.test', status: 'PENDING', rmaId: null });
    const [one] = await receiver.got(1);
    const signature = createHmac('sha256', client.webhookSecret).update(one?.bytes ?? '');
    expect(one?.headers['x-webhook-signature']).toBe(signature.digest('hex'));
    WEBHOOK_EVENT_DATA['webhook.test'].parse(one?.body.data);
    // The fields common to all events are there, although it is about no RMA.
    const common = { rmaNumber: null, externalRef: null, externalSource: null, status: null };
    expect(one?.body.data).toMatchObject(common);
    await t.drained();
    const { items } = (await admin.get(`/clients/${client.id}/deliveries?event=webhook.test`)).body;
    expect(items).toMatchObject([{ id: sent.body.id, status: 'DELIVERED' }]);
    expect((await t.get('/offline-repairs')).body.total).toBe(0);
  });

  it('is limited to ten a minute for a shop, across its clients', async ({ admin }) => {
    const made = await Promise.all(
      ['a', 'b'].map((name) => admin.post('/clients', { name, webhookUrl: `https://1.1.1.1/${name}` })),
    );
    const send = (nth: number) => admin.post(`/clients/${made[nth % 2]?.body.id}/test-event`);
    for (let nth = 0; nth < 10; nth += 1) expect(await send(nth)).toHaveStatus(201);
    const refused = await send(10);
    expect(refused).toFailWith(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('a shop has at most a hundred active clients', async ({ t, admin }) => {
  const active = async () =>
    pluck((await admin.get('/clients')).body.items, 'revokedAt').filter((at) => at === null).length;
  const room = 100 - (await active());
  // Two more than there is room for, at the same time.
  const made = await atOnce(room + 2, (i) => admin.post('/clients', { name: `Till ${i}` }));
  expect(made).toHaveStatuses({ 201: room, 409: 2 });
  for (const response of made)
    if (response.status === 409) expect(response).toFailWith(409, 'TOO_MANY_CLIENTS');
  expect(await active()).toBe(100);
  const one = made.find(({ status }) => status === 201)?.body.id;
  // Beside the new key the old one would work, too.
  const oldKeyUntil = new Date(t.ctx.clock.now() + 3_600_000).toISOString();
  expect(await admin.post(`/clients/${one}/replace`, { oldKeyUntil })).toFailWith(409, 'TOO_MANY_CLIENTS');
  expect(await admin.post(`/clients/${one}/replace`, {})).toHaveStatus(201);
  expect(await admin.post(`/clients/${t.client.id}/revoke`, {})).toHaveStatus(200);
  expect(await admin.post('/clients', { name: 'In its place' })).toHaveStatus(201);
  // Replacing a revoked client adds an active one.
  expect(await admin.post(`/clients/${t.client.id}/replace`, {})).toFailWith(409, 'TOO_MANY_CLIENTS');
  expect(await active()).toBe(100);
});
