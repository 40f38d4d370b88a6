import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { CONNECTION_LIMITS } from '../../src/http/connection-limits.ts';
import { overSocket } from '../support/api.ts';
import { doctor } from '../support/doctor.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, harness, IMPATIENT } from '../support/harness.ts';
import { atOnce } from '../support/responses.ts';
import { scaled, until } from '../support/until.ts';

const it = itWith(harness);

const LIST = `${BASE_PATH}/offline-repairs`;
const post = (...head: string[]) => [`POST ${LIST} HTTP/1.1`, 'host: test', ...head, '', ''].join('\r\n');
const JSON_BODY = 'content-type: application/json';
const ASK = 'GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n';

/** The limits are those of Node's server; here they are shorter, so that no test waits half a minute. */
const impatient = async (): Promise<Harness> => {
  const t = await harness({ env: IMPATIENT });
  t.app.server.headersTimeout = 300;
  t.app.server.requestTimeout = 600;
  t.app.server.setTimeout(2_000);
  return t;
};

const open = async (t: Harness, bytes = '', localAddress = '127.0.0.1'): Promise<Socket> => {
  const port = Number(new URL(t.url).port);
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  if (bytes) socket.write(bytes);
  return socket;
};

const connections = (t: Harness): Promise<number> =>
  new Promise((resolve, reject) =>
    t.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
const noneLeft = (t: Harness) =>
  until('the service has closed every connection', async () => (await connections(t)) === 0, 15_000);

/** Sends a little of it every 50 ms, until the connection is closed. */
const drip = async (socket: Socket, bytes: string): Promise<void> => {
  while (socket.writable) {
    socket.write(bytes);
    await pause(50);
  }
};

describe('a connection is closed', () => {
  it.each([
    ['sends nothing', '', ''],
    ['sends its head too slowly', `GET ${LIST} HTTP/1.1\r\nhost: test\r\nx-a: `, 'x'],
    ['sends its body too slowly', post('x-api-key: KEY', 'content-length: 9999'), ' '],
  ])('with a 408 if the caller %s', async (_what, head, then) => {
    const t = await impatient();
    const sent = head.replace('KEY', t.client.apiKey);
    expect(await overSocket(t.url, sent)).toFailWith(408);
    // The caller keeps its side open, and goes on.
    const stubborn = await open(t, sent);
    if (then) void drip(stubborn, then);
    await noneLeft(t);
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
  });

  it('if the caller does not read the response', async () => {
    const t = await impatient();
    const page = await (await fetch(`${t.url}/docs/reference`, { headers: { connection: 'close' } })).text();
    const script = /assets\/reference-[^"]+/.exec(page)?.[0];
    const reader = await open(t, `GET /docs/${script} HTTP/1.1\r\nhost: test\r\n\r\n`);
    reader.pause();
    await noneLeft(t);
  });

  it('but not while it is idle between requests of a keep-alive', async () => {
    const t = await impatient();
    const socket = await open(t, ASK);
    await once(socket, 'data');
    // Longer than the limits for requests: a caller who came later is cut off by them.
    expect(await overSocket(t.url, '')).toFailWith(408);
    socket.write(ASK);
    await once(socket, 'data');
  });
});

it('a connection stays open for a response that is allowed to take longer', async () => {
  const t = await harness({
    prepare: (app) =>
      app.get('/slow', { config: { deadlineMs: 10_000 } }, async () => {
        await pause(3_000);
        return Readable.from(['it ', 'came']);
      }),
  });
  t.app.server.setTimeout(1_000);
  const socket = await open(t, 'GET /slow HTTP/1.1\r\nhost: test\r\n\r\n');
  const response = await new Promise((resolve) =>
    socket.once('data', resolve).once('close', () => resolve('closed without a response')),
  );
  expect(String(response)).toMatch(/^HTTP\/1.1 200 /);
});

describe('connections from one address without a trusted proxy', () => {
  const LIMIT = 5;
  const limited = () => harness({ env: { TRUST_PROXY: 'off', MAX_CONNECTIONS_PER_ADDRESS: String(LIMIT) } });

  /** Idle from now on: it has asked once and was answered. */
  const idle = async (t: Harness, localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = await open(t, ASK, localAddress);
    await once(socket, 'data');
    return socket;
  };
  const isClosed = (socket: Socket) => until('it is closed', () => socket.closed);

  it('are capped: one more closes the longest-idle connection', async () => {
    const t = await limited();
    const sockets: Socket[] = [];
    for (let i = 0; i < LIMIT; i += 1) sockets.push(await idle(t));
    // The first has asked again, so the second is the longest idle one.
    sockets[0]?.write(ASK);
    await once(sockets[0] as Socket, 'data');
    await idle(t);
    await isClosed(sockets[1] as Socket);
    expect(sockets.map(({ closed }) => closed)).toEqual([false, true, false, false, false]);
    expect(await connections(t)).toBe(LIMIT);
  });

  it('do not lock out other addresses, however many there are', async () => {
    const t = await limited();
    const good = await idle(t, '127.0.0.2');
    const many = await atOnce(300, async () => (await open(t, ASK)).resume());
    await until('the others are closed', () => many.filter(({ closed }) => !closed).length === LIMIT);
    for (let i = 0; i < 20; i += 1) {
      good.write(ASK);
      await once(good, 'data');
      (await idle(t, '127.0.0.3')).destroy();
      // One more of the same address replaces an idle one.
      expect(await fetch(`${t.url}/healthz`, { headers: { connection: 'close' } })).toHaveStatus(200);
    }
  });

  it('are refused while all of them are in use', async () => {
    const t = await limited();
    // Its body is still to come.
    const begun = post(`x-api-key: ${t.client.apiKey}`, JSON_BODY, 'content-length: 9');
    let asked = 0;
    t.app.server.on('request', () => {
      asked += 1;
    });
    const busy = await atOnce(LIMIT, () => open(t, begun));
    await until('all wait', () => asked === LIMIT);
    await isClosed((await open(t, ASK)).resume());
    expect(busy.some(({ closed }) => closed)).toBe(false);
    expect((await idle(t, '127.0.0.2')).closed).toBe(false);
  });

  it('are not counted if they come from a proxy', async () => {
    const t = await harness({ env: { TRUST_PROXY: '1', MAX_CONNECTIONS_PER_ADDRESS: String(LIMIT) } });
    const sockets = await atOnce(3 * LIMIT, () => idle(t));
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
  });
});

it('X-Forwarded-For without a trusted proxy causes one warning in the log and one in doctor', async () => {
  const t = await harness({ env: { TRUST_PROXY: 'off' } });
  const warnings = () => t.logs.filter((line) => /TRUST_PROXY is off/.test(line));
  expect(await doctor(t.env)).not.toHaveProperty('proxy');
  for (let i = 0; i < 3; i += 1) await t.get('/offline-repairs', { ip: '203.0.113.9' });
  expect(warnings()).toHaveLength(1);
  await until('doctor knows it', async () => (await doctor(t.env))['proxy']?.state === 'warn');
  expect(await doctor({ ...t.env, TRUST_PROXY: '1' })).not.toHaveProperty('proxy');
});

describe('a body that is no longer needed', () => {
  const LENGTH = 100 * 1024 * 1024;

  it('is not read: the response is sent, then the connection is closed', async ({ t }) => {
    const served: Socket[] = [];
    t.app.server.on('connection', (socket) => served.push(socket));
    const length = `content-length: ${LENGTH}`;
    const refusals: [number, string][] = [
      [401, post(length)],
      [401, `${post('transfer-encoding: chunked')}6400000\r\n`],
      [413, post(`x-api-key: ${t.client.apiKey}`, JSON_BODY, length)],
      [405, post(length).replace('POST', 'DELETE')],
      [400, post(length).replace('host: test\r\n', '')],
    ];
    for (const [status, head] of refusals) {
      const socket = await open(t, head);
      let response = '';
      socket.on('data', (chunk) => {
        response += chunk;
      });
      const piece = Buffer.alloc(64 * 1024, ' ');
      for (let sent = 0; sent < LENGTH && socket.writable; sent += piece.length)
        if (!socket.write(piece))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
      await until('the connection is closed', () => socket.closed);
      expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(response).toMatch(/\r\nconnection: close\r\n/i);
      expect(served.at(-1)?.bytesRead).toBeLessThan(5 * 1024 * 1024);
    }
    await noneLeft(t);
  });

  it('keeps the connection open if it arrived completely', async ({ t }) => {
    const response = await t.post('/offline-repairs', {}, { key: null });
    expect(response).toHaveStatus(401);
    expect(response.headers.get('connection')).toBe('keep-alive');
  });
});

it('a request whose body stalls gets a response before its connection is closed', () => {
  expect(CONNECTION_LIMITS.requestTimeout).toBeLessThan(
    CONNECTION_LIMITS.connectionTimeout - CONNECTION_LIMITS.http.connectionsCheckingInterval,
  );
});

const DEADLINE_MS = scaled(300);
const LATE_MS = 3 * DEADLINE_MS;
const secret = 'quokka-query';
const unchecked = { unchecked: true };

it('a request that misses its deadline gets a 503 with Retry-After, and its late result is discarded', async () => {
  let late = 0;
  const isLate = async () => {
    await pause(LATE_MS);
    late += 1;
  };
  const config = { deadlineMs: DEADLINE_MS };
  const t = await harness({
    env: IMPATIENT,
    prepare(app) {
      const failLate = async () => {
        await isLate();
        throw new Error(secret);
      };
      app.get('/returns', { config }, () => isLate().then(() => ({ done: true })));
      app.get('/sends', { config }, async (_request, reply) => {
        await isLate();
        return reply.code(201).send({ done: true });
      });
      app.get('/throws', { config }, failLate);
      app.get('/gate', { config, onRequest: failLate }, async () => ({}));
    },
  });
  const paths = ['/returns', '/sends', '/throws', '/gate'];
  const responses = await Promise.all(paths.map((path) => t.get(`${path}?q=${secret}`, unchecked)));
  for (const response of responses) {
    expect(response).toFailWith(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await until('all handlers are done', () => late === paths.length);
  expect(await t.get('/healthz')).toHaveStatus(200);
  const log = t.logs.join('');
  expect(log).not.toContain(secret);
  expect(log).not.toMatch(/already sent|Promise errored/i);
  // One line for the request, one for its failure.
  for (const { body } of responses) expect(log.split(body.requestId)).toHaveLength(3);
});

it('the deadline excludes the time to receive a body and to read a response', async () => {
  const slowly = async function* (...pieces: string[]) {
    for (const piece of pieces) {
      yield Buffer.from(piece);
      await pause(DEADLINE_MS);
    }
  };
  const config = { deadlineMs: DEADLINE_MS };
  const t = await harness({
    env: IMPATIENT,
    prepare(app) {
      app.post('/echo', { config }, async ({ body }) => body);
      app.get('/stream', { config }, (_request, reply) =>
        reply.type('text/plain').send(Readable.from(slowly('a', 'b', 'c', 'd'))),
      );
    },
  });
  const echo = await fetch(`${t.url}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: slowly('[', '1', ',2', ']'),
    duplex: 'half',
  } as RequestInit);
  expect(echo).toHaveStatus(200);
  expect(await echo.json()).toEqual([1, 2]);
  const stream = await fetch(`${t.url}/stream`);
  expect(stream).toHaveStatus(200);
  expect(await stream.text()).toBe('abcd');
});
