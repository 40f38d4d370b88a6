import { sql } from 'kysely';
import type { Base } from '../base.ts';
import type { Trx, Write } from '../db/database.ts';
import type { Row } from '../db/schema.ts';
import { COUNTER_COLUMNS } from '../db/schema.ts';
import { change, type Engine, statement, statementsBy } from '../db/statements.ts';

// One row per shop, which whoever changes an RMA of the shop holds until the commit. It hands out numbers, places in the
// allowance, positions in the event log and times, so all of them follow the order of the commits (decision 143). Whoever
// also locks an RMA does that first.

export type Counter = Row<'shop_counters'>;
export type Counters = Map<string, Counter>;

const countersOf = ({ db, oneOf }: Engine, { shopIds }: { shopIds: string[] }) =>
  db
    .selectFrom('shop_counters')
    .select(COUNTER_COLUMNS)
    .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`);

const readingCounters = statement(countersOf);
const lockingCounters = statementsBy((others: 'wait' | 'leave out') =>
  statement((engine, params: { shopIds: string[] }) =>
    countersOf(engine, params)
      .forUpdate()
      .$if(others === 'leave out', (query) => query.skipLocked()),
  ),
);

const byShop = (rows: Counter[]): Counters => new Map(rows.map((row) => [row.shop_id, row]));

/**
 * Reads and locks the counters of these shops until the transaction ends: nobody else counts between our check and our
 * count, and what fails is not counted. Counters that are locked elsewhere are waited for or left out.
 */
export const lockCounters = async (
  { fill }: Pick<Base, 'fill'>,
  trx: Trx,
  shopIds: string[],
  others: 'wait' | 'leave out',
): Promise<Counters> => {
  const { rows } = await trx.executeQuery(fill(lockingCounters(others), { shopIds }));
  return byShop(rows);
};

/** The counters as they stand, for whoever only asks. Waits for nobody. */
export const readCounters = async (
  { reads, fill }: Pick<Base, 'reads' | 'fill'>,
  shopIds: string[],
): Promise<Counters> => byShop((await reads.executeQuery(fill(readingCounters, { shopIds }))).rows);

/** The time of the shop's next change: never before that of an earlier one, whatever the clocks say. */
export const takeInstant = (counter: Counter, nowMs: number): number => {
  counter.last_at = Math.max(nowMs, counter.last_at);
  return counter.last_at;
};

/** The position of the shop's next event. */
export const takePosition = (counter: Counter): number => {
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

export const keepCounters = (counters: Counter[]): Write => change(updatingCounters, { counters });
