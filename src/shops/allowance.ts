import type { Usage } from '../../contract/usage.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { type Counter, readCounter } from './counters.ts';
import { LIMIT_ERRORS, type Shop } from './plans.ts';

type Used = Pick<Counter, 'month' | 'month_used'>;
const UNUSED: Used = { month: '', month_used: 0 };

/** No two clocks are further apart, also where one was set back by an hour (docs/contract.md). */
const APART_MS = 2 * 60 * 60_000;

/** The calendar month in UTC, as text that sorts. */
const monthAt = (ms: number): string => toIso(ms).slice(0, 7);

/** Whether a clock that was wrong wrote this month. */
export const isAhead = (month: string, nowMs: number): boolean => month > monthAt(nowMs + APART_MS);

/** Months only move forward: a slow clock at midnight cannot restart the old one. One further ahead than it can be is read as this month. */
const monthOf = ({ month, month_used }: Used, nowMs: number) => {
  const now = monthAt(nowMs);
  if (month < now) return { month: now, used: 0 };
  return { month: isAhead(month, nowMs) ? now : month, used: month_used };
};

/** Counts one RMA of this month's allowance, or refuses it. Returns its number. */
export const consumeAllowance = (counter: Counter, shop: Shop, nowMs: number): number => {
  const { kind, limit } = shop.billing;
  const { month, used } = monthOf(counter, nowMs);
  if (limit !== null && used >= limit) throw new ServiceError(LIMIT_ERRORS[kind]);
  counter.month = month;
  counter.month_used = used + 1;
  counter.last_number += 1;
  return counter.last_number;
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
    // Date.UTC counts months from 0: this is the month after.
    resetsAt: toIso(Date.UTC(year, monthOfYear)),
  };
};

export const readUsage = async (ctx: Context, shop: Shop): Promise<Usage> =>
  usageOf(await readCounter(ctx, shop.id), shop, ctx.clock.now());
