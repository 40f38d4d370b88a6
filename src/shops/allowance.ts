import type { Db } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import type { Counter } from './counters.ts';
import { LIMIT_REFUSAL, type Shop } from './plans.ts';

/** The calendar month in UTC, as text that sorts. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/**
 * Takes the shop's next RMA number and one of this month's allowance, or refuses. The month only moves forward, so a
 * process whose clock is slow at midnight cannot restart the old month.
 */
export const takePlace = (counter: Counter, { billing: { kind, limit } }: Shop, nowMs: number): number => {
  const month = monthOf(nowMs);
  const used = counter.month < month ? 0 : counter.month_used;
  if (limit !== null && used >= limit) throw new ServiceError(LIMIT_REFUSAL[kind]);
  if (counter.month < month) counter.month = month;
  counter.month_used = used + 1;
  counter.last_number += 1;
  return counter.last_number;
};

/** How much of this month's allowance is used. */
export const monthUsed = async (
  db: Db,
  shopId: string,
  nowMs: number,
): Promise<{ month: string; used: number }> => {
  const month = monthOf(nowMs);
  const counter = await db
    .selectFrom('shop_counters')
    .select('month_used')
    .where('shop_id', '=', shopId)
    .where('month', '=', month)
    .executeTakeFirst();
  return { month, used: counter?.month_used ?? 0 };
};
