import { describe, expect } from 'vitest';
import { PLANS } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { findClient } from '../../src/api-clients/store.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import {
  askAll,
  bodyOf,
  call,
  endpoints,
  expectError,
  KINDS,
  makeIds,
  overSocket,
  rowCounts,
  stopClock,
  UNKNOWN_ID,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';
import { until } from '../support/until.ts';

const harness = sharedHarness();
const it = itWith(harness);

const LIMITED_IP = '198.51.100.7';
/** Uses up both of the address's limits, without a key. */
const useUpLimits = async (t: Harness) => {
  const knock = (method: string) => t.send('/trade-returns', { method, key: null, ip: LIMITED_IP });
  await Promise.all([
    ...Array.from({ length: 200 }, () => knock('GET')),
    ...Array.from({ length: 5 }, () => knock('POST')),
  ]);
};

const statusAndCode = ({ status, body }: Answer) => `${status} ${body.code}`;
const each = <Value>(t: Harness, value: (endpoint: ReturnType<typeof endpoints>[number]) => Value) =>
  Object.fromEntries(endpoints(t).map((endpoint) => [endpoint.name, value(endpoint)]));

describe('the order of the gates', () => {
  it('answers with the first gate that a request fails, whatever comes after', async ({ t }) => {
    const all = endpoints(t);
    // Fails everything that can be failed behind the key: plan, subscription, body, query, id.
    const wrong = (key: string | null, ip?: string) => (endpoint: (typeof all)[number]) =>
      t
        .send(`${endpoint.path(UNKNOWN_ID)}?nonsense=1`, {
          method: endpoint.method,
          body: endpoint.bad,
          key,
          ...(ip ? { ip } : {}),
        })
        .then(statusAndCode);
    const own = t.client.apiKey;
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'GROWTH', subscription: 'inactive' });

    // A creation may come again after a second, which may be over before all endpoints are asked.
    stopClock();
    await useUpLimits(t);
    expect(await askAll(all, wrong(null, LIMITED_IP))).toEqual(each(t, () => '429 RATE_LIMITED'));
    expect(await askAll(all, wrong(own, LIMITED_IP))).toEqual(each(t, () => '429 RATE_LIMITED'));
    expect(await askAll(all, wrong(null))).toEqual(each(t, () => '401 UNAUTHENTICATED'));
    expect(await askAll(all, wrong(own))).toEqual(each(t, () => '403 PLAN_REQUIRED'));

    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'SCALE' });
    expect(await askAll(all, wrong(own))).toEqual(
      each(t, ({ method }) => (method === 'GET' ? '400 VALIDATION_FAILED' : '403 READ_ONLY')),
    );

    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'active' });
    expect(await askAll(all, wrong(own))).toEqual(each(t, () => '400 VALIDATION_FAILED'));
  });

  it('looks at the body before the id', async ({ t }) => {
    const withBody = endpoints(t).filter(({ hasId, method }) => hasId && method === 'POST');
    expect(withBody.length).toBeGreaterThanOrEqual(5);
    for (const endpoint of withBody) {
      for (const body of [endpoint.bad, '{']) expectError(await call(t, endpoint, UNKNOWN_ID, { body }), 400);
      expectError(await call(t, endpoint, UNKNOWN_ID), 404);
    }
  });

  it.each(KINDS)('reads no body at /%s before key, plan and subscription', async (kind) => {
    const t = await harness({ own: true });
    const tooLarge = 300 * 1024;
    // Over a socket: fetch stops half-way through a body that is answered early, and the service waits for the rest.
    const sendTooLarge = (key: string | null) =>
      overSocket(
        t.url,
        `POST ${BASE_PATH}/${kind} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-type: application/json\r\n` +
          `${key ? `x-api-key: ${key}\r\n` : ''}content-length: ${tooLarge}\r\n\r\n${' '.repeat(tooLarge)}`,
      );
    const all = async (key: string | null) => [
      await t.post(`/${kind}`, '{', { key }),
      await t.post(`/${kind}`, '<a/>', { key, headers: { 'content-type': 'application/xml' } }),
      await sendTooLarge(key),
    ];
    for (const answer of await all(null)) expectError(answer, 401);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    for (const answer of await all(t.client.apiKey)) expectError(answer, 403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    for (const answer of await all(t.client.apiKey)) expectError(answer, 403, 'PLAN_REQUIRED');
  });

  it.each(KINDS)('looks at the body of /%s before the allowance', async (kind) => {
    const t = await harness({ allowance: 0 });
    expectError(await t.post(`/${kind}`, bodyOf[kind]({ customerName: null })), 400);
    expectError(await t.post(`/${kind}?nonsense=1`, bodyOf[kind]()), 400);
    expectError(await t.post(`/${kind}`, bodyOf[kind]()), 403, 'LIMIT_EXCEEDED');
  });
});

it('SCALE and ENTERPRISE open every endpoint, an inactive subscription reads alone', async ({ t }) => {
  const ids = await makeIds(t);
  for (const plan of PLANS)
    for (const subscription of ['inactive', 'active'] as const) {
      await changeShop(t.ctx, OPERATOR, t.shop.id, { plan, subscription });
      const isOpen = plan === 'SCALE' || plan === 'ENTERPRISE';
      const readsAlone = subscription === 'inactive';
      const before = await rowCounts(t);
      for (const endpoint of endpoints(t)) {
        const answer = await call(t, endpoint, ids);
        if (!isOpen) expectError(answer, 403, 'PLAN_REQUIRED');
        else if (readsAlone && endpoint.method !== 'GET') expectError(answer, 403, 'READ_ONLY');
        else expect(answer.status, endpoint.name).toBeLessThan(300);
      }
      if (!isOpen || readsAlone) expect(await rowCounts(t)).toEqual(before);
    }
});

