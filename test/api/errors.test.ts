import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import {
  allEndpoints,
  askAll,
  bodyOf,
  call,
  endpoints,
  KINDS,
  makeIds,
  newRepair,
  newTradeReturn,
  overSocket,
  rowCounts,
  UUID7,
} from '../support/api.ts';
import { repairBody, TRADE_ITEM, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { exchange } from '../support/http.ts';

const harness = sharedHarness();
const it = itWith(harness);

it('an unreadable row returns a 500, and the log names it', async ({ t }) => {
  for (const [kind, column] of [
    ['offline_repairs', 'faulty_item'],
    ['trade_returns', 'shipping_address'],
  ] as const) {
    const { id } = await (kind === 'offline_repairs' ? newRepair(t) : newTradeReturn(t));
    await sql`update ${sql.table(kind)} set ${sql.id(column)} = '{"customer' where id = ${id}`.execute(
      t.ctx.db,
    );
    const response = await t.get(`/${kind.replace('_', '-')}/${id}`, { unchecked: true });
    expect(response).toFailWith(500, 'INTERNAL_ERROR');
    const { requestId } = response.body;
    const line = t.logs.find((each) => each.includes(requestId) && each.includes('request failed')) ?? '{}';
    expect(JSON.parse(line).error).toMatchObject({ row: id });
    expect(line).not.toContain('customer');
  }
});

const LARGEST_BODY = 256 * 1024;

describe('the error body', () => {
  it('comes with a 404 for every unknown address, inside and outside of the API', async ({ t }) => {
    const outside = ['/', '/nowhere', '/api', '/api/v1/external/v2/offline-repairs'];
    const misspelt = ['/offline-repair', '/Offline-Repairs', '/trade-return', '/Trade-Returns'];
    const inside = ['', '/', '/nowhere', '/offline-repairs/a/b/c', '/trade-returns/a/b/c', ...misspelt];
    for (const path of [...outside, ...inside.map((each) => `${BASE_PATH}${each}`)])
      expect(await t.get(path)).toFailWith(404);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])
      for (const path of ['/nowhere', `${BASE_PATH}/nowhere`])
        expect(await t.send(path, { method })).toFailWith(404);
    expect(await t.send('/nowhere', { method: 'HEAD' })).toHaveStatus(404);
  });

  it('names the correct base path for an unknown address', async ({ t }) => {
    const other = ['/api/v1/offline-repairs', '/external/v1/usage', '/api/v2/external/v1/events'];
    for (const path of ['/offline-repairs', ...other]) {
      const response = await exchange(`${t.url}${path}`);
      expect(response).toFailWith(404, 'ROUTE_NOT_FOUND');
      expect(response.body.message).toContain(` ${BASE_PATH};`);
    }
  });

  it('is not returned for a trailing slash, in either API', async ({ t }) => {
    const { id } = await newRepair(t);
    const repair = `/offline-repairs/${id}`;
    for (const path of ['/offline-repairs', repair, `${repair}/timeline`, '/usage'])
      expect((await t.get(`${path}/`)).body).toEqual((await t.get(path)).body);
    expect((await t.get('/offline-repairs/?limit=1&page=2')).body).toMatchObject({ page: 2, limit: 1 });
    expect(await t.post('/trade-returns/', tradeBody())).toHaveStatus(201);
    expect(await t.post(`${repair}/close/`)).toHaveStatus(200);
    expect(await t.get('/offline-repairs//')).toFailWith(404);
    expect(await t.get('/admin/api/session/')).toFailWith(401, 'SIGNED_OUT');
  });

  it('says that an rmaNumber was sent in place of an id, whether or not such an RMA exists', async ({
    t,
  }) => {
    await newRepair(t);
    for (const kind of KINDS)
      for (const number of ['%23RMA-000001', 'RMA-000001', '000001', '999999'])
        for (const rest of ['', '/timeline']) {
          const response = await t.get(`/${kind}/${number}${rest}`);
          expect(response).toFailWith(404, 'NOT_FOUND');
          expect(response.body.message).toContain('takes the id, not the rmaNumber');
        }
    const move = await t.post('/offline-repairs/RMA-000001/close');
    expect(move.body.message).toContain('?rmaNumber=');
  });

  it('explains how to escape a plus if a time zone arrives with a space', async ({ t }) => {
    const messageOf = async (time: string) =>
      (await t.get(`/offline-repairs?updatedSince=${time}`)).body.message;
    for (const time of ['2026-11-15T09:30:00+01:00', '2026-11-15T09:30:00.000+01:00'])
      expect(String(await messageOf(time))).toMatch(
        /^updatedSince must be an ISO 8601 time, .* \+ is written %2B$/,
      );
    expect(await t.get('/offline-repairs?updatedSince=2026-11-15T09:30:00%2B01:00')).toHaveStatus(200);
    expect(String(await messageOf('yesterday'))).not.toContain('%2B');
  });

  it("tells a browser's preflight that keys belong on servers", async ({ t }) => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
    const headers = { origin: 'https://shop.example.org', ...asked };
    for (const path of ['/offline-repairs', '/offline-repairs/x/close', `${BASE_PATH}/nowhere`]) {
      const response = await t.send(path, { method: 'OPTIONS', key: null, headers, unchecked: true });
      expect(response).toFailWith(403, 'CORS_NOT_SUPPORTED');
      expect(response.body.message).toMatch(/server/);
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(await t.send('/offline-repairs', { method: 'OPTIONS' })).toFailWith(405);
  });

  it('comes with a 404 for notes, which are for staff alone', async ({ t }) => {
    const { id } = await newTradeReturn(t);
    for (const method of ['GET', 'POST'])
      expect(await t.send(`/trade-returns/${id}/notes`, { method })).toFailWith(404);
  });

  it('comes with a 405 for an unsupported method, and Allow names the supported ones', async ({ t }) => {
    const ids = await makeIds(t);
    const taken = new Map<string, string[]>();
    for (const { path, method } of allEndpoints(t))
      taken.set(path(ids), [...(taken.get(path(ids)) ?? []), method, ...(method === 'GET' ? ['HEAD'] : [])]);
    const before = await rowCounts(t);
    const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    for (const [path, methods] of taken)
      for (const method of all.filter((each) => !methods.includes(each))) {
        // There it would be an id.
        if (method === 'GET' && path.endsWith('/dry-run')) continue;
        const response = await t.send(path, { method });
        expect(response).toFailWith(405);
        // There, a GET is routed as well: by an id that no return has.
        const all = path.endsWith('/dry-run') ? [...methods, 'GET', 'HEAD'] : methods;
        expect((response.headers.get('allow') ?? '').split(', ').sort()).toEqual(all.toSorted());
      }
    expect(await rowCounts(t)).toEqual(before);
    expect(await t.send(`${BASE_PATH}/openapi.json`, { method: 'POST' })).toFailWith(405);
  });

  it('comes with a 405 for pages too, and with a 404 if there is no such page', async ({ t }) => {
    const expectAllowed = async (method: string, path: string, status: number, allowed: string | null) => {
      const response = await exchange(`${t.url}${path}`, { method });
      expect(response).toHaveStatus(status);
      expect(response.headers.get('allow'), `${method} ${path}`).toBe(allowed);
    };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      for (const path of ['/docs', '/docs/', '/admin', '/admin/', '/admin/settings/team'])
        await expectAllowed(method, path, 405, 'GET, HEAD');
      for (const path of ['/docs/nothing', '/admin/api/nothing', '/nothing'])
        await expectAllowed(method, path, 404, null);
    }
    await expectAllowed('TRACE', `${BASE_PATH}/offline-repairs`, 405, 'POST, GET, HEAD');
  });

  it('comes with a 413 for a body over 256 KiB, and only then', async ({ t }) => {
    const ids = await makeIds(t);
    const padded = (body: unknown, bytes: number) => JSON.stringify(body).padEnd(bytes);
    for (const { path, good, method } of endpoints(t)) {
      if (method !== 'POST') continue;
      expect(await t.post(path(ids), padded(good, LARGEST_BODY))).toHaveStatus(200, 201);
      expect(await t.post(path(ids), padded(good, LARGEST_BODY + 1))).toFailWith(413);
    }
  });

  it.for(KINDS)('comes with a 413 at /%s also for a body of unknown length', async (kind, { t }) => {
    const chunk = `1000\r\n${' '.repeat(0x1000)}\r\n`;
    const response = await overSocket(
      t.url,
      `POST ${BASE_PATH}/${kind} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-api-key: ${t.client.apiKey}\r\n` +
        `content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(65)}0\r\n\r\n`,
    );
    expect(response).toFailWith(413);
  });

  it.for(KINDS)('comes with a 415 for a body that is not declared as JSON, at /%s', async (kind, { t }) => {
    const body = JSON.stringify(bodyOf[kind]());
    const send = (type: string) => t.post(`/${kind}`, body, { headers: { 'content-type': type } });
    const forms = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
    for (const type of [...forms, 'application/xml', 'text/json', 'json'])
      expect(await send(type)).toFailWith(415);
    const json = ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'];
    for (const type of json) expect(await send(type)).toHaveStatus(201);
    expect(await rowCounts(t)).toMatchObject({ timeline: 3, used: 3 });
  });

  it('comes with a 5xx and reveals no internals', async () => {
    const t = await harness({ own: true });
    const ids = await makeIds(t);
    const tables = ['offline_repairs', 'trade_returns', 'events', 'shop_counters', 'webhook_deliveries'];
    for (const name of tables)
      await sql`alter table ${sql.table(name)} rename to ${sql.table(`${name}_away`)}`.execute(t.ctx.db);
    const asked = await askAll(endpoints(t), (endpoint) =>
      call(t, endpoint, ids, {
        unchecked: true,
        ...(endpoint.isCreation ? { body: bodyOf[endpoint.kind]({ customerName: 'private words' }) } : {}),
      }),
    );
    for (const response of Object.values(asked)) {
      expect(response).toFailWith(500);
      expect(JSON.stringify(response.body)).not.toMatch(
        /offline_repairs|trade_returns|sql|select|insert|table|\.ts|relation/i,
      );
    }
    // What went wrong is in the log, under the request's id and without the customer's words.
    const log = t.logs.join('');
    for (const { body } of Object.values(asked)) expect(log).toContain(body.requestId);
    expect(log).not.toContain('private words');
    for (const name of tables)
      await sql`alter table ${sql.table(`${name}_away`)} rename to ${sql.table(name)}`.execute(t.ctx.db);
  });

  it('suggests the field that was probably meant, by spelling and by whole words', async ({ t }) => {
    const { id } = await newRepair(t);
    const action = (name: string) => `/offline-repairs/${id}/${name}`;
    const asked: [path: string, body: object, field: string, hint: string | null][] = [
      ['/offline-repairs', { ordrNumber: 'x' }, 'ordrNumber', 'orderNumber'],
      ['/offline-repairs', { OrderNumber: 'x' }, 'OrderNumber', 'orderNumber'],
      ['/offline-repairs', { external_ref: 'x' }, 'external_ref', 'externalRef'],
      ['/offline-repairs', { email: 'x' }, 'email', 'customerEmail'],
      ['/offline-repairs', { phone: 'x' }, 'phone', 'customerPhone'],
      ['/offline-repairs', { customer_email_address: 'x' }, 'customer_email_address', 'customerEmail'],
      ['/offline-repairs', { reference_external: 'x' }, 'reference_external', null],
      ['/offline-repairs', { faultyItem: { skuu: 'x' } }, 'faultyItem.skuu', 'sku'],
      ['/trade-returns', { tradeOrdrNumber: 'x' }, 'tradeOrdrNumber', 'tradeOrderNumber'],
      ['/trade-returns', { CompanyID: 'x' }, 'CompanyID', 'companyId'],
      ['/trade-returns', { order_date: 'x' }, 'order_date', 'orderDate'],
      ['/trade-returns', { shippingAddress: { postCode: 'x' } }, 'shippingAddress.postCode', 'postcode'],
      ['/trade-returns', { items: [TRADE_ITEM, { skuu: 'x' }] }, 'items.1.skuu', 'sku'],
      // At the wrong level: another field that has the word in it is not meant.
      ['/offline-repairs', { sku: 'x' }, 'sku', 'faultyItem.sku'],
      ['/offline-repairs', { serial_number: 'x' }, 'serial_number', 'faultyItem.serialNumber'],
      ['/offline-repairs', { carrierName: 'x' }, 'carrierName', 'tracking.carrierName'],
      [
        '/offline-repairs',
        { faultyItem: { storeId: 'x' } },
        'faultyItem.storeId',
        'storeId at the top level',
      ],
      ['/offline-repairs', { faultyItem: { '': 'x' } }, 'faultyItem.', null],
      ['/trade-returns', { sku: 'x' }, 'sku', 'items.0.sku'],
      ['/trade-returns', { postcode: 'x' }, 'postcode', 'shippingAddress.postcode'],
      [action('tracking'), { carrier: 'x' }, 'carrier', 'carrierName'],
      [action('tracking'), { number: 'x' }, 'number', 'trackingNumber'],
      [action('tracking'), { colour: 'x' }, 'colour', null],
      [action('begin-diagnostics'), { note: 'x' }, 'note', 'notes'],
      [action('begin-repair'), { assignedTold: 'x' }, 'assignedTold', 'assignedToId'],
      [action('resolve'), { offlineDispositon: 'x' }, 'offlineDispositon', 'offlineDisposition'],
    ];
    for (const [path, body, field, hint] of asked) {
      const response = await t.post(path, body);
      expect(response).toFailWith(400);
      const ending = hint ? `: did you mean ${hint}?` : '';
      expect(response.body.message).toContain(`${field} is not a known field${ending}`);
    }
  });

  it('has a limited number of errors, however many mistakes a body has', async ({ t }) => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 1]));
    const fields = Object.fromEntries(Object.entries(unknown).slice(0, 200));
    // Validating so many would hold up all other requests: they are refused before that.
    const bodies = [
      ['offline-repairs', unknown, 'body has more than 200 fields in one object'],
      ['trade-returns', { nested: [unknown] }, 'body has more than 200 fields in one object'],
      ['trade-returns', tradeBody({ items: Array(50_000).fill({}) }), 'body has more than 5000 values'],
      ['trade-returns', tradeBody({ items: Array(60_000).fill(1) }), 'body has more than 5000 values'],
    ] as const;
    for (const [kind, body, message] of bodies) {
      const response = await t.post(`/${kind}`, body);
      expect(response).toFailWith(400);
      expect(response.body.errors).toEqual([{ field: 'body', rule: 'more', message }]);
    }
    // A list that was cut says so in its last item.
    for (const body of [fields, tradeBody({ items: Array.from({ length: 250 }, () => ({})) })]) {
      const { errors, message } = (await t.post('/trade-returns', body)).body;
      const last = 'body has more errors than these 99';
      expect(errors).toHaveLength(100);
      expect(errors.at(-1)).toEqual({ field: 'body', rule: 'more', message: last });
      expect(message.at(-1)).toBe(last);
    }
    const hundred = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 1]));
    const { body } = await t.post('/offline-repairs', repairBody(hundred));
    expect(body.errors).toHaveLength(100);
    expect(body.errors.at(-1)).toMatchObject({ field: 'f99', rule: 'unknown' });
  });
});

