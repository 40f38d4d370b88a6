import { describe, expect } from 'vitest';
import { PLANS } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import {
  askAll,
  bodyOf,
  call,
  endpoints,
  KINDS,
  makeIds,
  overSocket,
  rowCounts,
  stopClock,
  UNKNOWN_ID,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';

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

describe('the order of the checks', () => {
  it('returns the first check that a request fails, whatever else is wrong', async ({ t }) => {
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

  it('checks the body before the id', async ({ t }) => {
    const withBody = endpoints(t).filter(({ hasId, method }) => hasId && method === 'POST');
    expect(withBody.length).toBeGreaterThanOrEqual(5);
    for (const endpoint of withBody) {
      for (const body of [endpoint.bad, '{'])
        expect(await call(t, endpoint, UNKNOWN_ID, { body })).toFailWith(400);
      expect(await call(t, endpoint, UNKNOWN_ID)).toFailWith(404);
    }
  });

  it.each(KINDS)('reads no body at /%s before the key, plan and subscription are checked', async (kind) => {
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
    for (const answer of await all(null)) expect(answer).toFailWith(401);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    for (const answer of await all(t.client.apiKey)) expect(answer).toFailWith(403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    for (const answer of await all(t.client.apiKey)) expect(answer).toFailWith(403, 'PLAN_REQUIRED');
  });

  it.each(KINDS)('checks the body of /%s before the allowance', async (kind) => {
    const t = await harness({ allowance: 0 });
    expect(await t.post(`/${kind}`, bodyOf[kind]({ customerName: null }))).toFailWith(400);
    expect(await t.post(`/${kind}?nonsense=1`, bodyOf[kind]())).toFailWith(400);
    expect(await t.post(`/${kind}`, bodyOf[kind]())).toFailWith(403, 'LIMIT_EXCEEDED');
  });
});

it('SCALE and ENTERPRISE allow every endpoint; an inactive subscription only allows reads', async ({ t }) => {
  const ids = await makeIds(t);
  for (const plan of PLANS)
    for (const subscription of ['inactive', 'active'] as const) {
      await changeShop(t.ctx, OPERATOR, t.shop.id, { plan, subscription });
      const isOpen = plan === 'SCALE' || plan === 'ENTERPRISE';
      const readsAlone = subscription === 'inactive';
      const before = await rowCounts(t);
      for (const endpoint of endpoints(t)) {
        const answer = await call(t, endpoint, ids);
        if (!isOpen) expect(answer).toFailWith(403, 'PLAN_REQUIRED');
        else if (readsAlone && endpoint.method !== 'GET') expect(answer).toFailWith(403, 'READ_ONLY');
        else expect(answer).toHaveStatus(200, 201);
      }
      if (!isOpen || readsAlone) expect(await rowCounts(t)).toEqual(before);
    }
});

it('no response of either API may be cached', async ({ t }) => {
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
