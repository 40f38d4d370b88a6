// engines: sqlite, postgres

import { isMainThread } from 'node:worker_threads';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import {
  bodyOf,
  KINDS,
  type Kind,
  newRepair,
  newRma,
  newStaffRepair,
  newStaffRma,
  newTradeReturn,
  rowCounts,
  stopClock,
} from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { atOnce } from '../support/responses.ts';
import { onlyIf } from '../support/tools.ts';

const harness = sharedHarness();
/** Mutation testing runs the tests in threads, which share the time zone of their process. */
const WITH_OWN_ZONE = onlyIf(isMainThread, 'in a process only');

const create = (t: Harness, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  t.post('/offline-repairs', repairBody(more), { headers });
const expectFull = async (t: Harness, code = 'LIMIT_EXCEEDED') =>
  expect(await create(t)).toFailWith(403, code);
const expectCreated = async (t: Harness) => expect(await create(t)).toHaveStatus(201);
const usage = async (t: Harness) => {
  const response = await t.get('/usage');
  expect(response).toHaveStatus(200);
  return response.body;
};
const goTo = (t: Harness, ms: number) => t.clock.advance(ms - t.ctx.clock.now());

/** Puts the shop's count for this month where a test needs it. */
const setUsed = async (t: Harness, month_used: number) => {
  const month = new Date(t.ctx.clock.now()).toISOString().slice(0, 7);
  await sql`update shop_counters set month = ${month}, month_used = ${month_used}, last_number = ${month_used}
    where shop_id = ${t.shop.id}`.execute(t.ctx.db);
};

describe('the monthly allowance', () => {
  it('is 2,000 on SCALE unless the operator sets another', async () => {
    const t = await harness({ plan: 'SCALE' });
    await setUsed(t, 1999);
    await expectCreated(t);
    await expectFull(t);
  });

  it('is unlimited on ENTERPRISE unless the operator sets a cap', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    await setUsed(t, 10_000_000);
    await expectCreated(t);
  });

  it('limits creations only, and can be changed or removed at any time', async () => {
    const t = await harness({ allowance: 1 });
    const { id } = await newRepair(t);
    await expectFull(t);
    expect(await t.post(`/offline-repairs/${id}/close`)).toHaveStatus(200);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 2 });
    await expectCreated(t);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { usageCap: 2 });
    await expectFull(t, 'USAGE_CAP_EXCEEDED');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: null });
    await expectCreated(t);
  });

  it.each([
    ['LIMIT_EXCEEDED', 'offline-repairs', { plan: 'SCALE', allowance: 2 }],
    ['LIMIT_EXCEEDED', 'trade-returns', { plan: 'ENTERPRISE', allowance: 2 }],
    ['USAGE_CAP_EXCEEDED', 'offline-repairs', { plan: 'ENTERPRISE', usageCap: 2 }],
    ['USAGE_CAP_EXCEEDED', 'trade-returns', { plan: 'SCALE', usageCap: 2 }],
  ] as const)(
    'covers both kinds and counts what staff create, but refuses only API clients: %s after %s, by %j',
    async (code, kind, options) => {
      const t = await harness(options);
      await newStaffRma(t, kind);
      expect((await newRma(t, kind)).rmaNumber).toBe('#RMA-000002');
      for (const each of KINDS) {
        expect(await t.post(`/${each}`, bodyOf[each]())).toFailWith(403, code);
        // A person stands at the counter: staff are never refused.
        await newStaffRma(t, each);
      }
      const { repairs, returns, timeline, used } = await rowCounts(t);
      expect([repairs + returns, timeline, used]).toEqual([4, 4, 4]);
      expect(await usage(t)).toMatchObject({ used: 4, limit: 2, remaining: 0 });
    },
  );
});

describe('the month of an allowance', () => {
  it('is a calendar month in UTC, whatever the time zone of the server', WITH_OWN_ZONE, async () => {
    const before = process.env['TZ'];
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    // Here November begins half a day before it does in UTC.
    process.env['TZ'] = 'Pacific/Auckland';
    expect(new Date(2026, 0).getTimezoneOffset()).toBe(-13 * 60);

    const t = await harness({ allowance: 1 });
    goTo(t, Date.UTC(2026, 10, 1));
    await newRepair(t);
    for (const full of [Date.UTC(2026, 10, 30, 11, 30), Date.UTC(2026, 10, 30, 23, 59, 30)]) {
      goTo(t, full);
      await expectFull(t);
    }
    goTo(t, Date.UTC(2026, 11, 1));
    expect((await create(t)).body.rmaNumber).toBe('#RMA-000002');
    await expectFull(t);
    // A new year, and a month nothing happened in.
    goTo(t, Date.UTC(2027, 1, 1));
    await expectCreated(t);
  });

  it('does not restart when a clock is set back past its end', async () => {
    const t = await harness({ allowance: 1 });
    goTo(t, Date.UTC(2026, 11, 1, 0, 0, 1));
    await newRepair(t);
    goTo(t, Date.UTC(2026, 10, 30, 23, 59, 30));
    await expectFull(t);
    expect(await usage(t)).toMatchObject({ month: '2026-12', used: 1, resetsAt: '2027-01-01T00:00:00.000Z' });
    goTo(t, Date.UTC(2026, 11, 1, 0, 0, 2));
    await expectFull(t);
  });

  it('returns to the current one after a clock was ahead, and the next one starts on time', async () => {
    const t = await harness({ allowance: 2 });
    goTo(t, Date.UTC(2027, 2, 15));
    await newRepair(t);
    goTo(t, Date.UTC(2026, 10, 17));
    expect(await usage(t)).toMatchObject({ month: '2026-11', used: 1, remaining: 1 });
    await expectCreated(t);
    await expectFull(t);
    goTo(t, Date.UTC(2026, 11, 1));
    expect(await usage(t)).toMatchObject({ month: '2026-12', used: 0, remaining: 2 });
    await expectCreated(t);
  });
});

