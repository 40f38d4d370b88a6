import type { Plan, SUBSCRIPTIONS } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import { changesBetween, recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import type { Trx } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Shop } from './plans.ts';
import { type BillingColumns, insertShop, lockShop, updateShop } from './store.ts';

/** Figures that the operator sets. `null` means unlimited; absent means unchanged (for a new shop: as the plan says). */
export interface BillingChange {
  allowance?: number | null;
  usageCap?: number | null;
}

/** Setting a figure also sets how the shop is billed. */
const billingColumns = ({ allowance, usageCap }: BillingChange): BillingColumns | null => {
  if (allowance !== undefined) return { billing: 'ALLOWANCE', allowance, usage_cap: null };
  if (usageCap !== undefined) return { billing: 'USAGE', allowance: null, usage_cap: usageCap };
  return null;
};

const AS_THE_PLAN_SAYS: BillingColumns = { billing: null, allowance: null, usage_cap: null };

const about = (shop: Shop) => ({
  shopId: shop.id,
  subject: { type: 'SHOP', id: shop.id, name: shop.name } as const,
});

/** What the audit log records of a shop. */
const auditFields = ({ plan, active, billing }: Shop) => ({
  plan,
  subscription: active ? 'active' : 'inactive',
  billing: billing.kind,
  limit: billing.limit,
});

type NewShop = { name: string; plan: Plan } & BillingChange;

export const createShop = (ctx: Context, actor: Actor, shop: NewShop): Promise<Shop> =>
  ctx.db.transaction().execute((trx) => addShop(trx, actor, ctx.clock.now(), shop));

/** The same inside a transaction, for callers that write more together with the shop. */
export const addShop = async (
  trx: Trx,
  actor: Actor,
  at: number,
  { name, plan, ...billing }: NewShop,
): Promise<Shop> => {
  const shop = await insertShop(trx, {
    id: newId(at),
    name,
    plan,
    createdAt: at,
    ...(billingColumns(billing) ?? AS_THE_PLAN_SAYS),
  });
  await recordAudit(trx, { ...about(shop), at, actor, action: 'SHOP_CREATED', data: auditFields(shop) });
  return shop;
};

export const changeShop = (
  ctx: Context,
  actor: Actor,
  id: string,
  {
    plan,
    subscription,
    ...billing
  }: { plan?: Plan; subscription?: (typeof SUBSCRIPTIONS)[number] } & BillingChange,
): Promise<Shop | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockShop(trx, id);
    if (!before) return null;
    const at = ctx.clock.now();
    const after = await updateShop(trx, id, {
      ...(plan ? { plan } : {}),
      ...(subscription ? { subscription } : {}),
      ...(billingColumns(billing) ?? {}),
      updated_at: at,
    });
    const data = changesBetween(auditFields(before), auditFields(after), [
      'plan',
      'subscription',
      'billing',
      'limit',
    ]);
    if (data) await recordAudit(trx, { ...about(after), at, actor, action: 'SHOP_CHANGED', data });
    return after;
  });
