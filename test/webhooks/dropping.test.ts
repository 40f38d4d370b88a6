import { describe, expect } from 'vitest';
import { changeClient, type NewApiClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { GIVE_UP_AFTER_MS } from '../../src/webhooks/policy.ts';
import { newPerson } from '../support/admin.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { itWith } from '../support/fixtures.ts';
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

describe('what still waits', () => {
  it.each<[reason: string, change: (t: WebhookHarness, client: NewApiClient) => Promise<unknown>]>([
    ['the client was revoked', (t, client) => revokeClient(t.ctx, OPERATOR, client)],
    ['the client has no webhook URL', (t, { id }) => changeClient(t.ctx, OPERATOR, id, { webhookUrl: null })],
    ["the shop's plan has no API", (t) => changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'GROWTH' })],
  ])('is dropped when next due, because %s', async (reason, change) => {
    const { t, receiver, client } = await sendingTo(() => 500);
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

  it('is dropped after the last attempt, with the error in words', async ({ t }) => {
    const reason = 'four attempts failed: connection refused (ECONNREFUSED)';
    const client = await t.addReceiver('http://127.0.0.1:1/');
    await t.create(client);
    for (const [n, waitMs] of [1_000, 4_000, 16_000].entries()) {
      await t.attempted(n + 1);
      const waiting = {
        status: 'PENDING',
        reason: null,
        finishedAt: null,
        nextAttemptAt: expect.any(String),
      };
      expect(await shownTo(t, client.id)).toMatchObject([waiting]);
      t.advance(waitMs);
    }
    await t.drained();
    expect(await shownTo(t, client.id)).toMatchObject([{ status: 'DROPPED', reason }]);
  });
});

describe('what has waited for a day', () => {
  const enqueue = (t: WebhookHarness, clientId: string, count: number, atMs: number) =>
    addDeliveries(
      t,
      Array.from({ length: count }, () => waitingDelivery(clientId, atMs)),
    );

  it('is dropped in bulk, and nothing younger with it', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(await rawServer(() => {}));
    const now = t.ctx.clock.now();
    await enqueue(t, client.id, 6_000, now - GIVE_UP_AFTER_MS - 60_000);
    await enqueue(t, client.id, 3, now - GIVE_UP_AFTER_MS + 600_000);
    await t.startSending();
    await t.create(await t.addReceiver(receiver.url));
    await receiver.got(1, 5_000);
    await until('the old ones are dropped, and the new one is settled', async () => {
      const rows = await t.deliveries();
      const dropped = rows.filter(({ reason }) => reason === 'waited longer than 24 hours');
      return dropped.length === 6_000 && rows.some(({ status }) => status === 'DELIVERED');
    });
    const waiting = (await t.deliveries()).filter(({ status }) => status === 'PENDING');
    expect(waiting.map(({ client_id }) => client_id)).toEqual(Array(3).fill(client.id));
    await until('they are counted', async () => (await droppedFigure(t)) === 6_000);
    // One line for many, and none for each.
    expect(t.logs.filter((line) => line.includes('webhooks dropped')).length).toBeLessThan(10);
  });

  it('is dropped also between two attempts', async () => {
    const { t, receiver, client } = await sendingTo(() => 500);
    await t.create(client);
    await t.attempted(1);
    t.advance(GIVE_UP_AFTER_MS + 1_000);
    await t.drained();
    expect(await shownTo(t, client.id)).toMatchObject([
      { status: 'DROPPED', reason: 'waited longer than 24 hours', attempts: [{ statusCode: 500 }] },
    ]);
    expect(receiver.received).toHaveLength(1);
  });
});
