import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repeatedly } from '../support/answers.ts';
import { repairBody } from '../support/bodies.ts';
import { freePort } from '../support/postgres-server.ts';
import { type Env, migratedDatabase, startServer, temporaryFolder } from '../support/process.ts';
import { makeCertificate, startHaproxy } from '../support/proxies.ts';
import { makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { scaled, until } from '../support/until.ts';

// deploy/haproxy.cfg before two real processes. Only addresses, ports and folders are changed.

const CONFIGURATION = readFileSync(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8');
const CALLERS = 8;
const PAUSE_MS = 200;

const startProxy = async (serverPorts: number[]) => {
  const folder = temporaryFolder();
  makeCertificate(folder, 'tls');
  const [plain, secure] = [await freePort(), await freePort()];
  let servers = 0;
  const configuration = CONFIGURATION.replaceAll('/run/secrets', folder)
    .replace('bind :80\n', `bind 127.0.0.1:${plain}\n`)
    .replace('bind :443 ', `bind 127.0.0.1:${secure} `)
    .replace(/api-\d:3000/g, () => `127.0.0.1:${serverPorts[servers++]}`);
  expect(servers).toBe(serverPorts.length);
  const uses = await startHaproxy(configuration);
  await uses('api-1');
  await uses('api-2');
  return { plain: `http://127.0.0.1:${plain}`, secure: `https://127.0.0.1:${secure}`, uses };
};

/** A caller with an address and a connection of its own, who trusts our certificate and lies about its address. */
const callerOf = (url: string, localAddress = '127.0.0.1') => {
  const client = new Client(url, { localAddress, connect: { rejectUnauthorized: false } });
  onTestFinished(() => client.destroy());
  return async (path: string, key = '', body?: object) => {
    const answer = await client.request({
      path,
      method: body ? 'POST' : 'GET',
      headers: {
        'x-api-key': key,
        'x-forwarded-for': `203.0.113.${Math.ceil(Math.random() * 250)}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };
};

const startTwo = async (env: Env) => {
  const ports = [await freePort(), await freePort()];
  const start = (port: number) => startServer({ ...env, TRUST_PROXY: '1', PORT: String(port) });
  return { ports, start, servers: await Promise.all(ports.map(start)) };
};

describe('behind deploy/haproxy.cfg', needs('haproxy', 'openssl'), () => {
  it('two processes are replaced one by one, and no request fails', {
    timeout: scaled(180_000),
  }, async () => {
    const env = await migratedDatabase({ DRAIN_SECONDS: '6' });
    const { key } = await makeShop(env);
    const { ports, start, servers } = await startTwo(env);
    const { secure, uses } = await startProxy(ports);

    const answers: number[] = [];
    const callers = Array.from({ length: CALLERS }, (_, i) =>
      callerOf(secure, process.platform === 'linux' ? `127.0.0.${10 + i}` : '127.0.0.1'),
    );
    const endCallers = repeatedly(CALLERS, async (i) => {
      const own = callers[i] as (typeof callers)[0];
      answers.push((await own(`${BASE_PATH}/offline-repairs?limit=1`, key)).status);
      answers.push((await own(`${BASE_PATH}/offline-repairs`, key, repairBody())).status);
      await pause(PAUSE_MS);
    });
    for (const [i, port] of ports.entries()) {
      const before = answers.length;
      await until('callers are busy', () => answers.length > before + 20);
      await servers[i]?.stop();
      const between = answers.length;
      await until('callers go on', () => answers.length > between + 20);
      servers[i] = await start(port);
      await uses(`api-${i + 1}`);
    }
    await endCallers();
    // A caller that reached its limit was answered, too.
    expect(answers.filter((status) => ![200, 201, 429].includes(status))).toEqual([]);
    expect(answers.filter((status) => status === 201).length).toBeGreaterThan(40);
  });

  it('one address has a hundred connections at most, and keeps no other out', async () => {
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
    for (let i = 0; i < 10; i += 1) expect((await ask('/healthz')).status).toBe(200);
  });

  it('callers cannot choose the address that counts, nor read the metrics, nor go without TLS', async () => {
    const { ports } = await startTwo(await migratedDatabase());
    const { plain, secure } = await startProxy(ports);
    const ask = callerOf(secure);
    const remaining = async () => Number((await ask(`${BASE_PATH}/usage`)).headers['ratelimit-remaining']);
    const first = await remaining();
    expect(await remaining()).toBe(first - 1);
    expect(await ask('/metrics')).toMatchObject({ status: 404 });
    const { status, headers } = await callerOf(plain)('/docs/');
    expect({ status, location: headers['location'] }).toEqual({
      status: 308,
      location: `https://${new URL(plain).host}/docs/`,
    });
  });
});
