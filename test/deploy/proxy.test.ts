// engines: postgres

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { type ApiResponse, exchange } from '../support/http.ts';
import { onServer } from '../support/postgres-databases.ts';
import { freePort } from '../support/postgres-server.ts';
import {
  type Env,
  emptyDatabase,
  migratedDatabase,
  startServer,
  temporaryFolder,
  withOwnTimeLimits,
} from '../support/process.ts';
import { makeCertificate, startHaproxy } from '../support/proxies.ts';
import { repeatedly } from '../support/responses.ts';
import { makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { scaled, until } from '../support/until.ts';

withOwnTimeLimits();

// deploy/haproxy.cfg before two real processes. Only addresses, ports and folders are changed.

const CONFIGURATION = readFileSync(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8');
const CALLERS = 8;
const PAUSE_MS = 200;

const startProxy = async (serverPorts: number[]) => {
  const folder = temporaryFolder();
  makeCertificate(folder, 'tls');
  const [plain, secure] = [await freePort(), await freePort()];
  const configuration = CONFIGURATION.replaceAll('/run/secrets', folder)
    .replace('bind :80\n', `bind 127.0.0.1:${plain}\n`)
    .replace('bind :443 ', `bind 127.0.0.1:${secure} `)
    .replace(/api-(\d):3000/g, (_, server) => `127.0.0.1:${serverPorts[Number(server) - 1]}`);
  const { uses, lacks } = await startHaproxy(configuration);
  await uses('api-1');
  await uses('api-2');
  return { plain: `http://127.0.0.1:${plain}`, secure: `https://127.0.0.1:${secure}`, uses, lacks };
};

/** A caller with an address and a connection of its own, who trusts our certificate and lies about its address. */
const callerOf = (url: string, localAddress = '127.0.0.1') => {
  const client = new Client(url, { localAddress, connect: { rejectUnauthorized: false } });
  onTestFinished(() => client.destroy());
  let asked = 0;
  return (path: string, key = '', body?: object) => {
    asked += 1;
    return exchange(`${url}${path}`, {
      dispatcher: client,
      method: body ? 'POST' : 'GET',
      headers: {
        'x-api-key': key,
        'x-forwarded-for': `203.0.113.${(asked % 250) + 1}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body,
    });
  };
};

const startTwo = async (env: Env) => {
  const ports = [await freePort(), await freePort()];
  const start = (port: number) => startServer({ ...env, TRUST_PROXY: '1', PORT: String(port) });
  return { ports, start, servers: await Promise.all(ports.map(start)) };
};

const expectNotReady = (response: ApiResponse): void => {
  expect(response).toFailWith(503, 'SERVICE_UNAVAILABLE');
  expect(response.headers.get('retry-after')).toBe('2');
  expect(response.body.message).toBe('The service cannot do this right now: try again in a moment.');
  expect(response.body.docs).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/docs/);
};

describe('behind deploy/haproxy.cfg', needs('haproxy', 'openssl'), () => {
  it('two processes are replaced one by one, and no request fails', {
    timeout: scaled(180_000),
  }, async () => {
    const env = await migratedDatabase({ DRAIN_SECONDS: '6' });
    const { key } = await makeShop(env);
    const { ports, start, servers } = await startTwo(env);
    const { secure, uses } = await startProxy(ports);

    const responses: ApiResponse[] = [];
    const callers = Array.from({ length: CALLERS }, (_, i) =>
      callerOf(secure, process.platform === 'linux' ? `127.0.0.${10 + i}` : '127.0.0.1'),
    );
    const endCallers = repeatedly(CALLERS, async (i) => {
      const own = callers[i] as (typeof callers)[0];
      responses.push(await own(`${BASE_PATH}/offline-repairs?limit=1`, key));
      responses.push(await own(`${BASE_PATH}/offline-repairs`, key, repairBody()));
      await pause(PAUSE_MS);
    });
    for (const [i, port] of ports.entries()) {
      const before = responses.length;
      await until('callers are busy', () => responses.length > before + 20);
      await servers[i]?.stop();
      const between = responses.length;
      await until('callers go on', () => responses.length > between + 20);
      servers[i] = await start(port);
      await uses(`api-${i + 1}`);
    }
    await endCallers();
    // The caller that reached its limit got a response, too.
    for (const response of responses) expect(response).toHaveStatus(200, 201, 429);
    expect(responses.filter(({ status }) => status === 201).length).toBeGreaterThan(40);
  });

  it('one address has at most a hundred connections, and does not lock out others', async () => {
    const { ports } = await startTwo(await migratedDatabase());
    const { secure } = await startProxy(ports);
    const port = Number(new URL(secure).port);
    const sockets = Array.from({ length: 300 }, () =>
      connect(port, '127.0.0.1')
        .resume()
        .on('error', () => {}),
    );
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await until(
      'the proxy refuses those beyond the limit',
      () => sockets.filter(({ closed }) => closed).length >= 200,
    );
    const ask = callerOf(secure, '127.0.0.2');
    for (let i = 0; i < 10; i += 1) expect(await ask('/healthz')).toHaveStatus(200);
  });

  it("callers can read while the database is read-only, and get the API's error if no process runs", async () => {
    // A database that no other test uses again.
    const env = await emptyDatabase();
    const { key } = await makeShop(env);
    const { ports, servers } = await startTwo(env);
    const { secure, uses, lacks } = await startProxy(ports);
    const ask = callerOf(secure);
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    const server = inject('postgresUrl');
    await onServer(server, `alter database ${name} set default_transaction_read_only = on`);
    await onServer(
      server,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    await lacks('handback');
    await uses('api-1', 'reads');
    for (let i = 0; i < 10; i += 1) {
      expect(await ask(`${BASE_PATH}/offline-repairs`, key)).toHaveStatus(200);
      expectNotReady(await ask(`${BASE_PATH}/offline-repairs`, key, repairBody()));
    }
    for (const each of servers) await each.stop('SIGKILL');
    await lacks('reads');
    expectNotReady(await ask(`${BASE_PATH}/offline-repairs`, key));
  });

  it('callers cannot forge their address, read the metrics or avoid TLS', async () => {
    const { ports } = await startTwo(await migratedDatabase());
    const { plain, secure } = await startProxy(ports);
    const ask = callerOf(secure);
    const remaining = async () =>
      Number((await ask(`${BASE_PATH}/usage`)).headers.get('ratelimit-remaining'));
    const first = await remaining();
    expect(await remaining()).toBe(first - 1);
    for (const path of ['/metrics', '/%6detrics', '/returns/%6Det%72ics']) {
      const response = await ask(path);
      expect(response).toHaveStatus(404);
      expect(response.headers.get('content-length')).toBe('0');
    }
    const response = await callerOf(plain)('/docs/');
    expect(response).toHaveStatus(308);
    expect(response.headers.get('location')).toBe(`https://${new URL(plain).host}/docs/`);
  });
});
