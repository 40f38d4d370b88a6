import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { WEBHOOK_EVENT_DATA } from '../../contract/webhook-event.ts';
import { newPerson } from '../support/admin.ts';
import { atOnce, pluck } from '../support/answers.ts';
import { expectError, ISO } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const harness = sharedHarness();
const it = itWith(harness);

describe('API clients', () => {
  it('are made with a key and a secret that are shown this once, and work', async ({ t, admin }) => {
    const made = await admin.post('/clients', { name: ' ERP ', webhookUrl: 'https://1.1.1.1/hook' });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      name: 'ERP',
      webhookUrl: 'https://1.1.1.1/hook',
      lastUsedAt: null,
      revokedAt: null,
      replacedBy: null,
      createdAt: expect.stringMatching(ISO),
      apiKey: expect.stringMatching(/^handback_ext_[0-9a-f]{48}$/),
      webhookSecret: expect.stringMatching(/^whsec_[0-9a-f]{48}$/),
    });
    expect((await t.get('/offline-repairs', { key: made.body.apiKey })).status).toBe(200);

    const body = await until('the use is noted', async () => {
      const { body } = await admin.get('/clients');
      return body.items[1].lastUsedAt && body;
    });
    const { apiKey, webhookSecret, ...shown } = made.body;
    expect(body.items).toEqual([
      expect.objectContaining({ id: t.client.id }),
      { ...shown, lastUsedAt: expect.stringMatching(ISO) },
    ]);
    expect(JSON.stringify(body)).not.toContain(apiKey);
    expect(JSON.stringify(body)).not.toContain(webhookSecret);
  });

  it('are edited: name and URL alone, the URL also taken away', async ({ admin }) => {
    const { id } = (await admin.post('/clients', { name: 'ERP', webhookUrl: 'https://1.1.1.1/a' })).body;
    expect((await admin.patch(`/clients/${id}`, { name: 'ERP 2' })).body).toMatchObject({
      name: 'ERP 2',
      webhookUrl: 'https://1.1.1.1/a',
    });
    expect((await admin.patch(`/clients/${id}`, { webhookUrl: null })).body).toMatchObject({
      name: 'ERP 2',
      webhookUrl: null,
    });
    expect((await admin.patch(`/clients/${id}`, {})).body).toMatchObject({ name: 'ERP 2', webhookUrl: null });
  });

  it.each([
    ['http://example.com/', 'https'],
    ['https://127.0.0.1/', 'private network'],
    ['https:example.com/hook', 'whole web address'],
    ['https:/example.com/hook', 'whole web address'],
    ['https:\\\\example.com/hook', 'whole web address'],
    ['https://user:pass@example.com/', 'user name'],
    ['nonsense', 'whole web address'],
  ])('refuse %s as a webhook URL, when made and when edited', async (webhookUrl, words) => {
    const t = await harness();
    const admin = await newPerson(t);
    const made = await admin.post('/clients', { name: 'ERP', webhookUrl });
    expect(made.status).toBe(400);
    expect(made.body.errors).toEqual([
      { field: 'webhookUrl', rule: 'address', message: expect.stringContaining(words) },
    ]);
    expect((await admin.get('/clients')).body.items).toHaveLength(1);
    expect((await admin.patch(`/clients/${t.client.id}`, { webhookUrl })).status).toBe(400);
  });

  it('are revoked for good: the key fails on the next request', async ({ t, admin }) => {
    expect((await t.get('/offline-repairs')).status).toBe(200);
    const revoked = await admin.post(`/clients/${t.client.id}/revoke`);
    expect(revoked.body.revokedAt).toMatch(ISO);
    expect((await t.get('/offline-repairs')).status).toBe(401);
    expect((await admin.post(`/clients/${t.client.id}/revoke`)).body.revokedAt).toBe(revoked.body.revokedAt);
    for (const change of [{ name: 'Back again' }, { webhookUrl: 'https://1.1.1.1/hook' }, {}]) {
      const refused = await admin.patch(`/clients/${t.client.id}`, change);
      expect([refused.status, refused.body.code]).toEqual([409, 'CLIENT_REVOKED']);
    }
    const { body } = await admin.get('/clients');
    expect(body.items).toMatchObject([{ id: t.client.id, name: 'Till', webhookUrl: null }]);
  });
});