it('no cache keeps an answer of either API, good or bad', async ({ t }) => {
  const ids = await makeIds(t);
  const answers = [
    ...Object.values(await askAll(endpoints(t), (endpoint) => call(t, endpoint, ids))),
    ...Object.values(await askAll(endpoints(t), (endpoint) => call(t, endpoint, ids, { key: null }))),
    await t.get(`${BASE_PATH}/nowhere`),
    await t.post('/offline-repairs', '{'),
    await t.get('/admin/api/session', { key: null, unchecked: true }),
    await t.get('/admin/api/nowhere', { key: null, unchecked: true }),
  ];
  for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
});

describe('the key', () => {
  it('is taken from X-Api-Key or as a Bearer token, at every endpoint', async ({ t }) => {
    const ids = await makeIds(t);
    const { apiKey } = t.client;
    const ways: { key: string | null; headers: Record<string, string> }[] = [
      { key: apiKey, headers: {} },
      { key: null, headers: { authorization: `Bearer ${apiKey}` } },
      // The scheme's name has no case (RFC 9110).
      { key: null, headers: { authorization: `bearer ${apiKey}` } },
      { key: null, headers: { authorization: `Bearer   ${apiKey}` } },
      { key: apiKey, headers: { authorization: `Bearer ${apiKey}` } },
    ];
    for (const way of ways) {
      for (const endpoint of endpoints(t)) {
        const { status } = await call(t, endpoint, ids, way);
        expect(status, endpoint.name).toBe(endpoint.isCreation ? 201 : 200);
      }
    }
  });

  it('is refused when Authorization is there twice, whichever comes first', async ({ t }) => {
    const { client: other } = await t.addShop();
    const keys = [t.client.apiKey, other.apiKey];
    for (const [first, second] of [keys, keys.toReversed(), [keys[0], keys[0]]]) {
      const answer = await overSocket(
        t.url,
        `GET ${BASE_PATH}/offline-repairs HTTP/1.1\r\nhost: test\r\nconnection: close\r\n` +
          `authorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\n\r\n`,
      );
      expectError(answer, 401);
    }
  });

  it('is refused when the two headers differ, even when both keys are good', async ({ t, erp }) => {
    const { apiKey } = t.client;
    const both = (direct: string, bearer: string) =>
      t.get('/offline-repairs', { key: direct, headers: { authorization: `Bearer ${bearer}` } });
    expectError(await both(apiKey, erp.apiKey), 401);
    expectError(await both(erp.apiKey, apiKey), 401);
    expectError(await both(apiKey, 'handback_ext_wrong'), 401);
    expectError(await both('handback_ext_wrong', apiKey), 401);
    expect((await both(apiKey, apiKey)).status).toBe(200);
  });

  it('is refused when it is unknown, cut, lengthened, in other case or of another kind', async ({ t }) => {
    const { apiKey, webhookSecret, id } = t.client;
    expect(apiKey).toMatch(/^handback_ext_/);
    const invented = ['', 'handback_ext_', `handback_ext_${'0'.repeat(48)}`, "' or 1=1 --"];
    const changed = [apiKey.slice(0, -1), `${apiKey}0`, apiKey.toUpperCase(), `${apiKey}, ${apiKey}`];
    const wrong = [...invented, ...changed, apiKey.replace('handback_ext_', ''), webhookSecret, id];
    for (const key of [null, ...wrong]) {
      const answer = await t.get('/offline-repairs', { key });
      expectError(answer, 401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const malformed = [apiKey, `Basic ${apiKey}`, `Old Bearer ${apiKey}`, `Bearer ${apiKey} ${apiKey}`];
    for (const authorization of [...wrong.map((key) => `Bearer ${key}`), ...malformed])
      expectError(await t.get('/offline-repairs', { key: null, headers: { authorization } }), 401);
    expectError(await t.get(`/offline-repairs?apiKey=${apiKey}`, { key: null }), 401);
  });

  it('stops working with the next request once its client is revoked; others go on', async ({ t, erp }) => {
    const ids = await makeIds(t);
    await revokeClient(t.ctx, OPERATOR, t.client);
    const before = await rowCounts(t);
    for (const endpoint of endpoints(t)) expectError(await call(t, endpoint, ids), 401);
    expect(await rowCounts(t)).toEqual(before);
    for (const kind of KINDS)
      expect((await t.get(`/${kind}/${ids[kind]}`, { key: erp.apiKey })).status).toBe(200);
  });

  it('leaves a note of its last use', async ({ t, erp }) => {
    expect((await findClient(t.ctx.db, t.client.id))?.lastUsedAt).toBeNull();
    // It is written in the background.
    const noteAfter = (ms: number) =>
      until('the use is noted', async () => {
        const at = (await findClient(t.ctx.db, t.client.id))?.lastUsedAt ?? 0;
        return at > ms && at;
      });
    await t.get('/offline-repairs');
    const first = await noteAfter(0);
    expect(Math.abs(first - Date.now())).toBeLessThan(60_000);
    t.clock.advance(60 * 60_000);
    await t.get('/offline-repairs');
    const second = await noteAfter(first);
    expect(second - first).toBeGreaterThanOrEqual(59 * 60_000);
    // To the minute: a call within it writes nothing. The note of another client would come after it.
    t.clock.advance(59_000);
    await t.get('/offline-repairs');
    await t.get('/offline-repairs', { key: erp.apiKey });
    await until('the other one is noted', async () => (await findClient(t.ctx.db, erp.id))?.lastUsedAt);
    expect((await findClient(t.ctx.db, t.client.id))?.lastUsedAt).toBe(second);
  });
});
