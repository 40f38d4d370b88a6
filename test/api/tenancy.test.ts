import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import {
  askAll,
  call,
  endpoints,
  expectError,
  type Ids,
  KINDS,
  type Kind,
  makeIds,
  makeStaffIds,
  newRma,
  newStaffRma,
  UNKNOWN_ID,
} from '../support/api.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const withId = (t: Harness) => endpoints(t).filter(({ hasId }) => hasId);

/** All that a caller can see of an answer, apart from what differs between any two requests. */
const seen = ({ status, headers, body }: Answer) => {
  const { requestId, ...rest } = body;
  expect(requestId).toBe(headers.get('x-request-id'));
  const names = [...headers.keys()].filter((name) => name !== 'keep-alive' && name !== 'connection');
  return { status, body: rest, names };
};

/** What every endpoint says of these ids. */
const about = (t: Harness, ids: Ids | string, key = t.client.apiKey) =>
  askAll(withId(t), (endpoint) => call(t, endpoint, ids, { key }).then(seen));
/** What every endpoint says to an id that nobody has. */
const toNobody = (t: Harness, key = t.client.apiKey) => about(t, UNKNOWN_ID, key);

const stateOf = async (t: Harness) => ({
  repairs: await t.ctx.db.selectFrom('offline_repairs').selectAll().orderBy('id').execute(),
  returns: await t.ctx.db.selectFrom('trade_returns').selectAll().orderBy('id').execute(),
  entries: await t.ctx.db.selectFrom('timeline').selectAll().orderBy('id').execute(),
});

describe('every endpoint with an id', () => {
  it("takes another shop's id as one that does not exist, and changes nothing", async () => {
    const t = await harness();
    const other = await t.addShop();
    const ids = await makeIds(t);
    const before = await stateOf(t);
    const answers = await about(t, ids, other.client.apiKey);
    expect(Object.keys(answers).length).toBeGreaterThanOrEqual(9);
    expect(answers).toEqual(await toNobody(t, other.client.apiKey));
    for (const { status } of Object.values(answers)) expect(status).toBe(404);
    expect(await stateOf(t)).toEqual(before);
    const own = await askAll(withId(t), (endpoint) => call(t, endpoint, ids).then(({ status }) => status));
    for (const status of Object.values(own)) expect(status).toBe(200);
  });

  it('takes a staff-created RMA as one that does not exist, and changes nothing', async () => {
    const t = await harness({ own: true });
    const ids = await makeStaffIds(t);
    const before = await stateOf(t);
    expect([before.repairs.length, before.returns.length]).toEqual([1, 1]);
    expect(await about(t, ids)).toEqual(await toNobody(t));
    expect(await stateOf(t)).toEqual(before);
  });

  it('takes the id of the other kind as one that does not exist, and changes nothing', async () => {
    const t = await harness();
    const nobody = await toNobody(t);
    for (const ids of [await makeIds(t), await makeStaffIds(t)]) {
      const before = await stateOf(t);
      const swapped = { 'offline-repairs': ids['trade-returns'], 'trade-returns': ids['offline-repairs'] };
      const answers = await about(t, swapped);
      for (const { status } of Object.values(answers)) expect(status).toBe(404);
      expect(answers).toEqual(nobody);
      expect(await stateOf(t)).toEqual(before);
    }
  });

  it('takes a malformed id as one that does not exist', async () => {
    const t = await harness();
    const ids = await makeIds(t);
    const before = await stateOf(t);
    const nobody = await toNobody(t);
    const malformed = [
      '1',
      'null',
      '%00',
      '%20',
      '..%2F..%2Fetc%2Fpasswd',
      "'%20or%201=1%20--",
      ...Object.values(ids).flatMap((id) => [
        id.slice(0, -1),
        `${id}0`,
        `${id}%20`,
        `%7B${id}%7D`,
        id.replaceAll('-', ''),
        id.toUpperCase(),
      ]),
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
    for (const kind of KINDS) expectError(await t.get(`/${kind}/%ZZ`, { key: null }), 401);
  });

  it('is open to every client of the shop that made the RMA, but for the deliveries of another client', async () => {
    const t = await harness();
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    const ids = await makeIds(t);
    const asked = await askAll(withId(t), (endpoint) => call(t, endpoint, ids, { key: erp.apiKey }));
    for (const [name, { status }] of Object.entries(asked))
      expect([name, status]).toEqual([name, name.includes('/deliveries/') ? 404 : 200]);
  });
});

describe('lists', () => {
  it.each<{ kind: Kind; marks: Record<string, string>; start: string }>([
    {
      kind: 'offline-repairs',
      marks: { externalRef: 'R', externalSource: 'S', orderNumber: 'O', storeId: 'T' },
      start: 'OFFLINE_DIAGNOSTICS',
    },
    {
      kind: 'trade-returns',
      marks: {
        externalRef: 'R',
        externalSource: 'S',
        tradeOrderNumber: 'O',
        companyId: 'C',
        customerEmail: 'c@example.com',
      },
      start: 'TRADE_SUBMITTED',
    },
  ])("of $kind show neither another shop's nor staff-created ones, whatever the filter", async (each) => {
    const { kind, marks, start } = each;
    const t = await harness();
    const other = await t.addShop();
    await newRma(t, kind, marks, { key: other.client.apiKey });
    await newStaffRma(t, kind, marks);
    const filters = {
      ...marks,
      status: start,
      updatedSince: '2000-01-01T00:00:00Z',
      limit: '100',
    };
    const read = async (query: Record<string, string>) =>
      (await t.get(`/${kind}?${new URLSearchParams(query)}`)).body;
    for (const [name, value] of Object.entries(filters))
      expect({ name, ...(await read({ [name]: value })) }).toMatchObject({
        name,
        items: [],
        total: 0,
        totalPages: 0,
      });
    expect(await read(filters)).toMatchObject({ items: [], total: 0 });
    // One of its own is found by each of them.
    const { id } = await newRma(t, kind, marks);
    for (const [name, value] of Object.entries(filters))
      expect({ name, ...(await read({ [name]: value })) }).toMatchObject({ name, items: [{ id }], total: 1 });
  });

  it('of one kind hold nothing of the other', async () => {
    const t = await harness();
    const ids = await makeIds(t);
    for (const kind of KINDS)
      expect((await t.get(`/${kind}`)).body).toMatchObject({ total: 1, items: [{ id: ids[kind] }] });
  });
});
