// engines: sqlite, postgres

import { STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { Pool } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { ADMIN_BASE_PATH } from '../../../contract/admin-people.ts';
import { BASE_PATH } from '../../../contract/common.ts';
import { ADMIN_ROUTES } from '../../support/admin-routes.ts';
import { BODIES, UNKNOWN_ID } from '../../support/api.ts';
import { watchedEventLoop } from '../../support/asked-process.ts';
import { tradeBody } from '../../support/bodies.ts';
import { effort, FULL, measured } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { newAddress } from '../../support/http.ts';
import type { ServerProcess } from '../../support/process.ts';
import { type Bytes, goodOrSpoilt, ODD_NAMES } from '../../support/random-bodies.ts';
import { atOnce } from '../../support/responses.ts';
import { addPerson, signIn, startShop } from '../../support/shops.ts';
import { scaled } from '../../support/until.ts';

/** Requests for each endpoint. What is refused hardly depends on the engine. */
const WRITES = effort(60, ENGINE === 'sqlite' ? 10_000 : 500);
const ADMIN_WRITES = effort(10, ENGINE === 'sqlite' ? 1_000 : 100);
const READS = effort(10, ENGINE === 'sqlite' ? 1_000 : 100);
/** A password that has the right form is checked, which takes its time on purpose. */
const CHECKS_A_PASSWORD = /\/(session|links|set-up|password-links|users)\b/;
const CHECKED = effort(5, ENGINE === 'sqlite' ? 100 : 10);
/** Before anything is measured, in full only. */
const WARM_UP = 4;
const MEGABYTE = 1024 ** 2;
const LARGE_AT_ONCE = 8;

interface Target {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  good: unknown;
  queries: string[];
  requests: number;
}

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
}

const targetsOf = async (
  server: ServerProcess,
  base: string,
  headers: Record<string, string>,
  goodOf: (name: string, template: string) => unknown,
  ids: Record<string, string>,
): Promise<Target[]> => {
  const { body } = await server.get(`${base}/openapi.json`);
  return Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(
    ([template, operations]) =>
      Object.entries(operations).flatMap(([verb, { parameters = [], requestBody }]) => {
        const method = verb.toUpperCase();
        const queries = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
        if (!requestBody && queries.length === 0) return [];
        const writes =
          base === BASE_PATH ? WRITES : CHECKS_A_PASSWORD.test(template) ? CHECKED : ADMIN_WRITES;
        return {
          name: `${method} ${base}${template}`,
          method,
          path: base + template.replace('{id}', ids[template.split('/')[1] as string] ?? UNKNOWN_ID),
          headers,
          good: requestBody ? goodOf(`${method} ${template}`, template) : undefined,
          queries,
          requests: requestBody ? writes : READS,
        };
      }),
  );
};

/** Why a response is not as answers to spoilt requests are; null where it is. */
const faultIn = (status: number, text: string, requestId: unknown): string | null => {
  if (status >= 500) return 'a response of 500 or above';
  if (status < 400) return null;
  const { statusCode, error, message, requestId: told } = JSON.parse(text);
  const isText = typeof message === 'string' ? message !== '' : Array.isArray(message) && message.length > 0;
  const fits = statusCode === status && error === STATUS_CODES[status] && isText && told === requestId;
  return fits ? null : 'not in the shape of errors';
};

interface Tally {
  taken: number;
  refused: number;
}

const ODD_VALUES = [
  ...['', '%20', '-1', '0', '1e9', '999999999999999999999', 'NaN', 'null', '%00', '%ff', '%E2%28'],
  ...['%F0%9F%99%82', "'--", '__proto__', '[]', '{}', 'x'.repeat(2_000)],
];
const JSON_TYPE = { 'content-type': 'application/json' };
const ODD_HEADERS: Record<string, string>[] = [
  {},
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'x'.repeat(500) },
  { ...JSON_TYPE, 'content-encoding': 'gzip' },
  { ...JSON_TYPE, 'idempotency-key': 'k'.repeat(300) },
  { ...JSON_TYPE, 'x-request-id': 'r'.repeat(300) },
  { ...JSON_TYPE, accept: 'image/png', 'x-http-method-override': 'DELETE' },
];

interface Spoilt {
  body: Bytes | null;
  query: string;
  headers: Record<string, string>;
}

/** A query has known parameters with odd values, repeated ones, and some that the endpoint does not know. */
const spoiltFor = ({ good, queries }: Target): fc.Arbitrary<Spoilt> => {
  const name = fc.oneof(
    { weight: queries.length > 0 ? 8 : 0, arbitrary: fc.constantFrom(...queries, '') },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_NAMES.map(encodeURIComponent)) },
  );
  const parameter = fc.tuple(name, fc.constantFrom(...ODD_VALUES)).map((pair) => pair.join('='));
  const query = fc
    .array(parameter, { minLength: 1, maxLength: 3 })
    .map((parameters) => `?${parameters.join('&')}`);
  const none = fc.constant('');
  if (good === undefined) return fc.record({ body: fc.constant(null), query, headers: fc.constant({}) });
  return fc.record({
    body: goodOrSpoilt(fc.constant(good)),
    query: fc.oneof({ weight: 9, arbitrary: none }, { weight: 1, arbitrary: queries[0] ? query : none }),
    headers: fc.oneof(
      { weight: 85, arbitrary: fc.constant<Record<string, string>>(JSON_TYPE) },
      { weight: 15, arbitrary: fc.constantFrom(...ODD_HEADERS) },
    ),
  });
};

