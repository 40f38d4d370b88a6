import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { effort } from '../support/faults.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, lookInto, migratedDatabase, startServer, timed } from '../support/process.ts';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { seedReceivers } from '../support/seed-webhooks.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

// Receivers that hang, seen from outside: a process of its own, and a healthy receiver beside them.

const database = async (): Promise<Env> => ({
  ...(await migratedDatabase()),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
});

const WATCHED_MS = effort(2_000, 8_000);

/** Resident memory of a process, in MiB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

it('hundreds of hanging exchanges of large bodies cost little memory', async () => {
  let asked = 0;
  const url = await rawServer(() => {
    asked += 1;
  });
  const env = await database();
  await seedReceivers(
    env,
    Array.from({ length: 80 }, () => ({ url, events: 8, bodyBytes: 230_000 })),
  );
  const server = await startServer(env);
  const [before, underLoad] = [memoryOf(server.pid), { most: 0 }];
  await until('many exchanges hang', () => asked >= 150, 20_000);
  const watchedUntil = Date.now() + WATCHED_MS;
  await until(
    'they have hung for a while',
    () => {
      underLoad.most = Math.max(underLoad.most, memoryOf(server.pid));
      return Date.now() > watchedUntil;
    },
    20_000,
  );
  expect(underLoad.most - before).toBeLessThan(220);
  expect((await server.get('/healthz')).status).toBe(200);
});

it('a stop ends in time and releases the leases while receivers hang', async () => {
  let asked = 0;
  const url = await rawServer(() => {
    asked += 1;
  });
  const env = await database();
  await seedReceivers(
    env,
    Array.from({ length: 20 }, () => ({ url, events: 8 })),
  );
  const server = await startServer(env);
  await until('they all hang', () => asked >= 160, 20_000);
  const { value, ms } = await timed(() => server.stop());
  expect(value).toEqual({ status: 0, signal: null });
  expectWithin(ms, 9_000);
  const db = lookInto(env);
  expect(await db.selectFrom('webhook_leases').select('client_id').execute()).toEqual([]);
  const rows = await db.selectFrom('webhook_deliveries').select(['status', 'attempts']).execute();
  expect(rows).toEqual(Array(160).fill({ status: 'PENDING', attempts: 0 }));
});

if (ENGINE === 'postgres')
  describe('a webhook secret that cannot be opened', () => {
    it('stops neither of two processes, and both stop when asked', async () => {
      const healthy = await startReceiver();
      const env = await database();
      const [broken, sound] = await seedReceivers(env, [
        { url: healthy.url, events: 30 },
        { url: healthy.url, events: 30 },
      ]);
      const db = lookInto(env);
      await db
        .updateTable('api_clients')
        .set({ webhook_secret: 'AAAA' } as never)
        .where('id', '=', broken?.id as string)
        .execute();
      const servers = await Promise.all([startServer(env), startServer(env)]);
      await healthy.got(30, 15_000);
      await until('nothing waits any more', async () => {
        const waiting = await db
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('status', '=', 'PENDING')
          .execute();
        return waiting.length === 0;
      });
      const rows = await db.selectFrom('webhook_deliveries').select(['client_id', 'status']).execute();
      for (const { client_id, status } of rows)
        expect(status).toBe(client_id === sound?.id ? 'DELIVERED' : 'DROPPED');
      for (const server of servers) expect((await server.stop()).status).toBe(0);
    });
  });
