import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import {
  askAll,
  call,
  endpoints,
  expectError,
  newRepair,
  newStaffRepair,
  UNKNOWN_ID,
} from '../support/api.ts';
import { type Answer, type Harness, harness } from '../support/harness.ts';

const withId = (t: Harness) => endpoints(t).filter(({ hasId }) => hasId);

/** All that a caller can see of an answer, apart from what differs between any two requests. */
const seen = ({ status, headers, body }: Answer) => {
  const { requestId, ...rest } = body;
  expect(requestId).toBe(headers.get('x-request-id'));
  const names = [...headers.keys()].filter((name) => name !== 'keep-alive' && name !== 'connection');
  return { status, body: rest, names };
};

/** What every endpoint says to an id that nobody has. */
const toNobody = (t: Harness, key = t.client.apiKey) =>
  askAll(withId(t), (endpoint) => call(t, endpoint, UNKNOWN_ID, { key }).then(seen));
const about = (t: Harness, id: string, key = t.client.apiKey) =>
  askAll(withId(t), (endpoint) => call(t, endpoint, id, { key }).then(seen));

const stateOf = async (t: Harness) => ({
  repairs: await t.ctx.db.selectFrom('offline_repairs').selectAll().orderBy('id').execute(),
  entries: await t.ctx.db.selectFrom('timeline').selectAll().orderBy('id').execute(),
});

describe('every endpoint with an id', () => {
  it("takes another shop's id as one that does not exist, and changes nothing", async () => {
    const t = await harness();
    const other = await t.addShop();
    const { id } = await newRepair(t);
    const before = await stateOf(t);
    const answers = await about(t, id, other.client.apiKey);
    expect(Object.keys(answers).length).toBeGreaterThanOrEqual(7);
    expect(answers).toEqual(await toNobody(t, other.client.apiKey));
    for (const { status } of Object.values(answers)) expect(status).toBe(404);
    expect(await stateOf(t)).toEqual(before);
    const own = await askAll(withId(t), (endpoint) => call(t, endpoint, id).then(({ status }) => status));
    for (const status of Object.values(own)) expect(status).toBe(200);
  });

  it('takes a staff-created repair as one that does not exist, and changes nothing', async () => {
    const t = await harness();
    const { id } = await newStaffRepair(t);
    const before = await stateOf(t);
    expect(before.repairs).toHaveLength(1);
    expect(await about(t, id)).toEqual(await toNobody(t));
    expect(await stateOf(t)).toEqual(before);
  });

  it('takes a malformed id as one that does not exist', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const before = await stateOf(t);
    const nobody = await toNobody(t);
    const malformed = [
      '1',
      'null',
      '%00',
      '%20',
      '..%2F..%2Fetc%2Fpasswd',
      "'%20or%201=1%20--",
      id.slice(0, -1),
      `${id}0`,
      `${id}%20`,
      `%7B${id}%7D`,
      id.replaceAll('-', ''),
      id.toUpperCase(),
      '00000000-0000-0000-0000-000000000000',
      '%F0%9F%99%82',
      '%C3%A4',
      'x'.repeat(5000),
    ];
    for (const wrong of malformed)
      expect({ wrong, answers: await about(t, wrong) }).toEqual({ wrong, answers: nobody });
    expect(await stateOf(t)).toEqual(before);
  });

  it('takes an id that cannot even be decoded as one that does not exist', async () => {
    const t = await harness();
    expect(await about(t, '%ZZ')).toEqual(await toNobody(t));
    expectError(await t.get('/offline-repairs/%ZZ', { key: null }), 401);
  });

  it('is open to every client of the shop that made the repair', async () => {
    const t = await harness();
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    const { id } = await newRepair(t);
    for (const { status } of Object.values(
      await askAll(withId(t), (endpoint) => call(t, endpoint, id, { key: erp.apiKey })),
    ))
      expect(status).toBe(200);
  });
});

describe('lists', () => {
  it("show neither another shop's repairs nor staff-created ones, whatever the filter", async () => {
    const t = await harness();
    const other = await t.addShop();
    const marks = { externalRef: 'R', externalSource: 'S', orderNumber: 'O', storeId: 'T' };
    await newRepair(t, marks, { key: other.client.apiKey });
    await newStaffRepair(t, marks);
    const filters = [
      '',
      'status=OFFLINE_DIAGNOSTICS',
      'externalRef=R',
      'externalSource=S',
      'orderNumber=O',
      'storeId=T',
      'updatedSince=2000-01-01T00:00:00Z',
    ];
    for (const filter of filters) {
      const { body } = await t.get(`/offline-repairs?${filter}`);
      expect({ filter, ...body }).toMatchObject({ filter, items: [], total: 0, totalPages: 0 });
    }
  });
});
