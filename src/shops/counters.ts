import { sql } from 'kysely';
import { columnsOf, type Row } from '../db/schema.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Trx, Write } from '../db/types.ts';
import type { Core } from '../platform/core.ts';

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

export const nextNumber = (counter: Counter): number => {
  counter.last_number += 1;
  return counter.last_number;
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
