import { describe, expect, it } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { newRepair, newStaffRepair, newTradeReturn, stopClock } from '../support/api.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const usage = async (t: Harness) => {
  const { status, body } = await t.get('/usage');
  expect(status).toBe(200);
  return body;
};

describe("the month's use", () => {
  it('counts what programs and staff created, against the allowance', async () => {
    stopClock(Date.parse('2026-11-15T10:00:00.000Z'));
    const t = await harness({ allowance: 5 });
    const fresh = {
      month: '2026-11',
      plan: 'SCALE',
      billing: 'ALLOWANCE',
      used: 0,
      limit: 5,
      remaining: 5,
      resetsAt: '2026-12-01T00:00:00.000Z',
    };
    expect(await usage(t)).toEqual(fresh);
    await newRepair(t);
    await newTradeReturn(t);
    await newStaffRepair(t);
    expect(await usage(t)).toEqual({ ...fresh, used: 3, remaining: 2 });
    // A figure below what was used already leaves nothing, and owes nothing.
    await changeShop(t.ctx, OPERATOR, t.shop.id, { allowance: 1 });
    expect(await usage(t)).toEqual({ ...fresh, used: 3, limit: 1, remaining: 0 });
  });

  it('has no limit where there is none, and the cap where the shop has one', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    await newRepair(t);
    expect(await usage(t)).toMatchObject({
      plan: 'ENTERPRISE',
      billing: 'USAGE',
      used: 1,
      limit: null,
      remaining: null,
    });
    await changeShop(t.ctx, OPERATOR, t.shop.id, { usageCap: 4 });
    expect(await usage(t)).toMatchObject({ billing: 'USAGE', used: 1, limit: 4, remaining: 3 });
  });

  it('begins anew with each month, also with a year', async () => {
    const clock = stopClock(Date.parse('2026-12-31T23:59:59.999Z'));
    const t = await harness({ allowance: 2 });
    await newRepair(t);
    expect(await usage(t)).toMatchObject({
      month: '2026-12',
      used: 1,
      resetsAt: '2027-01-01T00:00:00.000Z',
    });
    clock.advance(1);
    const next = { month: '2027-01', used: 0, remaining: 2, resetsAt: '2027-02-01T00:00:00.000Z' };
    expect(await usage(t)).toMatchObject(next);
    await newRepair(t);
    // Once somebody has counted in the new month, a clock that is behind counts in it too.
    clock.jump(-60_000);
    expect(await usage(t)).toMatchObject({ ...next, used: 1, remaining: 1 });
  });

  it('is the same for every client of the shop, can be read by a shop that may not write, and is nobody else’s', async () => {
    const t = await harness({ allowance: 5 });
    const other = await t.addShop({ allowance: 7 });
    await newRepair(t);
    expect((await t.get('/usage', { key: other.client.apiKey })).body).toMatchObject({ used: 0, limit: 7 });
    await changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive' });
    expect(await usage(t)).toMatchObject({ used: 1, remaining: 4 });
  });
});
