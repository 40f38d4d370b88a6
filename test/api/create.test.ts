import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { newRepair, newRma, newStaffRma, newTradeReturn, stopClock, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { sharedHarness } from '../support/harness.ts';
import { KINDS, STAMPS } from '../support/kinds.ts';
import { pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

describe.each(KINDS)('creating at $path', ({ kind, path, rows, start, body, ...row }) => {
  it('returns 201 with every field, and null for absent ones', async ({ t }) => {
    for (const [sent, rmaNumber] of [
      [body(), '#RMA-000001'],
      [body(row.nulls), '#RMA-000002'],
    ] as const) {
      const created = await t.post(path, sent);
      expect(created).toHaveStatus(201);
      expect(created.body).toEqual({ ...row.responses.smallest, ...STAMPS, rmaNumber });
      expect(created.body.updatedAt).toBe(created.body.createdAt);
    }
  });

  it('returns every field as it was sent, immediately and later', async ({ t }) => {
    const created = await t.post(path, row.whole());
    expect(created).toHaveStatus(201);
    expect(created.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(created.body).toEqual({ ...row.responses.whole, ...STAMPS });
    const read = await t.get(`${path}/${created.body.id}`);
    expect(read).toHaveStatus(200);
    expect(read.body).toEqual(created.body);
    expect((await t.get(path)).body.items).toEqual([created.body]);
  });

  it('takes its time and its id from the clock, in UTC with milliseconds', async ({ t }) => {
    const at = Date.UTC(2026, 10, 15, 9, 30, 0, 7);
    stopClock(at);
    const { id, createdAt, updatedAt } = await newRma(t, kind);
    expect([createdAt, updatedAt]).toEqual(['2026-11-15T09:30:00.007Z', '2026-11-15T09:30:00.007Z']);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(at);
  });

  it('starts the timeline with one entry by the client that created it', async ({ t }) => {
    const { id, createdAt } = await newRma(t, kind, row.whole());
    const response = await t.get(`${path}/${id}/timeline`);
    expect(response).toHaveStatus(200);
    const { items: first, ...page } = response.body;
    expect(page).toEqual({ total: 1, page: 1, limit: 500, totalPages: 1 });
    const actor = { type: 'API_CLIENT', id: t.client.id, name: 'Till' };
    const stamps = { id: expect.stringMatching(UUID7), at: createdAt };
    expect(first).toEqual([{ ...stamps, type: 'CREATED', actor, fromStatus: null, ...row.created }]);
    const plain = await newRma(t, kind);
    const { items } = (await t.get(`${path}/${plain.id}/timeline`)).body;
    expect(items).toMatchObject([{ type: 'CREATED', toStatus: start, note: null, data: {} }]);
  });
});

describe('the RMA number', () => {
  it('counts all returns of the shop: both kinds, and those of staff', async ({ t }) => {
    const other = await t.addShop();
    const theirs = { key: other.client.apiKey };
    const made = [
      await newTradeReturn(t),
      await newRepair(t),
      await newStaffRma(t, 'trade-returns'),
      await newStaffRma(t, 'offline-repairs'),
      await newTradeReturn(t, {}, theirs),
      await newRepair(t, {}, theirs),
      await newRepair(t),
      await newTradeReturn(t),
    ];
    expect(made.map(({ rmaNumber }) => Number(rmaNumber.slice('#RMA-'.length)))).toEqual([
      1, 2, 3, 4, 1, 2, 5, 6,
    ]);
  });

  it('has at least six digits, and more when needed', async ({ t }) => {
    const startAfter = (last_number: number) =>
      sql`update shop_counters set last_number = ${last_number} where shop_id = ${t.shop.id}`.execute(
        t.ctx.db,
      );
    await startAfter(122);
    await newRepair(t);
    await startAfter(999_998);
    await newRepair(t);
    await newRepair(t);
    const { items } = (await t.get('/offline-repairs')).body;
    expect(pluck(items, 'rmaNumber')).toEqual(['#RMA-1000000', '#RMA-999999', '#RMA-000123']);
  });
});
