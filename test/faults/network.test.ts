import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, migratedDatabase, startServer, timed } from '../support/process.ts';
import { addShops } from '../support/shops.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

/** Every answer comes within this time, docs/contract.md. */
const WITHIN_MS = 5_000;

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

if (ENGINE === 'postgres')
  describe('the network to PostgreSQL', () => {
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
      expectWithin(Math.max(...answers.map(({ ms }) => ms)), WITHIN_MS);
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
