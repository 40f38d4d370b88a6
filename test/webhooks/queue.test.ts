// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { purgeExpired, sweep } from '../../src/app/janitor.ts';
import type { DeliveryStatus } from '../../src/db/schema.ts';
import { KEPT_MS } from '../../src/events/event.ts';
import { readFeed } from '../../src/events/feed.ts';
import { lowestId, newId } from '../../src/lib/ids.ts';
import { webhookSecretColumn } from '../../src/webhooks/outbox.ts';
import { LEASE_MS } from '../../src/webhooks/policy.ts';
import {
  type DueDelivery,
  readDueDeliveries,
  waitingReceivers,
} from '../../src/webhooks/worker/delivery-queue.ts';
import { Leases } from '../../src/webhooks/worker/leases.ts';
import { settle } from '../../src/webhooks/worker/settle.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { planOf, readsIn, watched } from '../support/plans.ts';
import { startReceiver } from '../support/receiver.ts';
import { atOnce } from '../support/responses.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const it = itWith(() => webhookHarness({ sending: false }));

const NOWHERE = 'http://127.0.0.1:9/';

it('each receiver gets as many due deliveries as it has slots for, oldest first', async ({ t }) => {
  const [busy, quiet] = [await t.addReceiver(NOWHERE), await t.addReceiver(NOWHERE)];
  const made: string[] = [];
  for (let i = 0; i < 10; i++) {
    made.push((await t.create(busy)).id);
    t.clock.advance(1);
  }
  await t.create(quiet);
  const now = t.ctx.clock.now();
  const waiting = await waitingReceivers(t.ctx, 'first attempts', lowestId(0));
  expect(waiting.map(({ receiverId }) => receiverId)).toEqual([busy.id, quiet.id].sort());

  const read = (unsettled: string[]) =>
    readDueDeliveries(t.ctx, { receiverIds: [busy.id, quiet.id], unsettled, most: 3 }, now);
  const of = (deliveries: DueDelivery[], client: { id: string }) =>
    deliveries
      .filter(({ receiverId }) => receiverId === client.id)
      .map(({ body }) => JSON.parse(String(body)).data.id)
      .sort();
  const first = await read([]);
  expect(of(first, busy)).toEqual(made.slice(0, 3).sort());
  expect(of(first, quiet)).toHaveLength(1);
  const underWay = first.filter(({ receiverId }) => receiverId === busy.id).map(({ id }) => id);
  expect(of(await read(underWay), busy)).toEqual(made.slice(3, 6).sort());
});

describe('the lease of a receiver', () => {
  const setUp = async () => {
    const t = await webhookHarness({ sending: false });
    const receivers = [];
    for (let i = 0; i < 20; i++) receivers.push({ receiverId: (await t.addReceiver(NOWHERE)).id });
    return { t, receivers, process: () => new Leases(t.ctx) };
  };
  type Receivers = { receiverId: string }[];
  const ids = (receivers: Receivers) => receivers.map(({ receiverId }) => receiverId).sort();

  it('goes to one process, even if several ask at the same time', async () => {
    const { receivers, process } = await setUp();
    const asked = await atOnce(8, (i) => process().acquire(i % 2 ? receivers : [...receivers].reverse()));
    expect(ids(asked.flat())).toEqual(ids(receivers));
  });

  it('is extended while it is used, and expires otherwise', async () => {
    const { t, receivers, process } = await setUp();
    const [one, other] = [process(), process()];
    const [used, unused] = [receivers.slice(0, 1), receivers.slice(1, 2)];
    const both = [...used, ...unused];
    expect(await one.acquire(both)).toEqual(both);
    for (let i = 0; i < 3; i++) {
      t.clock.advance(LEASE_MS / 2 - 1);
      await one.renew(ids(used));
      if (i === 0) expect(await other.acquire(both)).toEqual([]);
    }
    expect(await other.acquire(both)).toEqual(unused);
    // Long asleep: the other has what was not renewed in time.
    t.clock.advance(LEASE_MS);
    expect(await other.acquire(both)).toEqual(both);
    expect(await one.acquire(both)).toEqual([]);
  });

  it('is requested again after a pause if another process holds it, and is free as soon as that one stops', async () => {
    const { receivers, process } = await setUp();
    const [one, other] = [process(), process()];
    const [first] = receivers as [{ receiverId: string }];
    await one.acquire([first]);
    expect(other.msUntilLeaseMayBeFree(first.receiverId)).toBe(0);
    await other.acquire([first]);
    expect(other.msUntilLeaseMayBeFree(first.receiverId)).toBeGreaterThan(0);
    await one.release([]);
    expect(await other.acquire([first])).toEqual([first]);
    expect(other.msUntilLeaseMayBeFree(first.receiverId)).toBe(0);
  });
});

