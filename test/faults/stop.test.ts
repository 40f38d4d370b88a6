import { once } from 'node:events';
import { Agent, type ClientRequest, get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { expectWithin } from '../support/faults.ts';
import { type ApiResponse, responseOf } from '../support/http.ts';
import { freePort } from '../support/postgres-server.ts';
import {
  migratedDatabase,
  type ServerProcess,
  startProgram,
  startServer,
  timed,
  withOwnTimeLimits,
} from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { atOnce } from '../support/responses.ts';
import { startShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

const responseFor = async (path: string, sending: ClientRequest): Promise<ApiResponse> => {
  const [response] = (await once(sending, 'response')) as [IncomingMessage];
  return responseOf(sending.method, path, response, await text(response));
};

/** A creation that the server has taken on but cannot finish: its body is still to come. */
const begun = async (server: ServerProcess, key: string, i: number) => {
  const body = JSON.stringify(repairBody({ externalRef: `in-flight-${i}` }));
  const path = `${BASE_PATH}/offline-repairs`;
  const sending = request(`${server.url}${path}`, {
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
  const answered = responseFor(path, sending);
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

const open = async (server: ServerProcess, bytes: string): Promise<Socket> => {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  if (bytes) socket.write(bytes);
  return socket;
};

const saysThatItStops = (server: ServerProcess) =>
  until('it says that it stops', () => server.logs().some((line) => line.msg === 'stopping'));

/** A request over a connection of this agent. */
const getOver = (agent: Agent, { url }: ServerProcess, path: string, key = ''): Promise<ApiResponse> =>
  responseFor(path, get(`${url}${path}`, { agent, headers: { 'x-api-key': key } }));

const largestFile = async (server: ServerProcess): Promise<string> => {
  const { body } = await server.get('/docs/reference', { headers: { connection: 'close' } });
  return `/docs/${/assets\/reference-[^"]+/.exec(body)?.[0]}`;
};

describe('a stop', () => {
  it('does not follow SIGHUP, which is logged', async () => {
    const server = await startServer(await migratedDatabase());
    server.signal('SIGHUP');
    await until('it says so', () => server.logs().some(({ msg }) => /^SIGHUP is ignored/.test(msg)));
    expect(await server.isReady()).toBe(true);
    expect(await server.stop()).toEqual({ status: 0, signal: null });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s serves every accepted request, then exits with status 0',
    async (signal) => {
      const { env, server, key } = await startShop();
      const requests = await atOnce(12, (i) => begun(server, key, i));
      server.signal(signal);
      await saysThatItStops(server);
      expect(await Promise.all(requests.map((each) => each.finish()))).toHaveStatuses({ 201: 12 });
      expect(await server.ended).toEqual({ status: 0, signal: null });
      expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });

      const again = await startServer(env, { key });
      const { body } = await again.get('/offline-repairs?limit=100');
      expect(body.total).toBe(12);
    },
  );

  it('accepts no new connection', async () => {
    const { server, key } = await startShop();
    const underWay = await begun(server, key, 1);
    server.signal('SIGTERM');
    await until('new connections are refused', () =>
      server.get('/healthz', { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    );
    expect(await underWay.finish()).toHaveStatus(201);
    expect((await server.ended).status).toBe(0);
  });

  it('first reports not ready, serves requests for a while, and closes each connection after its response', async () => {
    const { server, key } = await startShop({ env: { DRAIN_SECONDS: '60' } });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string) => getOver(kept, server, path, key);
    expect((await ask('/healthz')).headers.get('connection')).toBe('keep-alive');
    server.signal('SIGTERM');
    const notReady = await until('it is not ready', async () => {
      const response = await server.get('/readyz', { headers: { connection: 'close' } });
      return response.status === 503 && response;
    });
    expect(notReady.body).toMatchObject({ statusCode: 503, message: 'The service is stopping.' });
    expect(Number(notReady.headers.get('retry-after'))).toBeGreaterThan(0);
    // The connection that was idle when the stop began still gets its response.
    const last = await ask(`${BASE_PATH}/offline-repairs`);
    expect(last).toHaveStatus(200);
    expect(last.headers.get('connection')).toBe('close');
    const created = await server.create();
    expect(created).toHaveStatus(201);
    expect(created.headers.get('connection')).toBe('close');
    expect(server.logs().filter((line) => line.level >= 40)).toEqual([]);
    kept.destroy();
    // The server would respond for the rest of the minute; the next test shows that it ends.
    await server.stop('SIGKILL');
  });

  it('exits with status 0 within 12 s, whatever callers and receivers do', async () => {
    const receiver = await startReceiver(() => undefined);
    const { server, key } = await startShop({ webhookUrl: receiver.url, env: { DRAIN_SECONDS: '4' } });
    expect(await server.create()).toHaveStatus(201);
    await receiver.got(1);
    const post = `POST ${BASE_PATH}/offline-repairs HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n`;
    const half = 'content-length: 999\r\n\r\n{"half":';
    const script = await largestFile(server);
    for (const bytes of [
      '',
      'GET /hea',
      `${post}${half}`,
      `${post}x-api-key: ${key}\r\n${half}`,
      `GET ${script} HTTP/1.1\r\nhost: test\r\n\r\n`,
    ])
      (await open(server, bytes)).pause();
    expect(await server.get('/healthz')).toHaveStatus(200);
    const { value, ms } = await timed(() => server.stop());
    expect(value).toEqual({ status: 0, signal: null });
    expectWithin(ms, 12_000);
    expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });
  });
});

describe('a stop on any engine', () => {
  /** Less than the 8 s after which connections are cut off. */
  const expectAtOnce = async (stop: () => Promise<unknown>) => {
    const { value, ms } = await timed(stop);
    expect(value).toEqual({ status: 0, signal: null });
    expectWithin(ms, 6_000);
  };

  it('does not wait for idle connections, with or without an earlier request', async () => {
    const server = await startServer(await migratedDatabase());
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    // Browsers and load balancers open connections ahead of their first request.
    await open(server, '');
    // By now the server has taken both connections.
    await getOver(agent, server, '/healthz');
    await expectAtOnce(() => server.stop());
  });

  it('is the same if the signal arrives twice, as npm and some supervisors send it', async () => {
    const { server, key } = await startShop();
    const underWay = await begun(server, key, 1);
    server.signal('SIGTERM');
    await saysThatItStops(server);
    server.signal('SIGTERM');
    expect(await underWay.finish()).toHaveStatus(201);
    expect(await server.ended).toEqual({ status: 0, signal: null });
  });

  it('by a person at a terminal does not drain', async () => {
    const server = await startServer(await migratedDatabase({ DRAIN_SECONDS: '60' }));
    await expectAtOnce(() => server.stop('SIGINT'));
  });

  it('does not wait for connections that become idle after it began', async () => {
    const server = await startServer(await migratedDatabase());
    const script = await largestFile(server);
    const reader = await open(server, `GET ${script} HTTP/1.1\r\nhost: test\r\n\r\n`);
    const [first] = await once(reader, 'data');
    const [head = ''] = String(first).split('\r\n\r\n');
    expect(head).toMatch(/\nconnection: keep-alive/i);
    reader.pause();
    server.signal('SIGTERM');
    await saysThatItStops(server);
    reader.resume();
    await expectAtOnce(() => server.ended);
  });
});

// A shell that gets a signal to stop does not pass it on, and npm starts one.
if (process.platform !== 'win32')
  it('a service under npm start stops when npm is stopped', async () => {
    const env = await migratedDatabase();
    const port = await freePort();
    const { PATH = '', HOME = '' } = process.env;
    const npm = startProgram('npm', ['start'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { PATH, HOME, DRAIN_SECONDS: '0', ...env, PORT: String(port) },
    });
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until('it is up', isUp, 40_000);
    npm.child.kill('SIGTERM');
    await until('it is gone', async () => !(await isUp()), 20_000);
  });
