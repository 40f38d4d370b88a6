import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, migratedDatabase, startServer, timed } from '../support/process.ts';
import { addShops } from '../support/shops.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** Every answer comes within this time, contract §3; some more for a busy machine. */
const WITHIN_MS = 6_000;

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

  it('drops everything for a while: answers come in time, and all is well soon after', {
    timeout: 90_000,
  }, async () => {
    const { proxy, server, kinds } = await behindProxy();
    const keyed = (n: number) =>
      server.post('/offline-repairs', repairBody(), { headers: { 'idempotency-key': `order-${n}` } });
    await Promise.all(kinds().map((ask) => ask()));
    proxy.hold();
    const away = await Promise.all(
      [...kinds(), ...Array.from({ length: 10 }, (_, n) => () => keyed(n))].map((ask) => timed(ask)),
    );
    expect(new Set(away.map(({ value }) => value.status))).toEqual(new Set([503]));
    expect(Math.max(...away.map(({ ms }) => ms))).toBeLessThan(WITHIN_MS);
    // Connections made now are held too, until the network is back.
    const still = await timed(() => server.get('/offline-repairs'));
    expect(still.value.status).toBe(503);
    proxy.forget();
    proxy.release();
    const { ms } = await timed(() =>
      until('it creates again', async () => (await keyed(0)).status === 201, 15_000),
    );
    expect(ms).toBeLessThan(WITHIN_MS);
    // Nobody is told that a key is in use whose first request was answered long ago.
    const again = await Promise.all(Array.from({ length: 10 }, (_, n) => keyed(n)));
    expect(again.map(({ status }) => status)).toEqual(Array(10).fill(201));
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
