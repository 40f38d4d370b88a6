import { describe, expect } from 'vitest';
import { PLANS } from '../../contract/admin-people.ts';
import { BASE_PATH, RIGHTS, type Right } from '../../contract/common.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import {
  allEndpoints,
  askAll,
  call,
  type Endpoint,
  endpoints,
  KINDS,
  makeIds,
  overSocket,
  rowCounts,
  stopClock,
  UNKNOWN_ID,
} from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

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

const keyWith = async (t: Harness, rights: Right[]): Promise<string> => {
  const client = { shopId: t.shop.id, name: 'Program', webhookUrl: null, rights };
  return (await createClient(t.ctx, OPERATOR, client)).apiKey;
};

describe('the order of the checks', () => {
  it('returns the first check that a request fails, whatever else is wrong', async ({ t }) => {
    const all = allEndpoints(t);
    // Each call fails everything that it can behind the key: plan, right, subscription, body, query, id.
    const expectAll = async (expected: (endpoint: Endpoint) => string, key: string | null, ip?: string) => {
      const told = await askAll(all, async ({ path, method, bad }) => {
        const options = { method, body: bad, key, ...(ip ? { ip } : {}) };
        const { status, body } = await t.send(`${path(UNKNOWN_ID)}?nonsense=1`, options);
        return `${status} ${body.code}`;
      });
      expect(told).toEqual(Object.fromEntries(all.map((endpoint) => [endpoint.name, expected(endpoint)])));
    };
    const [powerless, mighty] = [await keyWith(t, []), await keyWith(t, [...RIGHTS])];
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'GROWTH', subscription: 'inactive' });

    // A creation may come again after a second, which may be over before all endpoints are asked.
    stopClock();
    await useUpLimits(t);
    for (const key of [null, powerless]) await expectAll(() => '429 RATE_LIMITED', key, LIMITED_IP);
    await expectAll(() => '401 UNAUTHENTICATED', null);
    await expectAll(() => '403 PLAN_REQUIRED', powerless);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'SCALE' });
    const invalid = '400 VALIDATION_FAILED';
    await expectAll(({ method }) => (method === 'GET' ? invalid : '403 RIGHT_REQUIRED'), powerless);
    // Customers are erased whatever the subscription.
    const isOpen = ({ method, template }: Endpoint) => method === 'GET' || template === '/erasures';
    await expectAll((endpoint) => (isOpen(endpoint) ? invalid : '403 READ_ONLY'), mighty);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'active' });
    await expectAll(() => invalid, mighty);
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
    for (const response of await all(null)) expect(response).toFailWith(401);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    for (const response of await all(t.client.apiKey)) expect(response).toFailWith(403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    for (const response of await all(t.client.apiKey)) expect(response).toFailWith(403, 'PLAN_REQUIRED');
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
        const response = await call(t, endpoint, ids);
        if (!isOpen) expect(response).toFailWith(403, 'PLAN_REQUIRED');
        else if (readsAlone && endpoint.method !== 'GET') expect(response).toFailWith(403, 'READ_ONLY');
        else expect(response).toHaveStatus(200, 201);
      }
      if (!isOpen || readsAlone) expect(await rowCounts(t)).toEqual(before);
    }
});

it('no response of either API may be cached', async ({ t }) => {
  const ids = await makeIds(t);
  const responses = [
    ...Object.values(await askAll(endpoints(t), (endpoint) => call(t, endpoint, ids))),
    ...Object.values(await askAll(endpoints(t), (endpoint) => call(t, endpoint, ids, { key: null }))),
    await t.get(`${BASE_PATH}/nowhere`),
    await t.post('/offline-repairs', '{'),
    await t.get('/admin/api/session', { key: null, unchecked: true }),
    await t.get('/admin/api/nowhere', { key: null, unchecked: true }),
  ];
  for (const { headers } of responses) expect(headers.get('cache-control')).toBe('no-store');
});
