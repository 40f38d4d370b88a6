import { sql } from 'kysely';
import { expect } from 'vitest';
import { readFeed } from '../../src/events/feed.ts';
import { newId } from '../../src/lib/ids.ts';
import { moveDeliveries } from '../../src/webhooks/queue.ts';
import { due } from '../../src/webhooks/worker/delivery-queue.ts';
import { Leases } from '../../src/webhooks/worker/leases.ts';
import { settle } from '../../src/webhooks/worker/settle.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE } from '../support/harness.ts';
import { planOf, readsIn, watched } from '../support/plans.ts';
import { webhookHarness } from '../support/webhooks.ts';

const it = itWith(() => webhookHarness({ sending: false }));

// Each text of a statement takes one of the names under which statements are prepared, on every connection.

if (ENGINE === 'postgres')
  it('prepared statements of the dispatcher are few, however many receivers there are', async ({ t }) => {
    const clients: { clientId: string }[] = [];
    for (let i = 0; i < 32; i++) clients.push({ clientId: (await t.addReceiver('http://127.0.0.1:9/')).id });
    for (let count = 1; count <= clients.length; count++) {
      // One after another, so that all go over the same connection.
      const some = clients.slice(0, count);
      await new Leases(t.ctx).of(some);
      const clientIds = some.map(({ clientId }) => clientId);
      await due(t.ctx, { clientIds, unsettled: [], most: 8 }, t.ctx.clock.now());
    }
    const { rows } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements`.execute(t.ctx.webhooks);
    const about = (table: string) => rows.filter(({ statement }) => statement.includes(table)).length;
    expect(about('webhook_leases')).toBe(1);
    expect(about('from webhook_deliveries')).toBe(1);
  });

it('what is due or moves to another client is found by the indexes of what waits', async ({ t }) => {
  const client = await t.addReceiver('http://127.0.0.1:9/');
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
  const to = (await t.addReceiver('http://127.0.0.1:9/')).id;
  const { ctx, statements } = watched(t.ctx);
  await due(ctx, { clientIds: [client.id], unsettled: [newId(now)], most: 8 }, now);
  await moveDeliveries(ctx, { from: client.id, to, unsettled: [] });
  expect(statements).toHaveLength(2);
  for (const statement of statements) {
    const plan = (await planOf(t.ctx.webhooks, statement)).join('\n');
    expect(plan).toContain('webhook_deliveries_first');
    expect(plan).toContain('webhook_deliveries_retry');
    expect(plan).not.toMatch(/webhook_deliveries_(client|rma|dropped)|Seq Scan|SCAN webhook_deliveries/);
  }
});

if (ENGINE === 'postgres')
  it('events and deliveries are found by index, also with a plan from an empty table', async ({ t }) => {
    // As in a new database: the test's own may have been analysed by the server meanwhile.
    for (const table of ['webhook_deliveries', 'events'])
      await sql`select pg_clear_relation_stats('public', ${table})`.execute(t.ctx.db);
    await sql`delete from pg_statistic where starelid in ('webhook_deliveries'::regclass, 'events'::regclass)`.execute(
      t.ctx.db,
    );
    const { ctx, statements } = watched(t.ctx);
    const ended = { before: 0, attempts: [], dueAt: 1, finishedAt: 1, reason: null };
    await settle(ctx, [{ id: UNKNOWN_ID, ...ended, status: 'DELIVERED' }]);
    await due(ctx, { clientIds: [UNKNOWN_ID], unsettled: [], most: 8 }, ctx.clock.now());
    await readFeed(ctx, t.shop.id, 0, 100);
    const [settling, looking, reading] = await Promise.all(
      statements.map(async (statement) => readsIn(await planOf(t.ctx.webhooks, statement))),
    );
    expect(settling).toContainEqual(
      expect.stringMatching(/deliveries_pkey.*Index Cond: \(id = settled\.id\)/),
    );
    for (const read of looking?.filter((each) => each.includes('webhook_deliveries')) ?? [])
      expect(read).toMatch(/_(first|retry) .*Index Cond: \(+client_id = |_pkey .*Index Cond: \(id = ANY/);
    expect(looking).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = due\.id\)/));
    expect(reading).toContainEqual(expect.stringMatching(/events_pkey.*shop_id = .*"position" > /));
    expect(reading).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = /));
  });
