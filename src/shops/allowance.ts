import type { Db, Trx } from '../db/database.ts';
import { ServiceError } from '../errors.ts';
import { LIMIT_REFUSAL, type Shop } from './plans.ts';

/** The calendar month in UTC, in a form that sorts. */
const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/**
 * Takes the shop's next RMA number and a place in this month's allowance, or refuses. One statement on one row: check
 * and count cannot come apart, and the row's lock holds until the creation commits, so a failed one gives its place back.
 * The month only moves forward, so a process whose clock lags over midnight cannot start the old month anew.
 */
export const takePlace = async (trx: Trx, shop: Shop, nowMs: number): Promise<number> => {
  const month = monthOf(nowMs);
  const { kind, limit } = shop.billing;
  const taken = await trx
    .updateTable('shop_counters')
    .set((eb) => ({
      last_number: eb('last_number', '+', eb.lit(1)),
      month_used: eb
        .case()
        .when('month', '<', month)
        .then(eb.lit(1))
        .else(eb('month_used', '+', eb.lit(1)))
        .end(),
      month: eb.case().when('month', '<', month).then(month).else(eb.ref('month')).end(),
    }))
    .where('shop_id', '=', shop.id)
    .where((eb) => {
      if (limit === null) return eb.lit(true);
      return limit > 0 ? eb.or([eb('month', '<', month), eb('month_used', '<', limit)]) : eb.lit(false);
    })
    .returning('last_number')
    .executeTakeFirst();
  if (!taken) throw new ServiceError(LIMIT_REFUSAL[kind]);
  return taken.last_number;
};

/** How many places of this month are taken. */
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
