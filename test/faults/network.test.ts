import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, migratedDatabase, startServer, timed } from '../support/process.ts';
import { addShops } from '../support/shops.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** Every answer comes within this time, contract §3; some more for a busy machine. */
const WITHIN_MS = 6_000;

/** How long packets are lost, and how soon after that everything works again. */
const HELD_MS = 15_000;
const BACK_WITHIN_MS = 5_000;
/** More than a few batches: those behind wait longest, and hold their keys. */
const CALLERS = 50;

const behindProxy = async (more: Env = {}) => {
  const env = await migratedDatabase();
  const proxy: TcpProxy = await startTcpProxy(env['DATABASE_URL'] as string);
  const [one] = await addShops(env, 1);
  const server = await startServer(
    { ...env, ...more, DATABASE_URL: proxy.through(env['DATABASE_URL'] as string) },
    { key: one?.client.apiKey ?? '' },
  );
  const { body } = await server.post('/offline-repairs', repairBody());
  /** A request of every kind. */
  const kinds = (): (() => Promise<{ status: number }>)[] => [
    () => server.get('/offline-repairs'),
    () => server.get(`/offline-repairs/${body.id}`),
    () => server.get('/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z'),
    () => server.get(`/offline-repairs/${body.id}/timeline`),
    () => server.post('/offline-repairs', repairBody()),
    () => server.post(`/offline-repairs/${body.id}/begin-diagnostics`, {}),
    () => server.get('/readyz'),
  ];
  return { proxy, server, kinds };
};

describe.runIf(ENGINE === 'postgres')('the network to PostgreSQL', () => {
  it('forgets connections that were idle, and no request notices', async () => {
    const { proxy, kinds } = await behindProxy();
    // Every kind of work has its connections open.
    for (let i = 0; i < 3; i++) await Promise.all([...kinds(), ...kinds()].map((ask) => ask()));
    const before = proxy.connections();
    expect(before).toBeGreaterThan(8);
    const idleSince = performance.now();
    await until('the connections were idle for a while', () => performance.now() - idleSince > 2_000);
    proxy.forget();
    const answers = await Promise.all([...kinds(), ...kinds()].map((ask) => timed(ask)));
    expect(answers.map(({ value }) => value.status).filter((status) => status >= 400)).toEqual([]);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(WITHIN_MS);
  });

  it('drops everything for 15 s: answers come in time, no key stays in use, and all is well soon after', {
    timeout: 90_000,
  }, async () => {
    const { proxy, server, kinds } = await behindProxy();
    await Promise.all(kinds().map((ask) => ask()));
    proxy.hold();
    const heldAt = performance.now();
    const answers: { status: number; ms: number; endedAt: number }[] = [];
    const ask = async (request: () => Promise<{ status: number }>) => {
      const { value, ms } = await timed(request);
      answers.push({ status: value.status, ms, endedAt: performance.now() });
      return value.status;
    };
    // Each caller has an order of its own and tries again as soon as it is told to come back later, too soon that is.
    const callers = Array.from({ length: CALLERS }, async (_, n) => {
      const create = () =>
        server.post('/offline-repairs', repairBody(), { headers: { 'idempotency-key': `order-${n}` } });
      while ((await ask(create)) !== 201) await pause(100);
    });
    const readers = kinds().map(async (request) => {
      while (performance.now() - heldAt < HELD_MS) await ask(request);
    });
    await until('the network was away for a while', () => performance.now() - heldAt > HELD_MS, 20_000);
    proxy.release();
    const releasedAt = performance.now();
    await Promise.all([...callers, ...readers]);
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    // Nobody is told that a key is in use whose first request was answered long ago.
    expect(count(409)).toBe(0);
    expect(count(201)).toBeGreaterThanOrEqual(CALLERS);
    expect(count(503)).toBeGreaterThan(20);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(WITHIN_MS);
    const last503 = Math.max(...answers.filter(({ status }) => status === 503).map(({ endedAt }) => endedAt));
    expect(last503 - releasedAt).toBeLessThan(BACK_WITHIN_MS);
  });

  it('lets too few connections through: not ready, and ready when there are enough', async () => {
    const { proxy, server, kinds } = await behindProxy();
    expect((await server.get('/readyz')).status).toBe(200);
    proxy.forget();
    proxy.limit(2);
    await until('it is not ready', async () => (await server.get('/readyz')).status === 503);
    proxy.limit(100);
    await until('it is ready again', async () => (await server.get('/readyz')).status === 200, 15_000);
    for (const ask of kinds()) expect((await ask()).status).toBeLessThan(300);
  });
});
