import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { ERASABLE_STATUSES } from '../../contract/lifecycle.ts';
import type { Forgetting, ForgettingCount } from '../../contract/personal-data.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import type { ReturnTable } from '../db/schema.ts';
import { monthsBefore } from '../lib/time.ts';
import { from } from '../returns/store.ts';
import type { Context } from '../service/context.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop, requireShop } from '../shops/store.ts';
import { ERASED_AT_ONCE, eraseReturns } from './erase.ts';

// Months after a return ended the janitor erases it, where the shop's Admins have said so.

const FIELDS = {
  offlineRepairMonths: 'offline_repairs',
  tradeReturnMonths: 'trade_returns',
} as const satisfies Record<keyof Forgetting, ReturnTable>;
type Field = keyof typeof FIELDS;
const NAMES = Object.keys(FIELDS) as Field[];

const read = async (db: Db, shopId: string): Promise<Forgetting> => {
  const rules = await db
    .selectFrom('forget_rules')
    .select(['kind', 'months'])
    .where('shop_id', '=', shopId)
    .execute();
  const monthsOf = (field: Field) => rules.find(({ kind }) => kind === FIELDS[field])?.months ?? null;
  return {
    offlineRepairMonths: monthsOf('offlineRepairMonths'),
    tradeReturnMonths: monthsOf('tradeReturnMonths'),
  };
};

export const readForgetting = (ctx: Context, { shop }: Caller): Promise<Forgetting> => read(ctx.db, shop.id);

export const replaceForgetting = (ctx: Context, { shop, actor }: Caller, wanted: Forgetting) =>
  ctx.db.transaction().execute(async (trx) => {
    await requireShop(trx, shop.id);
    const data = changesBetween(await read(trx, shop.id), wanted, NAMES);
    if (!data) return wanted;
    await trx.deleteFrom('forget_rules').where('shop_id', '=', shop.id).execute();
    const rules = NAMES.flatMap((field) => {
      const months = wanted[field];
      return months === null ? [] : { shop_id: shop.id, kind: FIELDS[field], months };
    });
    if (rules.length > 0) await trx.insertInto('forget_rules').values(rules).execute();
    const at = ctx.clock.now();
    await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'FORGETTING_CHANGED', data });
    return wanted;
  });

/** As the index of forgettable returns spells it. */
const IS_ENDED: Record<ReturnTable, string> = {
  offline_repairs: `status in ('${ERASABLE_STATUSES.offline_repairs.join("', '")}')`,
  trade_returns: `status in ('${ERASABLE_STATUSES.trade_returns.join("', '")}')`,
};

const dueBy = (db: Db, shopId: string, table: ReturnTable, before: number) =>
  from(db, table)
    .where('shop_id', '=', shopId)
    .where('status_since', '<=', before)
    .where(sql<boolean>`erased_at is null and ${sql.raw(IS_ENDED[table])}`);

/** How many returns these rules would erase now. */
export const countForgettable = async (
  ctx: Context,
  { shop }: Caller,
  wanted: Forgetting,
): Promise<ForgettingCount> => {
  const countOf = async (field: Field): Promise<number> => {
    const months = wanted[field];
    if (months === null) return 0;
    const due = dueBy(ctx.scans, shop.id, FIELDS[field], monthsBefore(ctx.clock.now(), months));
    return (await due.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;
  };
  return {
    offlineRepairs: await countOf('offlineRepairMonths'),
    tradeReturns: await countOf('tradeReturnMonths'),
  };
};

const ACTOR = { type: 'SYSTEM', id: null, name: 'Automatic erasure' } as const;

/** Of a shop and kind, before the next one has its turn. */
const BATCHES_A_STEP = 20;

/** Erases some returns whose time has come, of each shop and kind; true when more may be due. */
export const forgetEndedReturns = async (ctx: Context, nowMs: number): Promise<boolean> => {
  const rules = await ctx.background
    .selectFrom('forget_rules')
    .select(['shop_id', 'kind', 'months'])
    .execute();
  let erased = 0;
  let isMoreDue = false;
  for (const { shop_id, kind, months } of rules) {
    const before = monthsBefore(nowMs, months);
    for (let batch = 1, isMore = true; isMore && batch <= BATCHES_A_STEP; batch++) {
      const count = await forgetBatch(ctx, shop_id, kind, before);
      erased += count;
      // Where a webhook about each of them waits, they are asked for again at the next sweep.
      isMore = count > 0;
      if (isMore && batch === BATCHES_A_STEP) isMoreDue = true;
    }
    await nextTurn();
  }
  if (erased > 0) await ctx.scrub();
  return isMoreDue;
};

/** Returns how many were erased. */
const forgetBatch = async (
  ctx: Context,
  shopId: string,
  table: ReturnTable,
  before: number,
): Promise<number> => {
  const due = await dueBy(ctx.background, shopId, table, before)
    .select('id')
    .orderBy('status_since')
    .limit(sql.lit(ERASED_AT_ONCE))
    .execute();
  const shop = due.length > 0 ? await findShop(ctx.background, shopId) : null;
  if (!shop) return 0;
  const ids = due.map(({ id }) => id);
  const { erased } = await eraseReturns(ctx, { shop, actor: ACTOR }, ids, { includeOpen: false });
  return erased.length;
};
