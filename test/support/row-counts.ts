import type { Context } from '../../src/service/context.ts';

export interface RowCounts {
  repairs: number;
  returns: number;
  timeline: number;
  keys: number;
  used: number;
}

export const NO_ROWS: RowCounts = { repairs: 0, returns: 0, timeline: 0, keys: 0, used: 0 };

/** How many rows of all shops there are of what requests write. */
export const countRows = async ({ db }: Context): Promise<RowCounts> => {
  const count = (table: 'offline_repairs' | 'trade_returns' | 'timeline' | 'idempotency_keys') =>
    db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows'));
  const counts = await db
    .selectNoFrom([
      count('offline_repairs').as('repairs'),
      count('trade_returns').as('returns'),
      count('timeline').as('timeline'),
      count('idempotency_keys').as('keys'),
      db
        .selectFrom('shop_counters')
        .select((eb) => eb.fn.sum<number | string>('month_used').as('used'))
        .as('used'),
    ])
    .executeTakeFirstOrThrow();
  return {
    repairs: Number(counts.repairs),
    returns: Number(counts.returns),
    timeline: Number(counts.timeline),
    keys: Number(counts.keys),
    used: Number(counts.used),
  };
};
