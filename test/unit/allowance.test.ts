import { describe, expect, it } from 'vitest';
import { consumeAllowance, usageOf } from '../../src/shops/allowance.ts';
import type { Counter } from '../../src/shops/counters.ts';
import type { Billing, Shop } from '../../src/shops/plans.ts';

const shop = (billing: Billing): Shop => ({
  id: 'shop',
  name: 'Test shop',
  plan: 'SCALE',
  active: true,
  billing,
  secondFactorRequired: false,
  createdAt: 0,
});
const counter = (month: string, month_used: number): Counter => ({
  shop_id: 'shop',
  last_number: 41,
  month,
  month_used,
  last_position: 7,
  last_at: 0,
});
const NOVEMBER = Date.parse('2026-11-30T23:59:59.999Z');
const ALLOWED_3: Billing = { kind: 'ALLOWANCE', limit: 3 };

describe('taking a place', () => {
  it('gives the next number and counts it', () => {
    const of = counter('2026-11', 2);
    expect(consumeAllowance(of, shop(ALLOWED_3), NOVEMBER)).toBe(42);
    expect(of).toEqual({ ...counter('2026-11', 3), last_number: 42 });
  });

  it.each([
    ['ALLOWANCE', 'LIMIT_EXCEEDED'],
    ['USAGE', 'USAGE_CAP_EXCEEDED'],
  ] as const)('of a shop billed by %s that has none left is %s, and counts nothing', (kind, code) => {
    for (const used of [3, 4]) {
      const of = counter('2026-11', used);
      expect(() => consumeAllowance(of, shop({ kind, limit: 3 }), NOVEMBER)).toThrow(
        expect.objectContaining({ code }),
      );
      expect(of).toEqual(counter('2026-11', used));
    }
    expect(() => consumeAllowance(counter('2026-11', 0), shop({ kind, limit: 0 }), NOVEMBER)).toThrow();
  });

  it('has no end where there is no limit', () => {
    expect(
      consumeAllowance(counter('2026-11', 9_999_999), shop({ kind: 'USAGE', limit: null }), NOVEMBER),
    ).toBe(42);
  });

  it('begins anew a millisecond later, in the next month, and not before', () => {
    expect(() => consumeAllowance(counter('2026-11', 3), shop(ALLOWED_3), NOVEMBER)).toThrow();
    const of = counter('2026-11', 3);
    expect(consumeAllowance(of, shop(ALLOWED_3), NOVEMBER + 1)).toBe(42);
    expect(of).toMatchObject({ month: '2026-12', month_used: 1 });
  });

  it('stays in the month that somebody counted in already, where a clock is behind', () => {
    const of = counter('2026-12', 2);
    consumeAllowance(of, shop(ALLOWED_3), NOVEMBER - 3_600_000);
    expect(of).toMatchObject({ month: '2026-12', month_used: 3 });
  });
});

describe('a month that a clock wrote which was ahead', () => {
  it.each([
    ['2027-01', NOVEMBER],
    ['2026-12', NOVEMBER - 2 * 3_600_000],
    ['9999-12', NOVEMBER],
  ])('is this month: %s', (month, nowMs) => {
    const of = counter(month, 2);
    consumeAllowance(of, shop(ALLOWED_3), nowMs);
    expect(of).toMatchObject({ month: '2026-11', month_used: 3 });
    expect(() => consumeAllowance(of, shop(ALLOWED_3), nowMs)).toThrow();
  });
});

describe('the use of a month', () => {
  it.each([
    ['nothing yet', undefined, { used: 0, remaining: 3 }],
    ['some', counter('2026-11', 2), { used: 2, remaining: 1 }],
    ['more than there is by now', counter('2026-11', 5), { used: 5, remaining: 0 }],
    ['only last month', counter('2026-10', 3), { used: 0, remaining: 3 }],
  ])('by a shop that used %s', (_, of, expected) => {
    expect(usageOf(of, shop(ALLOWED_3), NOVEMBER)).toEqual({
      month: '2026-11',
      plan: 'SCALE',
      billing: 'ALLOWANCE',
      limit: 3,
      resetsAt: '2026-12-01T00:00:00.000Z',
      ...expected,
    });
  });

  it('ends with the year in December, and has nothing left to tell without a limit', () => {
    const told = usageOf(undefined, shop({ kind: 'USAGE', limit: null }), NOVEMBER + 1);
    expect(told).toMatchObject({ month: '2026-12', billing: 'USAGE', limit: null, remaining: null });
    expect(told.resetsAt).toBe('2027-01-01T00:00:00.000Z');
  });
});