const send = async (
  pool: Pool,
  target: Target,
  { body, query, headers: spoilt }: Spoilt,
  tally: Tally,
): Promise<void> => {
  const headers = { ...target.headers, ...spoilt, 'x-forwarded-for': newAddress() };
  const request = {
    method: target.method as 'POST',
    path: target.path + query,
    headers,
    body,
    idempotent: true,
  };
  // A response that closes its connection leaves those behind it on the connection without one: they are sent again.
  const response = await pool
    .request(request)
    .catch(() => pool.request(request))
    .catch(() => pool.request(request));
  const text = await response.body.text();
  const fault = faultIn(response.statusCode, text, response.headers['x-request-id']);
  if (fault)
    throw new Error(
      `${fault}: ${target.name}${query}, ${JSON.stringify(headers)}, ${String(body).slice(0, 300)} → ${response.statusCode} ${text.slice(0, 300)}`,
    );
  tally[response.statusCode < 400 ? 'taken' : 'refused'] += 1;
};

const spoilAll = async (server: ServerProcess, targets: Target[]): Promise<Tally> => {
  const pool = new Pool(server.url, { connections: 4, pipelining: 4 });
  onTestFinished(() => pool.destroy());
  const all = { taken: 0, refused: 0 };
  for (const target of targets) {
    const tally = { taken: 0, refused: 0 };
    const spoilt = fc.sample(spoiltFor(target), target.requests);
    const caller = async () => {
      for (let next = spoilt.pop(); next; next = spoilt.pop()) await send(pool, target, next, tally);
    };
    await atOnce(16, caller);
    // What is spoilt is mostly refused: an endpoint that takes everything looks at nothing. In the warm-up that may be luck.
    if (target.requests > WARM_UP) expect(tally.refused, target.name).toBeGreaterThan(target.requests / 4);
    all.taken += tally.taken;
    all.refused += tally.refused;
  }
  return all;
};

/** Begins a body of 100 MB and sends on until the connection is closed; gives the status and how much was taken. */
const sendLarge = (
  port: number,
  { method, path, headers }: Target,
): Promise<{ status: number; taken: number }> =>
  new Promise((resolve) => {
    const own = Object.entries({ ...headers, 'x-forwarded-for': newAddress() }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    let response = '';
    const piece = Buffer.alloc(64 * 1024, ' ');
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: test\r\n${own.join('')}content-type: application/json\r\ncontent-length: ${100 * MEGABYTE}\r\n\r\n`,
      );
      more();
    });
    const more = () => {
      while (socket.writable && socket.bytesWritten < 100 * MEGABYTE && socket.write(piece));
    };
    socket
      .on('drain', more)
      .on('error', () => {})
      .on('data', (bytes) => {
        response += bytes;
      })
      .once('close', () =>
        resolve({
          status: Number(response.split(' ')[1]),
          taken: socket.bytesWritten - socket.writableLength,
        }),
      );
  });

const expectRefused = async (server: ServerProcess, target: Target): Promise<void> => {
  const { status, taken } = await sendLarge(server.port, target);
  expect(Math.floor(status / 100), target.name).toBe(4);
  expect(taken, target.name).toBeLessThan(10 * MEGABYTE);
};

/** Bodies of the admin API, but for those that would end the session of the test. */
const adminBody = (name: string): unknown => {
  const { body } = ADMIN_ROUTES[name] ?? {};
  if (name === 'PUT /session/password')
    return { currentPassword: 'not it', newPassword: 'a better password' };
  return (typeof body === 'function' ? body() : body) ?? {};
};

it('every endpoint refuses corrupted requests with a well-formed error', {
  timeout: scaled(400_000),
}, async () => {
  const watched = watchedEventLoop();
  const { env, shopId, key, server } = await startShop({ env: { ...watched.env, LOG_LEVEL: 'error' } });
  const ids = {
    'offline-repairs': (await server.create()).body.id,
    'trade-returns': (await server.post('/trade-returns', tradeBody())).body.id,
  };
  const external = await targetsOf(
    server,
    BASE_PATH,
    { 'x-api-key': key },
    (_name, template) => BODIES[template]?.good,
    ids,
  );
  const { cookie } = await signIn(server, await addPerson(env, shopId, 'ADMIN'));
  const admin = await targetsOf(server, ADMIN_BASE_PATH, { cookie }, adminBody, ids);
  expect(external.length).toBeGreaterThanOrEqual(12);
  expect(admin.length).toBeGreaterThanOrEqual(40);
  // Last, since one of its good bodies requires a second factor.
  const targets = [...external, ...admin].toSorted(
    (one, other) => Number(/sign-in-rules/.test(one.name)) - Number(/sign-in-rules/.test(other.name)),
  );

  if (FULL)
    await spoilAll(
      server,
      targets.map((target) => ({ ...target, requests: WARM_UP })),
    );
  await watched.longestBlock(server);
  const { taken, refused } = await spoilAll(server, targets);
  const large = targets.filter(({ good }) => good !== undefined).filter((_, i) => FULL || i % 12 === 0);
  // Some at once: a caller that is refused may send on for a second before the connection is closed.
  for (let i = 0; i < large.length; i += LARGE_AT_ONCE)
    await Promise.all(large.slice(i, i + LARGE_AT_ONCE).map((target) => expectRefused(server, target)));
  const { clockMs, workMs } = await watched.longestBlock(server);
  measured(
    9,
    `${targets.length} endpoints (${WRITES} bodies each at the external API, ${ADMIN_WRITES} at the admin API), ${taken + refused} requests of which ${refused} refused, ${large.length} bodies of 100 MB: 0 responses of 5xx, event loop blocked ${clockMs.toFixed(0)} ms at most (${workMs.toFixed(0)} ms of work)`,
  );
  // In the suites the machine is busy with others, and the clock counts them too.
  expect(FULL ? clockMs : workMs).toBeLessThanOrEqual(100);
  expect(await server.get('/healthz', { key: null })).toHaveStatus(200);
});
