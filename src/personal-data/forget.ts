import { sql } from 'kysely';
import { ERASABLE_STATUSES } from '../../contract/lifecycle.ts';
import type { Forgetting, ForgettingCount } from '../../contract/personal-data.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import { isLockTimeout } from '../db/database-errors.ts';
import type { Row } from '../db/schema.ts';
import { monthsBefore } from '../lib/time.ts';
import { from } from '../returns/store.ts';
import type { Context } from '../service/context.ts';
import { warning } from '../service/log.ts';
import type { Caller } from '../shops/plans.ts';
import { findShop, requireShop } from '../shops/store.ts';
import { eraseReturn } from './erase.ts';

// Months after a return ended the janitor erases it, where the shop's Admins have said so.

type Rule = Row<'forget_rules'>;
const NAMES = ['offlineRepairMonths', 'tradeReturnMonths'] as const;

const rulesOf = (shop_id: string, { offlineRepairMonths, tradeReturnMonths }: Forgetting): Rule[] => {
  const months = { offline_repairs: offlineRepairMonths, trade_returns: tradeReturnMonths };
  const rule = (kind: Rule['kind']) =>
    months[kind] === null ? [] : [{ shop_id, kind, months: months[kind] }];
  return [...rule('offline_repairs'), ...rule('trade_returns')];
};

const readRules = (db: Db) => db.selectFrom('forget_rules').select(['shop_id', 'kind', 'months']);

const read = async (db: Db, shopId: string): Promise<Forgetting> => {
  const rules = await readRules(db).where('shop_id', '=', shopId).execute();
  const monthsOf = (kind: Rule['kind']) => rules.find((rule) => rule.kind === kind)?.months ?? null;
  return { offlineRepairMonths: monthsOf('offline_repairs'), tradeReturnMonths: monthsOf('trade_returns') };
};

export const readForgetting = (ctx: Context, { shop }: Caller): Promise<Forgetting> => read(ctx.db, shop.id);

export const replaceForgetting = (ctx: Context, { shop, actor }: Caller, wanted: Forgetting) =>
  ctx.db.transaction().execute(async (trx) => {
    await requireShop(trx, shop.id);
    const data = changesBetween(await read(trx, shop.id), wanted, NAMES);
    if (!data) return wanted;
    await trx.deleteFrom('forget_rules').where('shop_id', '=', shop.id).execute();
    const rules = rulesOf(shop.id, wanted);
    if (rules.length > 0) await trx.insertInto('forget_rules').values(rules).execute();
    const at = ctx.clock.now();
    await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'FORGETTING_CHANGED', data });
    return wanted;
  });

/** Statuses are spelt as the index of forgettable returns spells them. */
const dueBy = (db: Db, { shop_id, kind, months }: Rule, nowMs: number) =>
  from(db, kind)
    .where('shop_id', '=', shop_id)
    .where('status_since', '<=', monthsBefore(nowMs, months))
    .where(sql<boolean>`erased_at is null and status in (${sql.join(ERASABLE_STATUSES[kind].map(sql.lit))})`);

/** How many returns these rules would erase now. */
export const countForgettable = async (
  ctx: Context,
  { shop }: Caller,
  wanted: Forgetting,
): Promise<ForgettingCount> => {
  const counts = { offline_repairs: 0, trade_returns: 0 };
  for (const rule of rulesOf(shop.id, wanted)) {
    const due = dueBy(ctx.scans, rule, ctx.clock.now()).select((eb) => eb.fn.countAll<number>().as('count'));
    counts[rule.kind] = (await due.executeTakeFirstOrThrow()).count;
  }
  return { offlineRepairs: counts.offline_repairs, tradeReturns: counts.trade_returns };
};

const ACTOR = { type: 'SYSTEM', id: null, name: 'Automatic erasure' } as const;

/** Of a shop and kind, before the next one has its turn. */
const ERASED_A_STEP = 200;

/** Erases some returns whose time has come, of each shop and kind; true when more may be due. One that fails stops no other. */
export const forgetEndedReturns = async (ctx: Context, nowMs: number): Promise<boolean> => {
  let erased = 0;
  for (const rule of await readRules(ctx.background).execute()) {
    const shop = await findShop(ctx.background, rule.shop_id);
    if (!shop) continue;
    const some = dueBy(ctx.background, rule, nowMs).select('id').orderBy('status_since');
    for (const { id } of await some.limit(sql.lit(ERASED_A_STEP)).execute())
      try {
        const which = { id, kind: rule.kind };
        const outcome = await eraseReturn(ctx, { shop, actor: ACTOR }, which, { includeOpen: false });
        // One about which a webhook waits is asked for again at the next sweep.
        if (outcome === 'ERASED') erased += 1;
      } catch (error) {
        warning(ctx.log, 'a return could not be erased; it will be tried again')(error);
        // Another transaction has locked the shop: its other returns would wait as long.
        if (isLockTimeout(error)) break;
      }
  }
  return erased > 0;
};
