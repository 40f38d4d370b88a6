// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import type { WebhookDeliveryQuery } from '../../contract/delivery.ts';
import { changeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { DeliveryStatus } from '../../src/db/schema.ts';
import { newId } from '../../src/lib/ids.ts';
import { listDeliveries } from '../../src/webhooks/deliveries.ts';
import { enqueueTest } from '../../src/webhooks/outbox.ts';
import { ISO, rulesOf, UNKNOWN_ID } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { planOf, readsIn, watched } from '../support/plans.ts';
import { pluck } from '../support/responses.ts';
import { sendingTo } from '../support/sending-to.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const it = itWith(() => webhookHarness({ sending: false }));

// What a program sees of its own webhook deliveries.

const DAY_MS = 24 * 60 * 60 * 1000;
const NOWHERE = 'http://127.0.0.1:9/';

const listed = async (t: WebhookHarness, key: string, query: Record<string, string> = {}) => {
  const response = await t.get(`/deliveries?${new URLSearchParams(query)}`, { key });
  expect(response).toHaveStatus(200);
  return response.body;
};

describe("a client's deliveries", () => {
  it('are shown with their outcome, and one by one with the bytes that were sent', async () => {
    const { t, receiver, client } = await sendingTo((n) => (n === 1 ? 500 : 200));
    t.clock.hold();
    const repair = await t.create(client, { customerName: 'Zoë "Z" Ünal 🙂' });
    await t.attempted(1);
    const attempt = { at: expect.stringMatching(ISO), durationMs: expect.any(Number), error: null };
    const delivery = {
      id: receiver.received[0]?.headers['x-webhook-id'],
      event: 'offline_repair.created',
      rmaId: repair.id,
      status: 'PENDING',
      createdAt: receiver.received[0]?.body.timestamp,
      nextAttemptAt: expect.stringMatching(ISO),
      reason: null,
      attempts: [{ ...attempt, statusCode: 500 }],
    };
    const page = { total: 1, page: 1, limit: 20, totalPages: 1 };
    expect(await listed(t, client.apiKey)).toEqual({ items: [delivery], ...page });
    const ofRepair = await listed(t, client.apiKey, { rmaId: repair.id.toUpperCase() });
    expect(ofRepair).toEqual({ items: [delivery], ...page });

    t.advance(1_000);
    await t.drained();
    const attempts = [...delivery.attempts, { ...attempt, statusCode: 200 }];
    const done = { ...delivery, status: 'DELIVERED', nextAttemptAt: null, attempts };
    expect(await listed(t, client.apiKey)).toEqual({ items: [done], ...page });
    const response = await t.get(`/deliveries/${delivery.id}`, { key: client.apiKey });
    expect(response).toHaveStatus(200);
    expect(response.body).toEqual({ ...done, body: expect.any(String) });
    expect(Buffer.from(response.body.body)).toEqual(receiver.received[1]?.bytes);
  });

  it('always say why they were dropped', async () => {
    const { t, client } = await sendingTo(() => 500);
    t.clock.hold();
    await t.create(client);
    await t.attempted(1);
    await changeClient(t.ctx, OPERATOR, client.id, { webhookUrl: null });
    t.advance(1_000);
    await t.drained();
    const dropped = { status: 'DROPPED', nextAttemptAt: null, reason: 'the client has no webhook URL' };
    const { items } = await listed(t, client.apiKey, { status: 'DROPPED' });
    expect(items).toMatchObject([dropped]);
    // A damaged row.
    await t.ctx.db.updateTable('webhook_deliveries').set({ reason: null, attempt_log: '{' }).execute();
    await sql`delete from events`.execute(t.ctx.db);
    const { body } = await t.get(`/deliveries/${items[0].id}`, { key: client.apiKey });
    expect(body).toMatchObject({ ...dropped, reason: 'the reason is unknown', attempts: [], body: null });
  });

  it('are filtered by status, event and RMA, newest first, in pages', async ({ t }) => {
    const client = await t.addReceiver(NOWHERE);
    const { apiKey } = client;
    const one = await t.create(client);
    const other = (await t.post('/trade-returns', tradeBody(), { key: apiKey })).body;
    for (const move of ['begin-repair', 'close'])
      await t.post(`/offline-repairs/${one.id}/${move}`, undefined, { key: apiKey });
    await enqueueTest(t.ctx.db, client.id, t.ctx.clock.now() + 1_000);
    const told = async (query: Record<string, string> = {}) =>
      pluck((await listed(t, apiKey, query)).items, 'event');
    const [made, begun] = ['offline_repair.created', 'offline_repair.status_changed'];
    const [closed, returned, test] = ['offline_repair.closed', 'trade_return.created', 'webhook.test'];
    expect(await told()).toEqual([test, closed, begun, returned, made]);
    expect(await told({ rmaId: one.id })).toEqual([closed, begun, made]);
    expect(await told({ rmaId: one.id, event: 'offline_repair.closed' })).toEqual([closed]);
    expect(await told({ event: 'webhook.test' })).toEqual([test]);
    expect(await told({ rmaId: UNKNOWN_ID })).toEqual([]);
    expect(await told({ status: 'PENDING', rmaId: other.id })).toEqual([returned]);
    for (const status of ['DELIVERED', 'DROPPED']) expect(await told({ status })).toEqual([]);
    expect(await told({ limit: '2', page: '2' })).toEqual([begun, returned]);
    const page = { total: 5, page: 2, limit: 2, totalPages: 3 };
    expect(await listed(t, apiKey, { limit: '2', page: '2' })).toMatchObject(page);
    expect(await listed(t, apiKey, { page: '9' })).toMatchObject({ items: [], total: 5 });
  });

  it('are refused for unknown filters', ONLY_SQLITE, async ({ t }) => {
    const rules = async (query: Record<string, string>) =>
      rulesOf(await t.get(`/deliveries?${new URLSearchParams(query)}`));
    const wrong = { status: 'oneOf', event: 'oneOf', rmaId: 'format', limit: 'max', q: 'unknown' };
    expect(await rules({ status: 'LOST', event: 'x', rmaId: 'x', limit: '101', q: 'x' })).toEqual(wrong);
    for (const rmaId of ['', '00000000-0000-0000-0000-000000000000'])
      expect(await rules({ rmaId })).toEqual({ rmaId: 'format' });
  });

  it('are not visible to other clients, in the same shop or in others', async ({ t }) => {
    const client = await t.addReceiver(NOWHERE);
    const { id: rmaId } = await t.create(client);
    const [sibling, stranger] = [await t.addReceiver(NOWHERE), (await t.addShop()).client];
    for (const { apiKey } of [sibling, stranger, t.client])
      for (const query of [{}, { rmaId }] as Record<string, string>[])
        expect(await listed(t, apiKey, query)).toMatchObject({ items: [], total: 0, totalPages: 0 });
  });

  it('are visible for thirty days', ONLY_SQLITE, async ({ t }) => {
    const client = await t.addReceiver(NOWHERE);
    await t.create(client);
    const [delivery] = await t.deliveries();
    t.clock.advance(30 * DAY_MS - 60_000);
    expect(await listed(t, client.apiKey)).toMatchObject({ total: 1 });
    t.clock.advance(60_001);
    expect(await listed(t, client.apiKey)).toMatchObject({ items: [], total: 0 });
    expect(await t.get(`/deliveries/${delivery?.id}`, { key: client.apiKey })).toFailWith(404);
  });

  it('are listed without unreadable ones', ONLY_SQLITE, async ({ t }) => {
    const client = await t.addReceiver(NOWHERE);
    await t.create(client);
    await t.create(client);
    const [bad, good] = await t.deliveries();
    await t.ctx.db
      .updateTable('webhook_deliveries')
      .set({ attempt_log: '[{}]' })
      .where('id', '=', bad?.id as string)
      .execute();
    expect((await listed(t, client.apiKey)).items).toMatchObject([{ id: good?.id }]);
    expect(t.logs.join('')).toContain('skipped a row that cannot be read');
  });
});

/** So many that an index is worth while for each of them. */
const CLIENTS = 20;

it('deliveries of an RMA, and dropped ones, are found by an index', async ({ t }) => {
  const client = await t.addReceiver(NOWHERE);
  const now = t.ctx.clock.now();
  const idle = (await t.addReceiver(NOWHERE)).id;
  const others = Array.from({ length: CLIENTS - 1 }, () => newId(now));
  const rmas = Array.from({ length: 1_000 }, () => newId(now));
  const statusOf = (n: number) => ({ 0: 'DROPPED', 20: 'PENDING' })[n % 500] ?? 'DELIVERED';
  const row = (n: number) =>
    waitingDelivery([client.id, ...others][n % CLIENTS] as string, now, {
      id: newId(now + n),
      rma_id: rmas[n % rmas.length] as string,
      status: statusOf(n) as DeliveryStatus,
      attempts: Math.floor(n / 500) % 2,
    });
  await addDeliveries(
    t,
    Array.from({ length: 5_000 }, (_, n) => row(n)),
  );
  await sql`analyze`.execute(t.ctx.db);
  const expectIndex = async (query: Partial<WebhookDeliveryQuery>, index: RegExp, clientId = client.id) => {
    const { ctx, statements } = watched(t.ctx);
    const actor = { type: 'API_CLIENT', id: clientId, name: 'Till' } as const;
    await listDeliveries(ctx, { shop: t.shop, actor }, { page: 2, limit: 1, ...query });
    // The first one finds the client.
    expect(statements).toHaveLength(3);
    for (const statement of statements.slice(1)) {
      // What counts all that a client was sent holds up no other request.
      expect(statement.on, JSON.stringify(query)).toBe(query.rmaId ? 'lists' : 'scans');
      const reads = readsIn(await planOf(t.ctx.lists, statement));
      expect(reads).not.toEqual([]);
      for (const read of reads) expect(read, JSON.stringify(query)).toMatch(index);
    }
  };
  const rmaId = rmas[CLIENTS] as string;
  const BY_RMA = /webhook_deliveries_rma.*receiver_id ?= ?.*rma_id ?= ?/;
  const BY_CLIENT = /webhook_deliveries_(receiver|rma).*receiver_id ?>/;
  await expectIndex({ page: 5_000 }, BY_CLIENT);
  await expectIndex({}, BY_CLIENT, idle);
  await expectIndex({ event: 'offline_repair.closed' }, BY_CLIENT);
  await expectIndex({ rmaId, page: 7 }, BY_RMA);
  await expectIndex({ rmaId, page: 7, event: 'offline_repair.closed' }, BY_RMA);
  await expectIndex({ rmaId, page: 7, status: 'DELIVERED' }, BY_RMA);
  await expectIndex({ status: 'DROPPED' }, /webhook_deliveries_dropped/);
  await expectIndex({ status: 'DROPPED', event: 'offline_repair.closed' }, /webhook_deliveries_dropped/);
  // Once the table has been vacuumed, PostgreSQL may take the client's own rows from its index alone and match them by id.
  await expectIndex(
    { status: 'PENDING' },
    /webhook_deliveries_(first|retry)|webhook_deliveries_(receiver|pkey).*\bid ?>?= ?|Subquery|Append|COMPOUND/,
  );
});
