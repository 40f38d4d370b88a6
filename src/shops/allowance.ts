import type { Usage } from '../../contract/usage.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { type Counter, selectCounters } from './counters.ts';
import { type Caller, LIMIT_ERRORS, type Shop } from './plans.ts';

// The monthly allowance: how many returns a shop may create, and how many it has created this month.

type Used = Pick<Counter, 'month' | 'month_used'>;
const UNUSED: Used = { month: '', month_used: 0 };

/** Clocks differ by no more than this, even if one was set back by an hour (docs/contract.md). */
const MAX_CLOCK_DIFFERENCE_MS = 2 * 60 * 60_000;

/** The calendar month in UTC, as text that sorts. */
const monthAt = (ms: number): string => toIso(ms).slice(0, 7);

/** Whether a wrong clock wrote this month. */
export const isAhead = (month: string, nowMs: number): boolean =>
  month > monthAt(nowMs + MAX_CLOCK_DIFFERENCE_MS);

/** Months only move forward, so a slow clock at midnight cannot restart the old one. An impossible future month counts as the current one. */
const monthOf = ({ month, month_used }: Used, nowMs: number) => {
  const now = monthAt(nowMs);
  if (month < now) return { month: now, used: 0 };
  return { month: isAhead(month, nowMs) ? now : month, used: month_used };
};

/**
 * Counts one return of this month's allowance. At the limit it refuses API clients but never staff, since a
 * customer is at the counter.
 */
export const consumeAllowance = (counter: Counter, { shop, actor }: Caller, nowMs: number): void => {
  const { kind, limit } = shop.billing;
  const { month, used } = monthOf(counter, nowMs);
  if (limit !== null && used >= limit && actor.type === 'API_CLIENT')
    throw new ServiceError(LIMIT_ERRORS[kind]);
  counter.month = month;
  counter.month_used = used + 1;
};

export const usageOf = (counter: Used | undefined, shop: Shop, nowMs: number): Usage => {
  const { month, used } = monthOf(counter ?? UNUSED, nowMs);
  const { kind, limit } = shop.billing;
  const [year, monthOfYear] = month.split('-').map(Number) as [number, number];
  return {
    month,
    plan: shop.plan,
    billing: kind,
    used,
    limit,
    remaining: limit === null ? null : Math.max(0, limit - used),
    // Date.UTC counts months from 0, so this is the next month.
    resetsAt: toIso(Date.UTC(year, monthOfYear)),
  };
};

export const readUsage = async ({ reads, fill, clock }: Core, shop: Shop): Promise<Usage> => {
  const { rows } = await reads.executeQuery(fill(selectCounters('none'), { shopIds: [shop.id] }));
  return usageOf(rows[0], shop, clock.now());
};
