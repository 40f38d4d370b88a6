import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { makeShop, migratedDatabase, type ServerProcess, startServer, timed } from '../support/process.ts';
import { until } from '../support/until.ts';

/** A creation that the server has taken on but cannot finish: its body is still to come. */
const begun = async (server: ServerProcess, key: string, i: number) => {
  const body = JSON.stringify(repairBody({ externalRef: `in-flight-${i}` }));
  const sending = request(`${server.url}${BASE_PATH}/offline-repairs`, {
    method: 'POST',
    agent: false,
    headers: {
      'x-api-key': key,
      'x-forwarded-for': `10.9.0.${i}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.once('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    sending.once('error', reject);
  });
  const accepted = new Promise((resolve) => sending.once('continue', resolve));
  sending.flushHeaders();
  await Promise.race([accepted, answered]);
  return {
    finish: () => {
      sending.end(body);
      return answered;
    },
  };
};

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s answers every request taken on, then ends with status 0',
    async (signal) => {
      const env = await migratedDatabase();
      const { key } = await makeShop(env);
      const server = await startServer(env, { key });
      const requests = await Promise.all(Array.from({ length: 12 }, (_, i) => begun(server, key, i)));
      server.signal(signal);
      await until('it says that it stops', () => server.logs().some((line) => line.msg === 'stopping'));
      const statuses = await Promise.all(requests.map((each) => each.finish()));
      expect(statuses).toEqual(Array(12).fill(201));
      expect(await server.ended).toEqual({ status: 0, signal: null });
      expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });

      const again = await startServer(env, { key });
      const { body } = await again.get('/offline-repairs?limit=100');
      expect(body.total).toBe(12);
    },
  );

  it('waits for no connection that is kept alive between requests', async () => {
    const env = await migratedDatabase();
    const server = await startServer(env);
    const agent = new Agent({ keepAlive: true });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${server.url}/healthz`, { agent }, resolve).once('error', reject);
    });
    answer.resume();
    const { value, ms } = await timed(() => server.stop());
    agent.destroy();
    expect(value).toEqual({ status: 0, signal: null });
    expect(ms).toBeLessThan(10_000);
  });

  // Browsers and load balancers open connections ahead of their first request.
  it('waits for no connection on which nobody has asked anything', async () => {
    const env = await migratedDatabase();
    const server = await startServer(env);
    const silent = connect(server.port, '127.0.0.1').on('error', () => {});
    await once(silent, 'connect');
    expect((await server.get('/healthz')).status).toBe(200); // by now the server has taken both connections
    const { value, ms } = await timed(() => server.stop());
    silent.destroy();
    expect(value).toEqual({ status: 0, signal: null });
    expect(ms).toBeLessThan(10_000);
  });

  it('lets nobody in any more', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    const open = await begun(server, key, 1);
    server.signal('SIGTERM');
    await until('new connections are refused', () =>
      server.get('/healthz', { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    );
    expect(await open.finish()).toBe(201);
    expect((await server.ended).status).toBe(0);
  });
});
