import type { Plan, SUBSCRIPTIONS } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import type { Trx } from '../db/types.ts';
import { newId } from '../lib/ids.ts';
import type { Core } from '../platform/core.ts';
import { type Shop, shopFrom } from './plans.ts';
import { lockShop } from './store.ts';

/** Limits that the operator sets. `null` means unlimited; absent means unchanged or, for a new shop, the plan's limit. */
export interface BillingChange {
  allowance?: number | null;
  usageCap?: number | null;
}

/** Setting a limit also sets how the shop is billed. */
const billingColumns = ({ allowance, usageCap }: BillingChange) => {
  if (allowance !== undefined) return { billing: 'ALLOWANCE', allowance, usage_cap: null };
  if (usageCap !== undefined) return { billing: 'USAGE', allowance: null, usage_cap: usageCap };
  return {};
};

const auditFields = ({ plan, active, billing, secondFactorRequired }: Shop) => ({
  plan,
  subscription: active ? 'active' : 'inactive',
  billing: billing.kind,
  limit: billing.limit,
  secondFactorRequired,
});

export type NewShop = { name: string; plan: Plan } & BillingChange;
export interface ShopChange extends BillingChange {
  plan?: Plan;
  subscription?: (typeof SUBSCRIPTIONS)[number];
  secondFactorRequired?: boolean;
}

export const createShop = (ctx: Core, actor: Actor, shop: NewShop): Promise<Shop> =>
  ctx.db.transaction().execute((trx) => addShop(trx, actor, ctx.clock.now(), shop));

export const addShop = async (trx: Trx, actor: Actor, at: number, { name, plan, ...billing }: NewShop) => {
  const times = { created_at: at, updated_at: at };
  const row = await trx
    .insertInto('shops')
    .values({ id: newId(at), name, plan, subscription: 'active', ...billingColumns(billing), ...times })
    .returning(SHOP_COLUMNS)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('shop_counters')
    .values({ shop_id: row.id, last_number: 0, month: '', month_used: 0 })
    .execute();
  const shop = shopFrom(row);
  const { secondFactorRequired, ...data } = auditFields(shop);
  await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'SHOP_CREATED', data });
  return shop;
};

/** The change applies from the next request on. Returns null if there is no such shop. */
export const changeShop = (ctx: Core, actor: Actor, id: string, change: ShopChange) =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockShop(trx, id);
    if (!before) return null;
    const at = ctx.clock.now();
    const { plan, subscription, secondFactorRequired = before.secondFactorRequired, ...billing } = change;
    const factor_required = secondFactorRequired ? 1 : 0;
    const row = await trx
      .updateTable('shops')
      .set({ plan, subscription, factor_required, ...billingColumns(billing), updated_at: at })
      .where('id', '=', id)
      .returning(SHOP_COLUMNS)
      .executeTakeFirstOrThrow();
    const after = shopFrom(row);
    const data = changesBetween(auditFields(before), auditFields(after));
    if (data) await recordAudit(trx, { ...aboutShop(after), at, actor, action: 'SHOP_CHANGED', data });
    return after;
  });