describe('X-Request-Id', () => {
  it("is the caller's own if it has 1 to 128 printable characters", async ({ t }) => {
    for (const own of ['a', 'till 4 / receipt #88213', '~'.repeat(128), '{"a":1}'])
      for (const path of ['/offline-repairs', '/trade-returns/nothing', '/nowhere', '/healthz']) {
        const { headers, body } = await t.get(path, { headers: { 'x-request-id': own } });
        expect(headers.get('x-request-id')).toBe(own);
        if (body.statusCode) expect(body.requestId).toBe(own);
      }
  });

  it('is a new one if it is missing or unprintable', async ({ t }) => {
    const ids = new Set<string>();
    const wrong = ['', 'x'.repeat(129), 'ä', 'a\tb', '\u0080'];
    for (const headers of [{}, ...wrong.map((own) => ({ 'x-request-id': own }))]) {
      const response = await t.get('/offline-repairs/nothing', { headers });
      expect(response).toFailWith(404);
      expect(response.body.requestId).toMatch(UUID7);
      ids.add(response.body.requestId);
    }
    expect(ids.size).toBe(wrong.length + 1);
  });
});

describe('malformed requests', () => {
  const lines = (...head: string[]) => `${head.join('\r\n')}\r\n\r\n`;
  const LIST = `${BASE_PATH}/offline-repairs`;

  const get = (...head: string[]) => lines(`GET ${LIST} HTTP/1.1`, ...head, 'connection: close');
  const post = (...head: string[]) => lines(`POST ${LIST} HTTP/1.1`, 'host: test', ...head);

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a TLS greeting', Buffer.from('160301020001000 1fc0303'.replace(' ', ''), 'hex')],
    ['an unknown method', lines('FETCH / HTTP/1.1', 'host: test')],
    ['an unknown version', lines('GET / HTTP/9.9', 'host: test')],
    ['HTTP/0.9', lines('GET / HTTP/0.9', 'host: test')],
    ['a header without a name', get('host: test', ': value')],
    ['NUL in a header', get('host: test', 'x-a: a\0b')],
    ['two lengths', post('content-length: 1', 'content-length: 2')],
    ['a length and chunks', post('content-length: 5', 'transfer-encoding: chunked')],
    ['a length that is not a number', post('content-length: -1')],
    ['no Host', get()],
    ['the same Host twice', get('host: test', 'host: test')],
    ['two Hosts', get('host: test', 'HOST: elsewhere')],
    ['two Hosts in HTTP/1.0', get('host: test', 'HOST: elsewhere').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('get a 400 with the error body: %s', async (_what, bytes) => {
    const t = await harness();
    const response = await overSocket(t.url, bytes);
    expect(response).toFailWith(400);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
  });

  it('get a 431 with the error body if the headers are too large', async ({ t }) => {
    expect(await overSocket(t.url, get('host: test', `x-a: ${'x'.repeat(64 * 1024)}`))).toFailWith(431);
  });

  it('get a 417 with the error body for an unknown expectation', async ({ t }) => {
    const response = await overSocket(t.url, get('host: test', 'expect: a-miracle'));
    expect(response).toFailWith(417);
  });
});

it('every response forbids framing and the browser features that no page of ours uses', async ({ t }) => {
  for (const path of ['/admin/sign-in', '/admin/api/session', '/offline-repairs', '/docs', '/nowhere']) {
    const { headers } = await t.send(path, { unchecked: true });
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('permissions-policy')).toMatch(/^camera=\(self\), microphone=\(\)/);
  }
});

it('a compressed body gets a 415 that says so', async ({ t }) => {
  const response = await t.post('/offline-repairs', new Uint8Array([31, 139, 8, 0]), {
    headers: { 'content-encoding': 'gzip' },
  });
  expect(response).toFailWith(415);
  expect(response.body.message).toContain('uncompressed');
});
