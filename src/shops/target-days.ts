import type { TargetDays } from '../../contract/admin-work.ts';
import type { Actor } from '../../contract/common.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import { statement } from '../db/statements.ts';
import type { Context } from '../service/context.ts';
import { requireShop } from './store.ts';

// After how many days in a status a return is overdue: for each shop, as its Admins set it.

/** Days by status; a status without a target is missing. */
export type Targets = ReadonlyMap<string, number>;

const targetsOfShop = statement(({ db }, { shop }: { shop: string }) =>
  db.selectFrom('target_days').select(['status', 'days']).where('shop_id', '=', shop),
);

export const readTargets = async (ctx: Context, shop: string, db: Db = ctx.db): Promise<Targets> => {
  const { rows } = await db.executeQuery(ctx.fill(targetsOfShop, { shop }));
  return new Map(rows.map(({ status, days }) => [status, days]));
};

export const viewTargets = (targets: Targets): TargetDays => ({
  targets: [...targets]
    .map(([status, days]) => ({ status, days }) as TargetDays['targets'][number])
    .sort((one, other) => one.status.localeCompare(other.status)),
});

export const replaceTargets = (ctx: Context, actor: Actor, shopId: string, { targets }: TargetDays) =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await requireShop(trx, shopId);
    const before = await readTargets(ctx, shopId, trx);
    const after: Targets = new Map(targets.map(({ status, days }) => [status, days]));
    const statuses = [...new Set([...before.keys(), ...after.keys()])];
    const daysIn = (some: Targets) =>
      Object.fromEntries(statuses.map((status) => [status, some.get(status) ?? null]));
    const changes = changesBetween<Record<string, number | null>>(daysIn(before), daysIn(after), statuses);
    if (changes) {
      await trx.deleteFrom('target_days').where('shop_id', '=', shopId).execute();
      const rows = targets.map(({ status, days }) => ({ shop_id: shopId, status, days }));
      if (rows.length > 0) await trx.insertInto('target_days').values(rows).execute();
      const at = ctx.clock.now();
      await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'TARGET_DAYS_CHANGED', data: changes });
    }
    return viewTargets(after);
  });
