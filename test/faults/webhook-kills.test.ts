import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LEASE_MS } from '../../src/webhooks/policy.ts';
import { repairBody } from '../support/bodies.ts';
import { lookInto, migratedDatabase, type ServerProcess, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addClient, makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

/** A short run in the suite; `npm run test:kills` makes a long one. */
const KILLS = Number(process.env['KILLS'] ?? 4);
const CALLERS = 4;
const LIVES_MS = { least: 100, most: 900 };

it(`after ${KILLS} kills under load every acknowledged change was told, in the same bytes`, {
  timeout: KILLS * 10_000 + 90_000,
}, async () => {
  const receiver = await startReceiver();
  const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const { shopId } = await makeShop(env, { plan: 'ENTERPRISE' });
  const client = await addClient(env, shopId, { name: 'R', webhookUrl: receiver.url });

  const acknowledged = { created: new Set<string>(), closed: new Set<string>() };
  let server: ServerProcess = await startServer(env, { key: client.apiKey });
  let over = false;
  const caller = async () => {
    while (!over) {
      try {
        const created = await server.post('/offline-repairs', repairBody());
        if (created.status !== 201) continue;
        acknowledged.created.add(created.body.id);
        const closed = await server.post(`/offline-repairs/${created.body.id}/close`);
        if (closed.status === 200) acknowledged.closed.add(created.body.id);
      } catch {
        // The server was killed under this request; whether it happened is not known, and not promised.
        await pause(20);
      }
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(LIVES_MS.least + Math.random() * (LIVES_MS.most - LIVES_MS.least));
    await server.stop('SIGKILL');
    server = await startServer(env, { key: client.apiKey });
  }
  over = true;
  await Promise.all(callers);

  const db = lookInto(env);
  await until(
    'nothing waits any more',
    async () => {
      const waiting = await db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('status', '=', 'PENDING')
        .execute();
      return waiting.length === 0;
    },
    LEASE_MS + 30_000,
  );

  const rows = await db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events as event', 'event.id', 'delivery.id')
    .select(['delivery.id', 'delivery.status', 'event.body'])
    .execute();
  const bytesOf = new Map(rows.map((row) => [row.id, row.body]));
  expect(rows.filter(({ status }) => status !== 'DELIVERED')).toEqual([]);
  expect(acknowledged.created.size).toBeGreaterThan(KILLS);

  const told = { 'offline_repair.created': new Set<string>(), 'offline_repair.closed': new Set<string>() };
  for (const { headers, bytes, body } of receiver.received) {
    // Whatever came, first time or again, is what stands in the outbox, to the byte.
    expect(bytes.toString('utf8')).toBe(bytesOf.get(String(headers['x-webhook-id'])));
    told[body.event as keyof typeof told].add(body.data.id);
  }
  expect([...acknowledged.created].filter((id) => !told['offline_repair.created'].has(id))).toEqual([]);
  expect([...acknowledged.closed].filter((id) => !told['offline_repair.closed'].has(id))).toEqual([]);

  // And no event without its change.
  const repairs = await db.selectFrom('offline_repairs').select(['id', 'status']).execute();
  const statusOf = new Map(repairs.map((row) => [row.id, row.status]));
  for (const id of told['offline_repair.created']) expect(statusOf.has(id)).toBe(true);
  for (const id of told['offline_repair.closed']) expect(statusOf.get(id)).toBe('OFFLINE_CLOSED');
});
