// engines: sqlite, postgres

import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { overSocket } from '../support/api.ts';
import { holdConnections } from '../support/database.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../support/engines.ts';
import { harness } from '../support/harness.ts';
import { migratedDatabase, startServer, withOwnTimeLimits } from '../support/process.ts';
import { startShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

/** A caller on this machine, with no proxy in between. */
const ON_LOOPBACK = { ip: null };
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('the endpoints for operators', () => {
  it('need no key, and are not rate-limited', async () => {
    const server = await startServer(await migratedDatabase());
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ] as const) {
      const response = await server.get(path);
      expect(response).toHaveStatus(200);
      expect(response.body.status).toBe(status);
    }
    for (let i = 0; i < 220; i++) expect(await server.get('/healthz', { ip: '10.1.1.1' })).toHaveStatus(200);
  });

  it('include metrics: requests by method, route pattern and status, and the time of database queries', async () => {
    const { server } = await startShop();
    const { body: repair } = await server.create();
    await server.get(`/offline-repairs/${repair.id}`);
    await server.get(`/offline-repairs/${repair.id}`);
    await server.get('/offline-repairs/not-an-id');
    await server.get('/offline-repairs', { key: 'handback_ext_wrong' });
    await server.get('/nowhere/at/all');
    // A request is counted when its response has gone out.
    const { body, headers } = await until('the last one is counted', async () => {
      const response = await server.get('/metrics', ON_LOOPBACK);
      expect(response).toHaveStatus(200);
      return response.body.includes('route="unknown"') && response;
    });
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=|^application\/openmetrics-text/);
    const counted = String(body)
      .split('\n')
      .filter((line) => line.startsWith('handback_http_request_duration_seconds_count{'));
    for (const [method, route, status, count] of [
      ['POST', `${BASE_PATH}/offline-repairs`, 201, 1],
      ['GET', `${BASE_PATH}/offline-repairs/:id`, 200, 2],
      ['GET', `${BASE_PATH}/offline-repairs/:id`, 404, 1],
      ['GET', `${BASE_PATH}/offline-repairs`, 401, 1],
      ['GET', 'unknown', 404, 1],
    ]) {
      const labels = [`method="${method}"`, `route="${route}"`, `status="${status}"`];
      const line = counted.find((each) => labels.every((label) => each.includes(label)));
      expect([...labels, line?.split(' ').at(-1)]).toEqual([...labels, String(count)]);
    }
    expect(body).toMatch(/^handback_http_request_duration_seconds_bucket\{.*le="0\.005".*\} \d+$/m);
    expect(body).toMatch(/^handback_database_query_duration_seconds_count [1-9]\d*$/m);
    expect(body).toMatch(/^handback_database_query_duration_seconds_sum [\d.e-]+$/m);
    expect(body).toMatch(/^process_resident_memory_bytes /m);
    expect(body).not.toContain(repair.id);
  });
});

// Who gets them is decided without the database.
describe('metrics', ONLY_SQLITE, () => {
  it('are available without METRICS_TOKEN to callers on the same machine only, as TRUST_PROXY says', async () => {
    const env = await migratedDatabase();
    // Whatever it listens on: a proxy on the same machine must not publish them.
    for (const HOST of ['127.0.0.1', '0.0.0.0']) {
      const server = await startServer({ ...env, HOST });
      for (const options of [
        {},
        bearer(''),
        { ip: '203.0.113.9' },
        { ip: 'nonsense' },
        { ip: '127.0.0.1, 10.0.0.1' },
      ])
        expect(await server.get('/metrics', options)).toFailWith(404);
      for (const ip of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '127.0.0.1:5678', '[::1]:443'])
        expect(await server.get('/metrics', { ip })).toHaveStatus(404);
      for (const [name, value] of [
        ['via', '1.1 proxy'],
        ['forwarded', 'for=127.0.0.1'],
        ['x-forwarded-for', ''],
        ['x-forwarded-proto', 'https'],
        ['x-real-ip', '127.0.0.1'],
        ['cf-connecting-ip', '127.0.0.1'],
        ['true-client-ip', '127.0.0.1'],
        ['x-client-ip', '127.0.0.1'],
        ['fastly-client-ip', '127.0.0.1'],
        ['x-envoy-external-address', '127.0.0.1'],
        ['x-forwarded', 'for=127.0.0.1'],
      ] as const)
        expect(await server.get('/metrics', { ip: null, headers: { [name]: value } }), name).toHaveStatus(
          404,
        );
      // nginx speaks HTTP/1.0 by default, and adds no header.
      for (const [version, status] of [
        ['1.0', 404],
        ['1.1', 200],
      ] as const) {
        const head = `GET /metrics HTTP/${version}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`;
        expect(await overSocket(server.url, head), version).toHaveStatus(status);
      }
      expect(await fetch(`${server.url}/metrics`)).toHaveStatus(200);
      expect((await server.stop()).status).toBe(0);
    }
    const trusting = await startServer({ ...env, TRUST_PROXY: 'off' });
    // nginx's default: it sends its own address of us as Host.
    const host = '127.0.0.1:3000';
    expect(await trusting.get('/metrics', { ip: '203.0.113.9', headers: { host } })).toHaveStatus(404);
    // A web page may give its own name the address of this machine.
    for (const [host, status] of [
      ['rebind.evil.example', 404],
      ['127.0.0.1.evil.example:3000', 404],
      ['localhost:3000', 200],
      ['[::1]:3000', 200],
      ['10.0.0.5', 200],
    ] as const)
      expect(await trusting.get('/metrics', { ...ON_LOOPBACK, headers: { host } }), host).toHaveStatus(
        status,
      );
  });

  it.each(['0.0.0.0', '127.0.0.1'])('on %s require METRICS_TOKEN once it is set', async (HOST) => {
    const server = await startServer(
      await migratedDatabase({ HOST, METRICS_TOKEN: 'figures-for-prometheus' }),
    );
    for (const options of [
      {},
      bearer('figures'),
      bearer('figures-for-prometheus-'),
      { key: 'figures-for-prometheus' },
    ])
      expect(await server.get('/metrics', options)).toFailWith(401);
    const response = await server.get('/metrics', bearer('figures-for-prometheus'));
    expect(response).toHaveStatus(200);
    expect(response.body).toContain('handback_http_request_duration_seconds');
    expect(server.stdout).not.toContain('figures');
  });
});

it('a process whose connections are all in use is ready', ONLY_POSTGRES, async () => {
  const t = await harness({ env: { DATABASE_POOLS: 'admin=1,lists=1,reads=1,webhooks=1' } });
  const { db, lists, reads, webhooks, background } = t.ctx;
  const release = await holdConnections(db, lists, reads, webhooks, background);
  expect(await t.get('/readyz', { key: null, unchecked: true })).toHaveStatus(200);
  await release();
});

it('a worker process serves the endpoints for operators only', ONLY_POSTGRES, async () => {
  const { server } = await startShop({ env: { ROLE: 'worker' } });
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect(await server.get(path, ON_LOOPBACK)).toHaveStatus(200);
  for (const path of ['/offline-repairs', `${BASE_PATH}/openapi.json`, '/docs', '/admin'])
    expect(await server.get(path)).toFailWith(404);
  expect(await server.create()).toHaveStatus(404);
  expect((await server.stop()).status).toBe(0);
});
