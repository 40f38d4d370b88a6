import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import {
  bodyOf,
  expectError,
  KINDS,
  type Kind,
  newRepair,
  newRma,
  newStaffRepair,
  newStaffRma,
  newTradeReturn,
  rowCounts,
} from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const create = (t: Harness, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  t.post('/offline-repairs', repairBody(more), { headers });

/** Puts the shop's count for this month where a test needs it. */
const setUsed = async (t: Harness, month_used: number) => {
  const month = new Date(t.ctx.clock.now()).toISOString().slice(0, 7);
  await t.ctx.db
    .updateTable('shop_counters')
    .set({ month, month_used, last_number: month_used })
    .where('shop_id', '=', t.shop.id)
    .execute();
};

describe('the monthly figure', () => {
  it('of an allowance is LIMIT_EXCEEDED once it is used up, with nothing created', async () => {
    const t = await harness({ allowance: 2 });
    const { id } = await newRepair(t);
    await newRepair(t);
    const refused = await create(t);
    expectError(refused, 403, 'LIMIT_EXCEEDED');
    expect(await rowCounts(t)).toMatchObject({ repairs: 2, timeline: 2 });
    // Creation only: all else goes on.
    expect((await t.get(`/offline-repairs/${id}`)).status).toBe(200);
    expect((await t.post(`/offline-repairs/${id}/close`)).status).toBe(200);
  });

  it('of a usage cap is USAGE_CAP_EXCEEDED once it is reached', async () => {
    const t = await harness({ plan: 'ENTERPRISE', usageCap: 1 });
    await newRepair(t);
    expectError(await create(t), 403, 'USAGE_CAP_EXCEEDED');
    expect((await rowCounts(t)).repairs).toBe(1);
  });

  it('follows the kind of billing, not the plan', async () => {
    const capped = await harness({ plan: 'SCALE', usageCap: 0 });
    expectError(await create(capped), 403, 'USAGE_CAP_EXCEEDED');
    const limited = await harness({ plan: 'ENTERPRISE', allowance: 0 });
    expectError(await create(limited), 403, 'LIMIT_EXCEEDED');
  });

  it('is 2,000 on SCALE unless the operator says otherwise', async () => {
    const t = await harness({ plan: 'SCALE' });
    await setUsed(t, 1999);
    expect((await create(t)).status).toBe(201);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
  });

  it('does not exist on ENTERPRISE unless the operator sets a cap', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    await setUsed(t, 10_000_000);
    expect((await create(t)).status).toBe(201);
  });

  it('can be changed at any time, or lifted', async () => {
    const t = await harness({ allowance: 1 });
    await newRepair(t);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 2 });
    expect((await create(t)).status).toBe(201);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { usageCap: 2 });
    expectError(await create(t), 403, 'USAGE_CAP_EXCEEDED');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: null });
    expect((await create(t)).status).toBe(201);
  });

  it.each(KINDS)('of an allowance is one for both kinds, used up by %s', async (kind) => {
    const t = await harness({ allowance: 2 });
    await newRma(t, kind);
    await newRma(t, kind);
    for (const each of KINDS) {
      expectError(await t.post(`/${each}`, bodyOf[each]()), 403, 'LIMIT_EXCEEDED');
      await expect(newStaffRma(t, each)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    }
    const { repairs, returns, timeline, used } = await rowCounts(t);
    expect([repairs + returns, timeline, used]).toEqual([2, 2, 2]);
  });

  it.each(KINDS)('of a usage cap is one for both kinds, used up by %s', async (kind) => {
    const t = await harness({ plan: 'ENTERPRISE', usageCap: 1 });
    await newRma(t, kind);
    for (const each of KINDS)
      expectError(await t.post(`/${each}`, bodyOf[each]()), 403, 'USAGE_CAP_EXCEEDED');
    expect((await rowCounts(t)).used).toBe(1);
  });

  it('counts staff-created trade returns as well', async () => {
    const t = await harness({ allowance: 2 });
    await newStaffRma(t, 'trade-returns');
    expect((await newTradeReturn(t)).rmaNumber).toBe('#RMA-000002');
    for (const each of KINDS) expectError(await t.post(`/${each}`, bodyOf[each]()), 403, 'LIMIT_EXCEEDED');
    expect((await t.get('/trade-returns')).body.total).toBe(1);
  });

  it('counts staff-created repairs as well', async () => {
    const t = await harness({ allowance: 2 });
    await newStaffRepair(t);
    expect((await create(t)).status).toBe(201);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    await expect(newStaffRepair(t)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('is one for all clients of a shop and another for each shop', async () => {
    const t = await harness({ allowance: 1 });
    const other = await t.addShop({ allowance: 1 });
    await newRepair(t);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    expect((await newRepair(t, {}, { key: other.client.apiKey })).rmaNumber).toBe('#RMA-000001');
  });
});

describe('the month', () => {
  it('is a calendar month in UTC, wherever the server stands', async () => {
    const before = process.env['TZ'];
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    // Here November begins half a day before it does in UTC.
    process.env['TZ'] = 'Pacific/Auckland';
    expect(new Date(2026, 0).getTimezoneOffset()).toBe(-13 * 60);

    const t = await harness({ allowance: 1 });
    const goTo = (ms: number) => t.clock.advance(ms - t.ctx.clock.now());
    goTo(Date.UTC(2026, 10, 1));
    await newRepair(t);
    goTo(Date.UTC(2026, 10, 30, 11, 30));
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    goTo(Date.UTC(2026, 10, 30, 23, 59, 30));
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    goTo(Date.UTC(2026, 11, 1));
    expect((await create(t)).body.rmaNumber).toBe('#RMA-000002');
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    // A new year, and a month nothing happened in.
    goTo(Date.UTC(2027, 1, 1));
    expect((await create(t)).status).toBe(201);
  });

  it('does not begin anew when a clock is set back over its end', async () => {
    const t = await harness({ allowance: 1 });
    const goTo = (ms: number) => t.clock.advance(ms - t.ctx.clock.now());
    goTo(Date.UTC(2026, 11, 1, 0, 0, 1));
    await newRepair(t);
    goTo(Date.UTC(2026, 10, 30, 23, 59, 30));
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    goTo(Date.UTC(2026, 11, 1, 0, 0, 2));
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
  });

  it('is this one again after a clock was ahead, and the next one begins when it comes', async () => {
    const t = await harness({ allowance: 2 });
    const goTo = (ms: number) => t.clock.advance(ms - t.ctx.clock.now());
    const usage = async () => (await t.get('/usage')).body;
    goTo(Date.UTC(2027, 2, 15));
    await newRepair(t);
    goTo(Date.UTC(2026, 10, 17));
    expect(await usage()).toMatchObject({ month: '2026-11', used: 1, remaining: 1 });
    expect((await create(t)).status).toBe(201);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
    goTo(Date.UTC(2026, 11, 1));
    expect(await usage()).toMatchObject({ month: '2026-12', used: 0, remaining: 2 });
    expect((await create(t)).status).toBe(201);
  });
});

describe('creations at the same time', () => {
  it.each([
    ['LIMIT_EXCEEDED', { plan: 'SCALE', allowance: 10 }],
    ['USAGE_CAP_EXCEEDED', { plan: 'ENTERPRISE', usageCap: 10 }],
  ] as const)('share the places left exactly, the rest is %s', async (code, options) => {
    const t = await harness(options);
    await setUsed(t, 3);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const kind = KINDS[index % 2] as Kind;
        return t.post(`/${kind}`, bodyOf[kind]());
      }),
    );
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(created).toHaveLength(7);
    for (const answer of refused) expectError(answer, 403, code);
    expect(new Set(created.map(({ body }) => body.rmaNumber)).size).toBe(7);
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(7);
    const { repairs, returns, timeline, used } = await rowCounts(t);
    expect([repairs + returns, timeline, used]).toEqual([7, 7, 10]);
    expect((await t.get('/offline-repairs')).body.total).toBe(repairs);
    expect((await t.get('/trade-returns')).body.total).toBe(returns);
  });

  it('each get a number of their own, whatever their kind', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    const other = await t.addShop();
    const keys = [t.client.apiKey, other.client.apiKey];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        newRma(t, KINDS[Math.floor(index / 2) % 2] as Kind, {}, { key: keys[index % 2] as string }),
      ),
    );
    for (const half of [0, 1]) {
      const numbers = answers.filter((_, index) => index % 2 === half).map(({ rmaNumber }) => rmaNumber);
      expect(new Set(numbers).size).toBe(30);
    }
    expect(await rowCounts(t)).toMatchObject({ repairs: 30, returns: 30, used: 60 });
  });
});

