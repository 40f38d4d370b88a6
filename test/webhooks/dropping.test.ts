// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { changeClient, type NewApiClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { GIVE_UP_AFTER_MS } from '../../src/webhooks/policy.ts';
import { newPerson } from '../support/admin.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE } from '../support/harness.ts';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { sendingTo } from '../support/sending-to.ts';
import { until } from '../support/until.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const it = itWith(webhookHarness);

// A dropped delivery always says why, in the table and to the shop's Admin.

const shownTo = async (t: WebhookHarness, clientId: string) =>
  (await (await newPerson(t)).get(`/clients/${clientId}/deliveries`)).body.items;

const droppedFigure = async (t: WebhookHarness): Promise<number> => {
  const figures = await t.ctx.metrics.registry.metrics();
  return Number(/^handback_webhook_deliveries_dropped_total (\d+)$/m.exec(figures)?.[1]);
};

describe('a waiting delivery', () => {
  it.each<[reason: string, change: (t: WebhookHarness, client: NewApiClient) => Promise<unknown>]>([
    ['the client was revoked', (t, client) => revokeClient(t.ctx, OPERATOR, client)],
    ['the client has no webhook URL', (t, { id }) => changeClient(t.ctx, OPERATOR, id, { webhookUrl: null })],
    ["the shop's plan has no API", (t) => changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'GROWTH' })],
  ])('is dropped when next due, because %s', async (reason, change) => {
    const { t, receiver, client } = await sendingTo(() => 500);
    t.clock.hold();
    await t.create(client);
    await t.attempted(1);
    await change(t, client);
    t.advance(1_000);
    await t.drained();
    expect(await t.deliveries()).toMatchObject([{ status: 'DROPPED', attempts: 1, reason }]);
    expect(await droppedFigure(t)).toBe(1);
    expect(receiver.received).toHaveLength(1);
    expect(await shownTo(t, client.id)).toMatchObject([
      { status: 'DROPPED', reason, nextAttemptAt: null, finishedAt: expect.any(String) },
    ]);
  });

  const WAITING = { status: 'PENDING', reason: null, finishedAt: null };
  it('is dropped after the last attempt, with a readable error', async ({ t }) => {
    const reason = 'four attempts failed: connection refused (ECONNREFUSED)';
    const client = await t.addReceiver('http://127.0.0.1:1/');
    t.clock.hold();
    await t.create(client);
    for (const [n, waitMs] of [1_000, 4_000, 16_000].entries()) {
      await t.attempted(n + 1);
      expect(await shownTo(t, client.id)).toMatchObject([{ ...WAITING, nextAttemptAt: expect.any(String) }]);
      t.advance(waitMs);
    }
    await t.drained();
    expect(await shownTo(t, client.id)).toMatchObject([{ status: 'DROPPED', reason }]);
  });
});

describe('a delivery that has waited for a day', () => {
  const enqueue = (t: WebhookHarness, clientId: string, count: number, atMs: number) =>
    addDeliveries(
      t,
      Array.from({ length: count }, () => waitingDelivery(clientId, atMs)),
    );

  it('is dropped in bulk, and younger ones are kept', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(await rawServer(() => {}));
    const now = t.ctx.clock.now();
    await enqueue(t, client.id, 6_000, now - GIVE_UP_AFTER_MS - 60_000);
    await enqueue(t, client.id, 3, now - GIVE_UP_AFTER_MS + 600_000);
    await t.startSending();
    await t.create(await t.addReceiver(receiver.url));
    await receiver.got(1);
    await until('the old ones are dropped, and the new one is settled', async () => {
      const rows = await t.deliveries();
      const dropped = rows.filter(({ reason }) => reason === 'waited longer than 24 hours');
      return dropped.length === 6_000 && rows.some(({ status }) => status === 'DELIVERED');
    });
    const waiting = (await t.deliveries()).filter(({ status }) => status === 'PENDING');
    expect(waiting.map(({ receiver_id }) => receiver_id)).toEqual(Array(3).fill(client.id));
    await until('they are counted', async () => (await droppedFigure(t)) === 6_000);
    // One line for many, and none for each.
    expect(t.logs.filter((line) => line.includes('webhooks dropped')).length).toBeLessThan(10);
  });
});

// One bad row is one failed row: the others are sent, the process lives, and a stop works.

const droppedLines = (t: WebhookHarness) =>
  t.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'webhook dropped');