it('simultaneous creations use exactly what is left of the allowance; the others are refused', async () => {
  const t = await harness({ allowance: 10 });
  await setUsed(t, 3);
  const responses = await atOnce(40, (index) => {
    const kind = KINDS[index % 2] as Kind;
    return t.post(`/${kind}`, bodyOf[kind]());
  });
  const created = responses.filter(({ status }) => status === 201);
  expect(responses).toHaveStatuses({ 201: 7, 403: 33 });
  for (const response of responses)
    if (response.status === 403) expect(response).toFailWith(403, 'LIMIT_EXCEEDED');
  expect(new Set(created.map(({ body }) => body.rmaNumber)).size).toBe(7);
  expect(new Set(created.map(({ body }) => body.id)).size).toBe(7);
  const { repairs, returns, timeline, used } = await rowCounts(t);
  expect([repairs + returns, timeline, used]).toEqual([7, 7, 10]);
  expect((await t.get('/offline-repairs')).body.total).toBe(repairs);
  expect((await t.get('/trade-returns')).body.total).toBe(returns);
});

describe('a failed creation', () => {
  const NONE = { repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 };

  it('does not count, whatever the reason', async () => {
    const t = await harness({ allowance: 2 });
    await create(t, {}, { 'idempotency-key': 'one' });
    expect(await create(t, { storeId: '' })).toFailWith(400);
    for (const wrong of [{ items: [] }, { shippingAddress: null }, { reason: '\0' }])
      expect(await t.post('/trade-returns', bodyOf['trade-returns'](wrong))).toFailWith(400);
    expect(await t.post('/offline-repairs', '{')).toFailWith(400);
    expect(await t.post('/offline-repairs', ' '.repeat(300 * 1024))).toFailWith(413);
    expect(await t.post('/offline-repairs', 'x', { headers: { 'content-type': 'text/plain' } })).toFailWith(
      415,
    );
    const reused = await create(t, { storeId: 'elsewhere' }, { 'idempotency-key': 'one' });
    expect(reused).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    await expectFull(t, 'READ_ONLY');
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'active' });
    expect(await rowCounts(t)).toEqual({ ...NONE, repairs: 1, timeline: 1, keys: 1, used: 1 });
    await expectCreated(t);
    await expectFull(t);
  });

  it.each(KINDS)(
    'does not count and leaves no rows if the database fails in the middle: %s',
    async (kind) => {
      const t = await harness({ own: true, allowance: 1 });
      const send = () =>
        t.post(`/${kind}`, bodyOf[kind](), { unchecked: true, headers: { 'idempotency-key': 'k' } });
      // The last thing a creation writes about the RMA fails.
      await sql`alter table timeline rename to timeline_away`.execute(t.ctx.db);
      const failed = await send();
      await sql`alter table timeline_away rename to timeline`.execute(t.ctx.db);
      expect(failed).toFailWith(500);
      expect(await rowCounts(t)).toEqual(NONE);

      const again = await send();
      expect(again).toHaveStatus(201);
      expect(again.headers.has('idempotency-replayed')).toBe(false);
      await expectFull(t);
    },
  );
});

describe('monthly usage', () => {
  it('counts what API clients and staff created, against the allowance', async () => {
    stopClock(Date.parse('2026-11-15T10:00:00.000Z'));
    const t = await harness({ allowance: 5 });
    const month = { month: '2026-11', resetsAt: '2026-12-01T00:00:00.000Z' };
    const fresh = { ...month, plan: 'SCALE', billing: 'ALLOWANCE', used: 0, limit: 5, remaining: 5 };
    expect(await usage(t)).toEqual(fresh);
    await newRepair(t);
    await newTradeReturn(t);
    await newStaffRepair(t);
    expect(await usage(t)).toEqual({ ...fresh, used: 3, remaining: 2 });
    // A figure below what was used already leaves nothing, and owes nothing.
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 1 });
    expect(await usage(t)).toEqual({ ...fresh, used: 3, limit: 1, remaining: 0 });
  });

  it('shows no limit for an unlimited shop, and the cap of a shop that has one', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    await newRepair(t);
    const used = { plan: 'ENTERPRISE', billing: 'USAGE', used: 1 };
    expect(await usage(t)).toMatchObject({ ...used, limit: null, remaining: null });
    await changeShop(t.ctx, OPERATOR, t.shop.id, { usageCap: 4 });
    expect(await usage(t)).toMatchObject({ ...used, limit: 4, remaining: 3 });
  });

  it('covers one shop, and a read-only shop can read it', async () => {
    const t = await harness({ allowance: 5 });
    const other = await t.addShop({ allowance: 7 });
    await newRepair(t);
    expect((await t.get('/usage', { key: other.client.apiKey })).body).toMatchObject({ used: 0, limit: 7 });
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expect(await usage(t)).toMatchObject({ used: 1, remaining: 4 });
  });
});
