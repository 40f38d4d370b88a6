// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { addRules } from '../../src/shops/dangerous-goods.ts';
import { bodyOf, KINDS, type Kind, newRma, newStaffRepair, refusalOf, rulesOf } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { withoutTrace } from '../support/dump.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, type SendOptions, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const it = itWith(harness);

const tryOut = (t: Harness, kind: Kind, body: unknown = bodyOf[kind](), options: SendOptions = {}) =>
  t.post(`/${kind}/dry-run`, body, options);
const keyed = (key: string): SendOptions => ({ headers: { 'idempotency-key': key } });

describe.each(KINDS)('a dry run at /%s', (kind) => {
  const status = { 'offline-repairs': 'OFFLINE_DIAGNOSTICS', 'trade-returns': 'TRADE_SUBMITTED' }[kind];
  const isDangerous = { 'offline-repairs': false, 'trade-returns': null }[kind];
  const expected = { dryRun: true, status, isDangerous };

  it('returns what the real call would do, and stores nothing', async () => {
    const t = await harness({ allowance: 3 });
    await newRma(t, kind);
    const responses = await withoutTrace(t, async () => [
      await tryOut(t, kind),
      await tryOut(t, kind, bodyOf[kind](), keyed('till-1')),
    ]);
    for (const response of responses) {
      expect(response).toHaveStatus(200);
      expect(response.body).toEqual({ ...expected, remaining: 2 });
      // It counts as a creation.
      expect(response.headers.get('ratelimit-limit')).toBe('60');
    }
    const real = await t.post(`/${kind}`, bodyOf[kind](), keyed('till-1'));
    expect(real).toHaveStatus(201);
    expect(real.headers.get('idempotency-replayed')).toBe(null);
    expect(real.body.rmaNumber).toBe('#RMA-000002');
  });

  it('is refused like the real call: plan, subscription, allowance, cap', async () => {
    const t = await harness({ allowance: 1 });
    const both = async (code: string) => {
      const tried = await withoutTrace(t, () => tryOut(t, kind));
      expect(tried).toFailWith(403, code);
      expect(refusalOf(tried)).toEqual(refusalOf(await t.post(`/${kind}`, bodyOf[kind]())));
    };
    await newStaffRepair(t);
    await both('LIMIT_EXCEEDED');
    for (const [change, code] of [
      [{ usageCap: 1 }, 'USAGE_CAP_EXCEEDED'],
      [{ subscription: 'inactive' }, 'READ_ONLY'],
      [{ plan: 'GROWTH' }, 'PLAN_REQUIRED'],
    ] as const) {
      await changeShop(t.ctx, OPERATOR, t.shop.id, change);
      await both(code);
    }
  });

  it('shows no remaining number if there is no limit', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    expect((await tryOut(t, kind)).body).toMatchObject({ dryRun: true, remaining: null });
  });

  it('sees a used idempotency key, and stores none', async () => {
    const t = await harness({ allowance: 1 });
    const first = await t.post(`/${kind}`, bodyOf[kind](), keyed('till-1'));
    expect(first).toHaveStatus(201);
    await withoutTrace(t, async () => {
      const other = await tryOut(
        t,
        kind,
        bodyOf[kind]({ customerName: 'Another customer' }),
        keyed('till-1'),
      );
      expect(other).toFailWith(422, 'IDEMPOTENCY_KEY_REUSED');
      // The real call would answer with the first result and take no place, although none is left.
      const same = await tryOut(t, kind, bodyOf[kind](), keyed('till-1'));
      expect(same).toHaveStatus(200);
      expect(same.body).toEqual({ ...expected, remaining: 0 });
      expect(await tryOut(t, kind, bodyOf[kind](), keyed('till-2'))).toFailWith(403, 'LIMIT_EXCEEDED');
    });
  });

  it('has its own address, which the error for a dryRun in the query or body names', async ({ t }) => {
    const hint = `to try it out, send the body to POST /${kind}/dry-run`;
    await withoutTrace(t, async () => {
      for (const name of ['dryRun', 'dryrun', 'dry_run']) {
        const { body: inQuery } = await t.post(`/${kind}?${name}=true`, bodyOf[kind]());
        expect(inQuery.message).toEqual([`${name} is not a known parameter: ${hint}`]);
        const { body: inBody } = await t.post(`/${kind}`, bodyOf[kind]({ [name]: true }));
        expect(inBody.message).toEqual([`${name} is not a known field: ${hint}`]);
      }
      expect(rulesOf(await tryOut(t, kind, bodyOf[kind]({ dryRun: true })))).toEqual({ dryRun: 'unknown' });
    });
  });

  it("does not wait for a transaction that locks the shop's counters", async () => {
    const t = await harness({ allowance: 5 });
    const response = await t.ctx.db.transaction().execute(async (trx) => {
      await sql`update shop_counters set month_used = 3 where shop_id = ${t.shop.id}`.execute(trx);
      return tryOut(t, kind);
    });
    expect(response.body).toMatchObject({ dryRun: true, remaining: 5 });
  });
});

it('a dry run of a repair shows its start status and whether it is dangerous', async ({ t }) => {
  await addRules(t.ctx, t.ctx.db as never, t.shop.id, ['BATTERY-*']);
  const faultyItem = { sku: 'BATTERY-9', productName: 'Battery', quantity: 1, price: 9 };
  const body = repairBody({ startStatus: 'COUNTER_SWAPPED', faultyItem });
  expect((await tryOut(t, 'offline-repairs', body)).body).toMatchObject({
    status: 'COUNTER_SWAPPED',
    isDangerous: true,
  });
});

it('the allowance of a new month applies from its first moment', async () => {
  const t = await harness({ allowance: 1 });
  await newRma(t, 'trade-returns');
  expect(await tryOut(t, 'trade-returns')).toFailWith(403, 'LIMIT_EXCEEDED');
  t.clock.advance(32 * 24 * 60 * 60 * 1000);
  expect((await tryOut(t, 'trade-returns', tradeBody())).body).toMatchObject({ remaining: 1 });
});