it(
  'a webhook secret that was sealed with another key only fails its own deliveries',
  ONLY_SQLITE,
  async () => {
    const sealed = Buffer.alloc(64, 7).toString('base64');
    const [healthy, other] = [await startReceiver(), await startReceiver()];
    const t = await webhookHarness({ sending: false });
    const broken = await t.addReceiver(other.url);
    const sound = await t.addReceiver(healthy.url);
    await sql`update api_clients set webhook_secret = ${sealed} where id = ${broken.id}`.execute(t.ctx.db);
    for (let i = 0; i < 3; i++) await t.create(broken);
    await t.create(sound);
    const stop = await t.startSending();
    await healthy.got(1);
    await t.drained();
    const rows = (await t.deliveries()).filter(({ receiver_id }) => receiver_id === broken.id);
    expect(rows).toMatchObject(
      Array(3).fill({ status: 'DROPPED', attempts: 0, reason: 'the webhook secret cannot be opened' }),
    );
    expect(other.received).toEqual([]);
    expect(droppedLines(t)).toHaveLength(3);
    expect(t.logs.join('')).not.toContain(broken.webhookSecret);
    await stop();
  },
);

it(
  'a delivery with an unreadable attempt log is dropped alone, and can still be read',
  ONLY_SQLITE,
  async () => {
    const { t, receiver, client } = await sendingTo((n) => (n <= 2 ? 500 : 200));
    t.clock.hold();
    await t.create(client);
    await t.create(client);
    await receiver.got(2);
    await until('both attempts are written down', async () =>
      (await t.deliveries()).every(({ attempts }) => attempts === 1),
    );
    const [bad] = await t.deliveries();
    await t.ctx.db
      .updateTable('webhook_deliveries')
      .set({ attempt_log: '[{"at":', body: '{"event":' } as never)
      .where('id', '=', bad?.id as string)
      .execute();
    t.advance(2_000);
    await t.drained();
    const rows = new Map((await t.deliveries()).map((row) => [row.id, row]));
    expect(rows.get(bad?.id as string)).toMatchObject({
      status: 'DROPPED',
      reason: 'its earlier attempts cannot be read',
    });
    expect([...rows.values()].filter(({ status }) => status === 'DELIVERED')).toHaveLength(1);
    const shown = await (await newPerson(t)).get(`/clients/${client.id}/deliveries`);
    expect(shown).toHaveStatus(200);
    expect(shown.body.items.length).toBe(2);
  },
);

it('an invalid webhook URL fails the delivery, not the process', ONLY_SQLITE, async ({ t }) => {
  const receiver = await startReceiver();
  const client = await t.addReceiver('http://127.0.0.1:9/');
  await sql`update api_clients set webhook_url = 'no address' where id = ${client.id}`.execute(t.ctx.db);
  await t.create(client);
  const tried = await t.attempted(1);
  expect(JSON.parse(tried.attempt_log)).toMatchObject([{ statusCode: null, error: expect.any(String) }]);
  await t.create(await t.addReceiver(receiver.url));
  await receiver.got(1);
});

/** From now on the database refuses every change of this delivery. */
const refuseChangesOf = async ({ ctx: { db } }: WebhookHarness, deliveryId: string): Promise<void> => {
  const id = sql.lit(deliveryId);
  if (ENGINE === 'sqlite') {
    await sql`create trigger refused before update on webhook_deliveries when old.id = ${id}
      begin select raise(abort, 'refused'); end`.execute(db);
    return;
  }
  await sql`create function refuse() returns trigger language plpgsql as
    'begin raise exception ''refused''; end'`.execute(db);
  await sql`create trigger refused before update on webhook_deliveries for each row
    when (old.id = ${id}) execute function refuse()`.execute(db);
};

it('a result that the database refuses is dropped alone, logged and counted, and all receivers continue', async () => {
  const [refused, other] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness({ sending: false });
  const [client, healthy] = [await t.addReceiver(refused.url), await t.addReceiver(other.url)];
  await t.create(client);
  const id = (await t.deliveries())[0]?.id as string;
  await refuseChangesOf(t, id);
  for (let i = 0; i < 5; i++) await t.create(healthy);
  const stop = await t.startSending();
  const waiting = async () => (await t.deliveries()).filter(({ status }) => status === 'PENDING');
  await until('all others are written down', async () => (await waiting()).length === 1);

  for (const each of [client, healthy]) for (let i = 0; i < 10; i++) await t.create(each);
  await until('those after it too', async () => (await waiting()).length === 1);
  expect(await waiting()).toMatchObject([{ id, attempts: 0 }]);
  // Sent once: what cannot be written down is not sent again and again.
  const sentIds = refused.received.map(({ headers }) => headers['x-webhook-id']);
  expect(sentIds.filter((each) => each === id)).toHaveLength(1);
  expect(sentIds).toHaveLength(11);
  const lines = t.logs.map((line) => JSON.parse(line)).filter(({ deliveryId }) => deliveryId === id);
  expect(lines).toMatchObject([{ level: 50, status: 'DELIVERED' }]);
  expect(await t.ctx.metrics.registry.metrics()).toMatch(/^handback_webhook_results_refused_total 1$/m);
  await stop();
  expect(await t.ctx.db.selectFrom('webhook_leases').select('receiver_id').execute()).toEqual([]);
});