it('a result is recorded once: a later, stale one overwrites nothing', async ({ t }) => {
  await t.create(await t.addReceiver(NOWHERE));
  const [{ id } = { id: '' }] = await t.deliveries();
  const now = t.ctx.clock.now();
  const failed = { at: now, durationMs: 5, statusCode: 500, error: null };
  const settled = (attemptsBefore: number, status: DeliveryStatus) => {
    const attempts = Array(attemptsBefore + 1).fill(failed);
    return settle(t.ctx, [
      { id, attemptsBefore, status, attempts, dueAt: now, finishedAt: null, reason: null },
    ]);
  };
  await settled(0, 'PENDING');
  expect(await t.deliveries()).toMatchObject([{ status: 'PENDING', attempts: 1 }]);
  await settled(0, 'DROPPED');
  expect(await t.deliveries()).toMatchObject([{ status: 'PENDING', attempts: 1 }]);
  await settled(1, 'DELIVERED');
  await settled(2, 'DROPPED');
  expect(await t.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: 2 }]);
});

it('deliveries are deleted after 30 days, but never while they wait', async ({ t }) => {
  const client = await t.addReceiver(NOWHERE);
  for (let i = 0; i < 3; i++) await t.create(client);
  const [old] = await t.deliveries();
  await sql`update webhook_deliveries set status = 'DELIVERED' where id = ${old?.id}`.execute(t.ctx.db);
  const leftAfter = async (ms: number) => {
    t.clock.advance(ms);
    await sweep(t.ctx);
    return (await t.deliveries()).map(({ status }) => status).sort();
  };
  expect(await leftAfter(KEPT_MS - 60_000)).toEqual(['DELIVERED', 'PENDING', 'PENDING']);
  expect(await leftAfter(120_000)).toEqual(['PENDING', 'PENDING']);
  expect(await purgeExpired('webhook_deliveries')(t.ctx, t.ctx.clock.now())).toBe(false);
  expect(await leftAfter(KEPT_MS)).toEqual(['PENDING', 'PENDING']);
  await sql`update webhook_deliveries set status = 'DROPPED'`.execute(t.ctx.db);
  expect(await leftAfter(0)).toEqual([]);
});

const RECEIVERS = 3_000;
const AT_ONCE = 200;

