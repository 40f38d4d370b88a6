import { describe, expect, it } from 'vitest';
import type { WebhookEventName } from '../../contract/webhook-event.ts';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { sweep } from '../../src/janitor.ts';
import { KEPT_MS, LEASE_MS } from '../../src/webhooks/policy.ts';
import { claim, forgetOldDeliveries, settle, waitingReceivers } from '../../src/webhooks/queue.ts';
import { reachableClients, recipientOf } from '../../src/webhooks/recipient.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const leaseAt = (nowMs: number, token: string) => ({ nowMs, untilMs: nowMs + LEASE_MS, token });

describe('claims', () => {
  it('give each receiver what it has room for, oldest first, and nothing twice', async () => {
    const t = await webhookHarness({ sending: false });
    const [busy, quiet] = [
      await t.addReceiver('http://127.0.0.1:9/'),
      await t.addReceiver('http://127.0.0.1:9/'),
    ];
    const made = [];
    for (let i = 0; i < 10; i++) made.push(await t.create(busy));
    await t.create(quiet);
    const now = t.ctx.clock.now();
    expect((await waitingReceivers(t.ctx.db)).map(({ clientId }) => clientId).sort()).toEqual(
      [busy.id, quiet.id].sort(),
    );

    const rooms = [
      { clientId: busy.id, room: 3 },
      { clientId: quiet.id, room: 8 },
    ];
    const first = await claim(t.ctx, rooms, leaseAt(now, 'one'));
    expect(
      first
        .filter(({ clientId }) => clientId === busy.id)
        .map(({ body }) => JSON.parse(body).data.id)
        .sort(),
    ).toEqual(
      made
        .slice(0, 3)
        .map(({ id }) => id)
        .sort(),
    );
    expect(first.filter(({ clientId }) => clientId === quiet.id)).toHaveLength(1);
    const second = await claim(t.ctx, rooms, leaseAt(now, 'two'));
    expect(second).toHaveLength(3);
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(7);
  });

  it('made at the same time never share a delivery', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver('http://127.0.0.1:9/');
    for (let i = 0; i < 40; i++) await t.create(client);
    const now = t.ctx.clock.now();
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        claim(t.ctx, [{ clientId: client.id, room: 5 }], leaseAt(now, `token ${i}`)),
      ),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThanOrEqual(40);
  });

  it('run out with their lease, and a holder that slept past it overwrites nothing', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver('http://127.0.0.1:9/');
    await t.create(client);
    const room = [{ clientId: client.id, room: 1 }];
    const now = t.ctx.clock.now();
    const [mine] = await claim(t.ctx, room, leaseAt(now, 'sleeper'));
    expect(await claim(t.ctx, room, leaseAt(now + LEASE_MS - 1, 'early'))).toEqual([]);
    const [theirs] = await claim(t.ctx, room, leaseAt(now + LEASE_MS, 'heir'));
    expect(theirs?.id).toBe(mine?.id);

    const settlement = (token: string, status: 'DELIVERED' | 'DROPPED') => ({
      id: mine?.id as string,
      token,
      status,
      attempts: [],
      dueAt: now,
      finishedAt: now,
    });
    await settle(t.ctx, [settlement('sleeper', 'DROPPED')]);
    expect(await t.deliveries()).toMatchObject([{ status: 'PENDING', lease_token: 'heir' }]);
    await settle(t.ctx, [settlement('heir', 'DELIVERED')]);
    await settle(t.ctx, [settlement('sleeper', 'DROPPED')]);
    expect(await t.deliveries()).toMatchObject([{ status: 'DELIVERED', lease_token: null }]);
  });
});

describe('deliveries are kept 30 days', () => {
  it('and then forgotten, but never while they wait', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver('http://127.0.0.1:9/');
    for (let i = 0; i < 3; i++) await t.create(client);
    const [old] = await t.deliveries();
    await t.ctx.db
      .updateTable('webhook_deliveries')
      .set({ status: 'DELIVERED' })
      .where('id', '=', old?.id as string)
      .execute();
    await sweep(t.ctx);
    expect(await t.deliveries()).toHaveLength(3);
    t.clock.advance(KEPT_MS - 60_000);
    await sweep(t.ctx);
    expect(await t.deliveries()).toHaveLength(3);
    t.clock.advance(120_000);
    await sweep(t.ctx);
    expect((await t.deliveries()).map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    expect(await forgetOldDeliveries(t.ctx.db, t.ctx.clock.now())).toBe(false);
  });
});

describe('who receives an event', () => {
  const receiverOf = async (t: WebhookHarness, creator: string, event: string) => {
    const shops = await t.ctx.db.selectFrom('shops').select('id').execute();
    const reachable = await t.ctx.db.transaction().execute((trx) =>
      reachableClients(
        t.ctx,
        trx,
        shops.map(({ id }) => id),
      ),
    );
    return recipientOf(t.shop.id, creator, event as WebhookEventName, reachable);
  };

  it('is the creator, or for a trade return the oldest active client with a URL', async () => {
    const t = await webhookHarness({ sending: false });
    const oldest = await t.addReceiver('http://127.0.0.1:9/');
    t.clock.advance(1000);
    const younger = await t.addReceiver('http://127.0.0.1:9/');
    const elsewhere = (await t.addShop()).shop;
    await t.addReceiver('http://127.0.0.1:9/', elsewhere.id);

    expect(await receiverOf(t, younger.id, 'offline_repair.closed')).toBe(younger.id);
    expect(await receiverOf(t, younger.id, 'trade_return.created')).toBe(younger.id);
    expect(await receiverOf(t, t.client.id, 'offline_repair.closed')).toBeNull();
    expect(await receiverOf(t, t.client.id, 'trade_return.created')).toBe(oldest.id);
    await revokeClient(t.ctx, OPERATOR, oldest);
    expect(await receiverOf(t, t.client.id, 'trade_return.created')).toBe(younger.id);
    await revokeClient(t.ctx, OPERATOR, younger);
    expect(await receiverOf(t, t.client.id, 'trade_return.created')).toBeNull();
  });
});
