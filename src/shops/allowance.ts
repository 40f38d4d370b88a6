import { sql } from 'kysely';
import type { Base } from '../base.ts';
import { COUNTER_COLUMNS } from '../db/columns.ts';
import type { Db, Trx, Write } from '../db/database.ts';
import { change, statement, statementsBy } from '../db/statements.ts';
import type { Row } from '../db/tables.ts';
import { ServiceError } from '../errors.ts';
import { LIMIT_REFUSAL, type Shop } from './plans.ts';

/** The calendar month in UTC, as text that sorts. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

export type Counter = Row<'shop_counters'>;
export type Counters = Map<string, Counter>;

const lockingCounters = statementsBy((others: 'wait' | 'leave out') =>
  statement(({ db, oneOf }, { shopIds }: { shopIds: string[] }) =>
    db
      .selectFrom('shop_counters')
      .select(COUNTER_COLUMNS)
      .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
      .forUpdate()
      .$if(others === 'leave out', (query) => query.skipLocked()),
  ),
);

/**
 * Reads and locks the counters of these shops until the transaction ends: nobody else counts between our check and our
 * count, and a creation that fails is not counted. Counters that are locked elsewhere are waited for or left out.
 */
export const lockCounters = async (
  { fill }: Pick<Base, 'fill'>,
  trx: Trx,
  shopIds: string[],
  others: 'wait' | 'leave out',
): Promise<Counters> => {
  const { rows } = await trx.executeQuery(fill(lockingCounters(others), { shopIds }));
  return new Map(rows.map((row) => [row.shop_id, row]));
};

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

const updatingCounters = statement(({ rows }, { counters }: { counters: Counter[] }) => {
  const kept = rows(
    'kept',
    { shop_id: 'id', last_number: 'integer', month: 'text', month_used: 'integer' },
    counters,
  );
  return sql`
    update shop_counters set last_number = kept.last_number, month = kept.month, month_used = kept.month_used
    from ${kept} where shop_counters.shop_id = kept.shop_id`;
});

export const keepCounters = (counters: Counters): Write =>
  change(updatingCounters, { counters: [...counters.values()] });

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