it('an event for another receiver overtakes a backlog of thousands of receivers', async () => {
  const [many, other] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness({ sending: false });
  // Before the others: a shop may add no client beyond a hundred.
  const client = await t.addReceiver(other.url);
  const first = await t.addReceiver(many.url);
  const { db, secrets } = t.ctx;
  const row = await db
    .selectFrom('api_clients')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow();
  const now = t.ctx.clock.now();
  for (let i = 0; i < RECEIVERS; i += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, () => newId(now));
    const clients = ids.map((id) => ({
      ...row,
      id,
      receiver_id: id,
      key_hash: id,
      webhook_secret: secrets.seal('whsec_of_a_test', webhookSecretColumn(id)),
    }));
    await db.insertInto('api_clients').values(clients).execute();
    await addDeliveries(
      t,
      ids.map((id) => waitingDelivery(id, now)),
    );
  }
  await t.startSending();
  await many.got(1);
  await t.create(client);
  await other.got(1);
  expect(many.received.length).toBeLessThan(RECEIVERS / 2);
  // And the backlog does not stand still: each receiver gets its own event, once.
  await until('all have come', () => many.received.length >= RECEIVERS, 60_000);
  await t.drained();
  expect(new Set(many.received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(RECEIVERS);
});

// Each text of a statement takes one of the names under which statements are prepared, on every connection.

it(
  'the dispatcher uses few prepared statements, however many receivers there are',
  ONLY_POSTGRES,
  async ({ t }) => {
    const clients: { receiverId: string }[] = [];
    for (let i = 0; i < 32; i++) clients.push({ receiverId: (await t.addReceiver(NOWHERE)).id });
    for (let count = 1; count <= clients.length; count++) {
      // One after another, so that all go over the same connection.
      const some = clients.slice(0, count);
      await new Leases(t.ctx).acquire(some);
      const receiverIds = some.map(({ receiverId }) => receiverId);
      await readDueDeliveries(t.ctx, { receiverIds, unsettled: [], most: 8 }, t.ctx.clock.now());
    }
    const { rows } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements`.execute(t.ctx.webhooks);
    const about = (table: string) => rows.filter(({ statement }) => statement.includes(table)).length;
    expect(about('webhook_leases')).toBe(1);
    expect(about('from webhook_deliveries')).toBe(1);
  },
);

it('due deliveries are found by partial indexes', async ({ t }) => {
  const client = await t.addReceiver(NOWHERE);
  const now = t.ctx.clock.now();
  const row = (n: number) =>
    waitingDelivery(client.id, now, {
      status: n % 500 === 0 ? 'PENDING' : 'DELIVERED',
      attempts: Math.floor(n / 500) % 2,
    });
  await addDeliveries(
    t,
    Array.from({ length: 5_000 }, (_, n) => row(n)),
  );
  await sql`analyze`.execute(t.ctx.db);
  const { ctx, statements } = watched(t.ctx);
  await readDueDeliveries(ctx, { receiverIds: [client.id], unsettled: [newId(now)], most: 8 }, now);
  expect(statements).toHaveLength(1);
  for (const statement of statements) {
    const plan = (await planOf(t.ctx.webhooks, statement)).join('\n');
    expect(plan).toContain('webhook_deliveries_first');
    expect(plan).toContain('webhook_deliveries_retry');
    expect(plan).not.toMatch(/webhook_deliveries_(receiver|rma|dropped)|Seq Scan|SCAN webhook_deliveries/);
  }
});

it(
  'events and deliveries are found by an index, also with a plan from an empty table',
  ONLY_POSTGRES,
  async ({ t }) => {
    // As in a new database: the test's own may have been analysed by the server meanwhile.
    await sql`update pg_class set relpages = 0, reltuples = -1, relallvisible = 0
      where oid in ('webhook_deliveries'::regclass, 'events'::regclass)`.execute(t.ctx.db);
    await sql`delete from pg_statistic where starelid in ('webhook_deliveries'::regclass, 'events'::regclass)`.execute(
      t.ctx.db,
    );
    const { ctx, statements } = watched(t.ctx);
    const ended = { attemptsBefore: 0, attempts: [], dueAt: 1, finishedAt: 1, reason: null };
    await settle(ctx, [{ id: UNKNOWN_ID, ...ended, status: 'DELIVERED' }]);
    await readDueDeliveries(ctx, { receiverIds: [UNKNOWN_ID], unsettled: [], most: 8 }, ctx.clock.now());
    await readFeed(ctx, t.shop.id, 0, 100);
    const [settling, looking, reading] = await Promise.all(
      statements.map(async (statement) => readsIn(await planOf(t.ctx.webhooks, statement))),
    );
    expect(settling).toContainEqual(
      expect.stringMatching(/deliveries_pkey.*Index Cond: \(id = settled\.id\)/),
    );
    for (const read of looking?.filter((each) => each.includes('webhook_deliveries')) ?? [])
      expect(read).toMatch(/_(first|retry) .*Index Cond: \(+receiver_id = |_pkey .*Index Cond: \(id = ANY/);
    expect(looking).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = due\.id\)/));
    expect(reading).toContainEqual(expect.stringMatching(/events_pkey.*shop_id = .*"position" > /));
    expect(reading).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = /));
  },
);
