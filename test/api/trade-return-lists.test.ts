import { describe, expect, it } from 'vitest';
import { TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import { moveTradeReturn } from '../../src/trade-returns/actions.ts';
import {
  expectError,
  newRepair,
  newTradeReturn,
  rulesOf,
  staffOf,
  UNKNOWN_ID,
  UUID7,
} from '../support/api.ts';
import { wholeTradeBody } from '../support/bodies.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { moveThrough, tradeReturnIn } from '../support/trade-moves.ts';

const harness = sharedHarness();

const list = async (t: Harness, query: Record<string, string> = {}) => {
  const { status, body } = await t.get(`/trade-returns?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
};
const found = async (t: Harness, query: Record<string, string>): Promise<number[]> =>
  (await list(t, query)).items.map(({ rmaNumber }: { rmaNumber: string }) =>
    Number(rmaNumber.slice('#RMA-'.length)),
  );
describe('the list of trade returns', () => {
  it("has the repairs' shape, newest first, and pages that hold each return once", async () => {
    const t = await harness();
    expect(await list(t)).toEqual({ items: [], total: 0, page: 1, limit: 20, totalPages: 0 });
    for (let index = 0; index < 23; index += 1) await newTradeReturn(t);
    const all = Array.from({ length: 23 }, (_, index) => 23 - index);
    const first = await list(t);
    expect(Object.keys(first).sort()).toEqual(['items', 'limit', 'page', 'total', 'totalPages']);
    expect(first).toMatchObject({ total: 23, page: 1, limit: 20, totalPages: 2 });
    expect(await found(t, {})).toEqual(all.slice(0, 20));
    expect(await found(t, { page: '2' })).toEqual(all.slice(20));
    expect(await list(t, { page: '3' })).toEqual({ items: [], total: 23, page: 3, limit: 20, totalPages: 2 });
    const pages = await Promise.all(['1', '2', '3', '4', '5'].map((page) => found(t, { page, limit: '5' })));
    expect(pages.flat()).toEqual(all);
    expect(await list(t, { limit: '100' })).toMatchObject({ limit: 100, totalPages: 1 });
    expect(await found(t, { limit: '1', page: '23' })).toEqual([1]);
  });

  it('shows each return as reading it alone does, and keeps its order when they change', async () => {
    const t = await harness();
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push((await newTradeReturn(t, wholeTradeBody())).id);
    await moveThrough(t, ids[2] as string, ['approve', 'receive']);
    await moveThrough(t, ids[0] as string, ['reject']);
    expect(await found(t, {})).toEqual([4, 3, 2, 1]);
    for (const item of (await list(t)).items)
      expect(item).toEqual((await t.get(`/trade-returns/${item.id}`)).body);
  });

  it('refuses pages and limits outside their bounds, and what it does not know', async () => {
    const t = await harness();
    const rules = async (query: string) => rulesOf(await t.get(`/trade-returns?${query}`));
    for (const name of ['page', 'limit'])
      for (const value of ['0', '-1', '1.5', '', 'one', ...(name === 'limit' ? ['101'] : [])])
        expect(Object.keys(await rules(`${name}=${value}`))).toEqual([name]);
    expect(Object.keys(await rules('page=1&page=2'))).toEqual(['page']);
    // What narrows the other kind's list, and what only staff may ask.
    for (const name of ['orderNumber', 'storeId', 'q', 'origin', 'sku'])
      expect(await rules(`${name}=x`)).toEqual({ [name]: 'unknown' });
    expect((await t.get('/trade-returns?companyid=x')).body.message[0]).toContain('did you mean companyId?');
    const { id } = await newTradeReturn(t);
    expect(rulesOf(await t.get(`/trade-returns/${id}?page=1`))).toEqual({ page: 'unknown' });
    expect(rulesOf(await t.get(`/trade-returns/${id}/timeline?status=x`))).toEqual({ status: 'unknown' });
  });

  it('by status finds what is in that status now', async () => {
    const t = await harness();
    for (const status of TRADE_RETURN_STATUSES) await tradeReturnIn(t, status);
    const byStatus = await Promise.all(TRADE_RETURN_STATUSES.map((status) => found(t, { status })));
    expect(byStatus).toEqual([[1], [2], [3], [4], [5], [6]]);
  });

  it('by an unknown status is a 400 that names the known ones', async () => {
    const t = await harness();
    for (const status of ['DONE', 'trade_submitted', '', 'OFFLINE_REPAIR']) {
      const answer = await t.get(`/trade-returns?status=${status}`);
      expect(rulesOf(answer)).toEqual({ status: 'oneOf' });
      for (const known of TRADE_RETURN_STATUSES) expect(answer.body.message[0]).toContain(known);
    }
  });

  it.each(['externalRef', 'externalSource', 'tradeOrderNumber', 'companyId'])(
    'by %s finds exactly that',
    async (name) => {
      const t = await harness();
      const values = ['A-1', 'A-10', 'a-1', 'A_1', 'A%1', "A'1", 'Ä 1', 'A-1'];
      for (const value of values) await newTradeReturn(t, { [name]: value });
      await newTradeReturn(t);
      expect(await found(t, { [name]: 'A-1' })).toEqual([8, 1]);
      expect(await found(t, { [name]: ' A-1 ' })).toEqual([8, 1]);
      for (const [index, value] of values.entries())
        if (value !== 'A-1') expect(await found(t, { [name]: value })).toEqual([index + 1]);
      expect(await list(t, { [name]: 'A' })).toMatchObject({ items: [], total: 0, totalPages: 0 });
      expect(await found(t, { [name]: 'x'.repeat(128) })).toEqual([]);
      const refused = async (query: string) => Object.keys(rulesOf(await t.get(`/trade-returns?${query}`)));
      expect(await refused(`${name}=${'x'.repeat(129)}`)).toEqual([name]);
      expect(await refused(`${name}=a%00b`)).toEqual([name]);
      expect(await refused(`${name}=`)).toEqual([name]);
      expect(await refused(`${name}=a&${name}=b`)).toEqual([name]);
    },
  );

  it('by customerEmail finds exactly that address', async () => {
    const t = await harness();
    const addresses = [
      'a@b.co',
      'a+1@b.co',
      'aa@b.co',
      "o'neil@b.co",
      'a_1@b.co',
      'zoë@exämple.com',
      'a@b.co',
    ];
    for (const customerEmail of addresses) await newTradeReturn(t, { customerEmail });
    expect(await found(t, { customerEmail: 'a@b.co' })).toEqual([7, 1]);
    expect(await found(t, { customerEmail: ' a@b.co ' })).toEqual([7, 1]);
    for (const [index, customerEmail] of addresses.entries())
      if (customerEmail !== 'a@b.co') expect(await found(t, { customerEmail })).toEqual([index + 1]);
    expect(await found(t, { customerEmail: '%@b.co' })).toEqual([]);
    const refused = async (query: string) => Object.keys(rulesOf(await t.get(`/trade-returns?${query}`)));
    for (const wrong of ['x'.repeat(256), '', 'a%00b'])
      expect(await refused(`customerEmail=${wrong}`)).toEqual(['customerEmail']);
  });

  it('by updatedSince finds what changed at that time or after it', async () => {
    const t = await harness();
    const one = await newTradeReturn(t);
    t.clock.advance(60_000);
    const two = await newTradeReturn(t);
    const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();
    expect(await found(t, { updatedSince: one.updatedAt })).toEqual([2, 1]);
    expect(await found(t, { updatedSince: later(one.updatedAt, 1) })).toEqual([2]);
    expect(await found(t, { updatedSince: two.updatedAt })).toEqual([2]);
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([]);
    t.clock.advance(60_000);
    const moved = await moveTradeReturn(t.ctx, staffOf(t), one.id, 'approve', null);
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([1]);
    const elsewhere = later(moved.updatedAt, 2 * 60 * 60_000).replace('Z', '+02:00');
    expect(await found(t, { updatedSince: elsewhere })).toEqual([1]);
    for (const wrong of ['yesterday', '2026-11-15', '2026-02-30T00:00:00Z', ''])
      expect(rulesOf(await t.get(`/trade-returns?${new URLSearchParams({ updatedSince: wrong })}`))).toEqual({
        updatedSince: 'format',
      });
  });

  it('takes all its filters together', async () => {
    const t = await harness();
    const marks = {
      externalRef: 'R',
      externalSource: 'S',
      tradeOrderNumber: 'O',
      companyId: 'C',
      customerEmail: 'c@b.co',
    };
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.push((await newTradeReturn(t, marks)).id);
    for (const name of Object.keys(marks))
      await newTradeReturn(t, { ...marks, [name]: name === 'customerEmail' ? 'd@b.co' : 'other' });
    await moveThrough(t, ids[1] as string, ['approve']);
    const all = { ...marks, status: 'TRADE_SUBMITTED', updatedSince: '2000-01-01T00:00:00Z' };
    expect(await found(t, all)).toEqual([3, 1]);
    expect(await list(t, { ...all, limit: '1', page: '2' })).toMatchObject({
      total: 2,
      totalPages: 2,
      items: [{ id: ids[0] }],
    });
    expect(await found(t, { ...all, status: 'TRADE_APPROVED' })).toEqual([2]);
    expect(await found(t, { ...all, updatedSince: '2100-01-01T00:00:00Z' })).toEqual([]);
  });
});

describe("a trade return's timeline", () => {
  it('opens with its creation, by the client that made it', async () => {
    const t = await harness();
    const { id, createdAt } = await newTradeReturn(t, wholeTradeBody());
    const { status, body } = await t.get(`/trade-returns/${id}/timeline`);
    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          id: expect.stringMatching(UUID7),
          type: 'CREATED',
          at: createdAt,
          actor: { type: 'API_CLIENT', id: t.client.id, name: 'Till' },
          fromStatus: null,
          toStatus: 'TRADE_SUBMITTED',
          note: null,
          data: {},
        },
      ],
      total: 1,
      page: 1,
      limit: 500,
      totalPages: 1,
    });
  });

  it("goes on with staff's moves, oldest first", async () => {
    const t = await harness();
    const { id } = await newTradeReturn(t);
    await newTradeReturn(t);
    await moveThrough(t, id, ['approve', 'receive', 'request-credit', 'resolve']);
    const { items } = (await t.get(`/trade-returns/${id}/timeline`)).body;
    expect(
      items.map(({ type, fromStatus, toStatus }: Record<string, string>) => [type, fromStatus, toStatus]),
    ).toEqual([
      ['CREATED', null, 'TRADE_SUBMITTED'],
      ['STATUS_CHANGED', 'TRADE_SUBMITTED', 'TRADE_APPROVED'],
      ['STATUS_CHANGED', 'TRADE_APPROVED', 'TRADE_RECEIVED'],
      ['CREDIT_REQUESTED', 'TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED'],
      ['RESOLVED', 'TRADE_CREDIT_REQUESTED', 'TRADE_RESOLVED'],
    ]);
    const times = items.map((entry: { at: string }) => entry.at);
    expect([...new Set(times)].sort()).toEqual(times);
  });

  it('is a 404 for an id that names no trade return', async () => {
    const t = await harness();
    for (const id of [UNKNOWN_ID, 'x', (await newRepair(t)).id]) {
      expectError(await t.get(`/trade-returns/${id}/timeline`), 404);
      expectError(await t.get(`/trade-returns/${id}`), 404);
    }
  });
});
