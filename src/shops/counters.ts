import { sql } from 'kysely';
import type { Trx, Write } from '../db/database.ts';
import { COUNTER_COLUMNS, type Row } from '../db/schema.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Context } from '../service/context.ts';

// One row per shop, which every change of one of its RMAs locks until the commit. It hands out numbers, positions in the event
// log and times, and counts the month's allowance, so all of them follow the order of the commits (ADR 0002).

export type Counter = Row<'shop_counters'>;

/** Of counters that another transaction has locked: `skip` finds none, `wait` waits for them, `none` reads them as they stand. */
export type Locking = 'skip' | 'wait' | 'none';

export const selectCounters = statementsBy((locking: Locking) =>
  statement(({ db, oneOf }, { shopIds }: { shopIds: string[] }) =>
    db
      .selectFrom('shop_counters')
      .select(COUNTER_COLUMNS)
      .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
      .$if(locking !== 'none', (query) => query.forUpdate())
      .$if(locking === 'skip', (query) => query.skipLocked()),
  ),
);

/** Until the transaction ends no RMA of the shop changes. */
export const lockCounter = async (
  { fill }: Pick<Context, 'fill'>,
  trx: Trx,
  shopId: string,
): Promise<void> => {
  await trx.executeQuery(fill(selectCounters('wait'), { shopIds: [shopId] }));
};

export const readCounter = async ({ reads, fill }: Context, shopId: string): Promise<Counter | undefined> =>
  (await reads.executeQuery(fill(selectCounters('none'), { shopIds: [shopId] }))).rows[0];

/** The time of the shop's next change: never before that of an earlier one, whatever the clocks say. */
export const nextTimestamp = (counter: Counter, nowMs: number): number => {
  counter.last_at = Math.max(nowMs, counter.last_at);
  return counter.last_at;
};

export const nextPosition = (counter: Counter): number => {
  counter.last_position += 1;
  return counter.last_position;
};

const COLUMNS = {
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
    from ${rows('kept', COLUMNS, counters)} where shop_counters.shop_id = kept.shop_id`,
);

export const saveCounters = (counters: Counter[]): Write => change(updatingCounters, { counters });