describe('a creation that fails', () => {
  it('takes no place, whatever it fails for', async () => {
    const t = await harness({ allowance: 2 });
    await create(t, {}, { 'idempotency-key': 'one' });
    expect((await rowCounts(t)).used).toBe(1);

    expectError(await create(t, { storeId: '' }), 400);
    expectError(await t.post('/offline-repairs', '{'), 400);
    expectError(await t.post('/offline-repairs', ' '.repeat(300 * 1024)), 413);
    expectError(await t.post('/offline-repairs', 'x', { headers: { 'content-type': 'text/plain' } }), 415);
    expectError(
      await create(t, { storeId: 'elsewhere' }, { 'idempotency-key': 'one' }),
      422,
      'IDEMPOTENCY_KEY_REUSED',
    );
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expectError(await create(t), 403, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'active' });
    expect(await rowCounts(t)).toMatchObject({ repairs: 1, used: 1 });
    expect((await create(t)).status).toBe(201);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
  });

  it.each([
    ['trade return', { items: [] }],
    ['trade return', { shippingAddress: null }],
    ['trade return', { reason: '\0' }],
  ])('as a %s takes no place for %j', async (_kind, more) => {
    const t = await harness({ allowance: 1 });
    expectError(await t.post('/trade-returns', bodyOf['trade-returns'](more)), 400);
    expect(await rowCounts(t)).toEqual({ repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 });
    expect((await newTradeReturn(t)).rmaNumber).toBe('#RMA-000001');
  });

  it.each(KINDS)('half-way, in the database, takes no place and leaves nothing behind: %s', async (kind) => {
    const t = await harness({ own: true, allowance: 1 });
    const send = () =>
      t.post(`/${kind}`, bodyOf[kind](), { unchecked: true, headers: { 'idempotency-key': 'k' } });
    // The last thing a creation writes about the RMA fails.
    await sql`alter table timeline rename to timeline_away`.execute(t.ctx.db);
    const failed = await send();
    await sql`alter table timeline_away rename to timeline`.execute(t.ctx.db);
    expectError(failed, 500);
    expect(await rowCounts(t)).toEqual({ repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 });

    const again = await send();
    expect(again.status).toBe(201);
    expect(again.headers.has('idempotency-replayed')).toBe(false);
    expectError(await create(t), 403, 'LIMIT_EXCEEDED');
  });
});
