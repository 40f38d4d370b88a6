import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import { type Env, lookInto, migratedDatabase, type ServerProcess, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const twoServers = async (env: Env, key: string): Promise<[ServerProcess, ServerProcess]> =>
  Promise.all([startServer(env, { key }), startServer(env, { key })]);

const statuses = (answers: Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe.runIf(ENGINE === 'postgres')('two processes on one database', () => {
  it('give every RMA a number of its own', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const servers = await twoServers(env, key);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody()),
      ),
    );
    expect(statuses(answers)).toEqual({ 201: 60 });
    expect(new Set(answers.map((answer) => answer.body.rmaNumber)).size).toBe(60);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(60);
  });

  it('share the rate limits', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const servers = await twoServers(env, key);
    const ip = '10.77.0.1';
    const read = (i: number) => (servers[i % 2] as ServerProcess).get('/offline-repairs?limit=1', { ip });
    const answers: Answer[] = [];
    for (let i = 0; i < 210; i += 10)
      answers.push(...(await Promise.all(Array.from({ length: 10 }, (_, k) => read(i + k)))));
    expect(statuses(answers)).toEqual({ 200: 200, 429: 10 });
    for (const server of servers) {
      const { status, headers } = await server.get('/offline-repairs', { ip });
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await server.get('/offline-repairs', { ip: '10.77.0.2' })).status).toBe(200);
    }

    // The short window of creations too: no more than five within a second, wherever they arrive.
    const burst = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody(), { ip: '10.77.0.3' }),
      ),
    );
    const created = burst.filter((answer) => answer.status === 201).length;
    expect(created + burst.filter((answer) => answer.status === 429).length).toBe(12);
    // Twelve at once are done within two windows of a second.
    expect(created).toBeGreaterThanOrEqual(5);
    expect(created).toBeLessThanOrEqual(10);
  });

  it('create one RMA for an Idempotency-Key that both get at once', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const servers = await twoServers(env, key);
    const db = lookInto(env);
    for (let round = 1; round <= 5; round++) {
      const headers = { 'idempotency-key': `receipt-${round}` };
      const send = (i: number) =>
        (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody(), { headers });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => send(i)));
      const done = answers.filter((answer) => answer.status === 201);
      const running = answers.filter((answer) => answer.status === 409);
      expect(done.length).toBeGreaterThanOrEqual(1);
      expect(done.length + running.length).toBe(8);
      expect(done.filter((answer) => !answer.headers.has('idempotency-replayed'))).toHaveLength(1);
      expect(new Set(done.map((answer) => answer.body.id)).size).toBe(1);
      // Once the first is done, both replay it.
      for (const i of [0, 1]) {
        const replay = await send(i);
        expect(replay.status).toBe(201);
        expect(replay.headers.get('idempotency-replayed')).toBe('true');
        expect(replay.body).toEqual(done[0]?.body);
      }
      expect(await db.selectFrom('offline_repairs').select('id').execute()).toHaveLength(round);
      const counter = await db.selectFrom('shop_counters').selectAll().executeTakeFirstOrThrow();
      expect(counter.month_used).toBe(round);
    }
  });

  it('go on when one of them is killed', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const [one, other] = await twoServers(env, key);
    const { body } = await one.post('/offline-repairs', repairBody());
    expect((await one.stop('SIGKILL')).signal).toBe('SIGKILL');
    expect((await other.get(`/offline-repairs/${body.id}`)).status).toBe(200);
    expect((await other.post('/offline-repairs', repairBody())).body.rmaNumber).toBe('#RMA-000002');
  });
});