describe("a client's deliveries", () => {
  it('show event, status, attempts and payload, newest first, and can be narrowed', async () => {
    const receiver = await startReceiver((n) => (n === 1 ? 500 : 200));
    const t = await webhookHarness();
    const admin = await newPerson(t);
    const client = await t.addReceiver(receiver.url);
    const repair = await t.create(client);
    await receiver.got(1);
    t.advance(1_000);
    await t.drained();
    await t.post(`/offline-repairs/${repair.id}/close`, undefined, { key: client.apiKey });
    await t.drained();

    const { body } = await admin.get(`/clients/${client.id}/deliveries`);
    expect(body).toMatchObject({ total: 2, page: 1, totalPages: 1 });
    expect(pluck(body.items, 'event')).toEqual(['offline_repair.closed', 'offline_repair.created']);
    expect(body.items[1]).toEqual({
      id: expect.any(String),
      reason: null,
      event: 'offline_repair.created',
      status: 'DELIVERED',
      rmaId: repair.id,
      createdAt: expect.stringMatching(ISO),
      finishedAt: expect.stringMatching(ISO),
      nextAttemptAt: null,
      attempts: [
        { at: expect.stringMatching(ISO), durationMs: expect.any(Number), statusCode: 500, error: null },
        { at: expect.stringMatching(ISO), durationMs: expect.any(Number), statusCode: 200, error: null },
      ],
      payload: receiver.received[0]?.body,
    });
    const narrowed = await admin.get(
      `/clients/${client.id}/deliveries?event=offline_repair.closed&status=DELIVERED`,
    );
    expect(narrowed.body.total).toBe(1);
    expect((await admin.get(`/clients/${client.id}/deliveries?status=DROPPED`)).body.items).toEqual([]);
    expect((await admin.get(`/clients/${client.id}/deliveries?status=LOST`)).status).toBe(400);
    expect((await admin.get(`/clients/${client.id}/deliveries?limit=1&page=2`)).body.items).toHaveLength(1);
  });

  it('show when the next attempt comes while one waits', async () => {
    const t = await webhookHarness({ sending: false });
    const admin = await newPerson(t);
    const client = await t.addReceiver('http://127.0.0.1:9/');
    await t.post('/offline-repairs', repairBody(), { key: client.apiKey });
    const [waiting] = (await admin.get(`/clients/${client.id}/deliveries`)).body.items;
    expect(waiting).toMatchObject({
      status: 'PENDING',
      attempts: [],
      finishedAt: null,
      nextAttemptAt: expect.stringMatching(ISO),
    });
  });
});

describe('a test event', () => {
  it('is signed and delivered like any other, and touches no RMA', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const admin = await newPerson(t);
    const client = await t.addReceiver(receiver.url);
    const sent = await admin.post(`/clients/${client.id}/test-event`);
    expect(sent.status).toBe(201);
    expect(sent.body).toMatchObject({ event: 'webhook.test', status: 'PENDING', rmaId: null });
    const [one] = await receiver.got(1);
    expect(one?.headers['x-webhook-signature']).toBe(
      createHmac('sha256', client.webhookSecret)
        .update(one?.bytes ?? '')
        .digest('hex'),
    );
    WEBHOOK_EVENT_DATA['webhook.test'].parse(one?.body.data);
    // What receivers read of every event is there, though it is about nothing.
    expect(one?.body.data).toMatchObject({
      ...{ rmaNumber: null, externalRef: null, externalSource: null, status: null },
    });
    await t.drained();
    expect((await admin.get(`/clients/${client.id}/deliveries?event=webhook.test`)).body.items).toMatchObject(
      [{ id: sent.body.id, status: 'DELIVERED' }],
    );
    expect((await t.get('/offline-repairs')).body.total).toBe(0);
  });

  it('is sent ten times a minute at most for a shop, to whichever clients', async ({ admin }) => {
    const made = await Promise.all(
      ['a', 'b'].map((name) => admin.post('/clients', { name, webhookUrl: `https://1.1.1.1/${name}` })),
    );
    const send = (nth: number) => admin.post(`/clients/${made[nth % 2]?.body.id}/test-event`);
    for (let nth = 0; nth < 10; nth += 1) expect((await send(nth)).status).toBe(201);
    const refused = await send(10);
    expectError(refused, 429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('needs somewhere to go, and a client of the shop', async ({ t, admin }) => {
    const nowhere = await admin.post(`/clients/${t.client.id}/test-event`);
    expect([nowhere.status, nowhere.body.code]).toEqual([409, 'NO_WEBHOOK']);
    const other = await t.addShop();
    expect((await admin.post(`/clients/${other.client.id}/test-event`)).status).toBe(404);
  });
});

it('a shop has a hundred active clients at most', async ({ t, admin }) => {
  const active = async () =>
    ((await admin.get('/clients')).body.items as { revokedAt: string | null }[]).filter(
      ({ revokedAt }) => revokedAt === null,
    ).length;
  const room = 100 - (await active());
  // Two more than there is room for, at the same time.
  const made = await atOnce(room + 2, (i) => admin.post('/clients', { name: `Till ${i}` }));
  const refused = made.filter(({ status }) => status !== 201);
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
    Array(2).fill([409, 'TOO_MANY_CLIENTS']),
  );
  expect(await active()).toBe(100);
  const one = made.find(({ status }) => status === 201)?.body.id;
  expect((await admin.post(`/clients/${one}/replace`, {})).status).toBe(201);
  expect((await admin.post(`/clients/${t.client.id}/revoke`, {})).status).toBe(200);
  expect((await admin.post('/clients', { name: 'In its place' })).status).toBe(201);
  // Replacing a revoked client adds an active one.
  expectError(await admin.post(`/clients/${t.client.id}/replace`, {}), 409, 'TOO_MANY_CLIENTS');
  expect(await active()).toBe(100);
});
