import { sql } from 'kysely';
import type { Usage } from '../../contract/usage.ts';
import { columnsOf, type Row } from '../db/schema.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Trx, Write } from '../db/types.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { type Caller, LIMIT_ERRORS, type Shop } from './plans.ts';

// One row per shop, which every change of one of its returns locks until the commit. It assigns numbers, positions in the event
// feed and times, and counts the monthly allowance, so all of them follow the order of the commits (ADR 0002).

export type Counter = Row<'shop_counters'>;

/** What to do about counters that another transaction has locked: skip them, wait for them, or read them without a lock. */
export type Locking = 'skip' | 'wait' | 'none';

export const selectCounters = statementsBy((locking: Locking) =>
  statement(({ db, oneOf }, { shopIds }: { shopIds: string[] }) =>
    db
      .selectFrom('shop_counters')
      .select(columnsOf('shop_counters'))
      .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
      .$if(locking !== 'none', (query) => query.forUpdate())
      .$if(locking === 'skip', (query) => query.skipLocked()),
  ),
);

/** No return of the shop changes until the transaction ends. */
export const lockCounter = ({ fill }: Core, trx: Trx, shopId: string): Promise<unknown> =>
  trx.executeQuery(fill(selectCounters('wait'), { shopIds: [shopId] }));

/** The time of the shop's next change, which is never before that of an earlier one. */
export const nextTimestamp = (counter: Counter, nowMs: number): number => {
  counter.last_at = Math.max(nowMs, counter.last_at);
  return counter.last_at;
};

export const nextPosition = (counter: Counter): number => {
  counter.last_position += 1;
  return counter.last_position;
};

const COUNTER_COLUMNS = {
  shop_id: 'id',
  last_number: 'integer',
  month: 'text',
  month_used: 'integer',
  last_position: 'integer',
  last_at: 'integer',
} as const;

const updatingCounters = statement(
  ({ rows }, { counters }: { counters: Counter[] }) => sql`
    update shop_counters set last_number = kept.last_number, month = kept.month, month_used = kept.month_used,
      last_position = kept.last_position, last_at = kept.last_at
    from ${rows('kept', COUNTER_COLUMNS, counters)} where shop_counters.shop_id = kept.shop_id`,
);

export const saveCounters = (counters: Counter[]): Write => change(updatingCounters, { counters });

// --- the monthly allowance ---

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

/** Counts one return of this month's allowance and returns its number. At the limit it refuses API clients but never staff, since a customer is at the counter. */
export const consumeAllowance = (counter: Counter, { shop, actor }: Caller, nowMs: number): number => {
  const { kind, limit } = shop.billing;
  const { month, used } = monthOf(counter, nowMs);
  if (limit !== null && used >= limit && actor.type === 'API_CLIENT')
    throw new ServiceError(LIMIT_ERRORS[kind]);
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
    // Date.UTC counts months from 0, so this is the next month.
    resetsAt: toIso(Date.UTC(year, monthOfYear)),
  };
};

export const readUsage = async ({ reads, fill, clock }: Core, shop: Shop): Promise<Usage> => {
  const { rows } = await reads.executeQuery(fill(selectCounters('none'), { shopIds: [shop.id] }));
  return usageOf(rows[0], shop, clock.now());
};
