import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { Plan, Shop, SUBSCRIPTIONS } from './plans.ts';
import { type BillingColumns, insertShop, updateShop } from './store.ts';

/** A figure the operator sets; `null` means without end, absent means as before (for a new shop: as the plan says). */
export interface BillingChange {
  allowance?: number | null;
  usageCap?: number | null;
}

/** Naming a figure also says how the shop is billed. */
const billingColumns = ({ allowance, usageCap }: BillingChange): BillingColumns | null => {
  if (allowance !== undefined) return { billing: 'ALLOWANCE', allowance, usage_cap: null };
  if (usageCap !== undefined) return { billing: 'USAGE', allowance: null, usage_cap: usageCap };
  return null;
};

const AS_THE_PLAN_SAYS: BillingColumns = { billing: null, allowance: null, usage_cap: null };

export const createShop = (
  ctx: Context,
  { name, plan, ...billing }: { name: string; plan: Plan } & BillingChange,
): Promise<Shop> => {
  const createdAt = ctx.clock.now();
  return ctx.db.transaction().execute((trx) =>
    insertShop(trx, {
      id: newId(createdAt),
      name,
      plan,
      createdAt,
      ...(billingColumns(billing) ?? AS_THE_PLAN_SAYS),
    }),
  );
};

export const changeShop = (
  ctx: Context,
  id: string,
  {
    plan,
    subscription,
    ...billing
  }: { plan?: Plan; subscription?: (typeof SUBSCRIPTIONS)[number] } & BillingChange,
): Promise<Shop | null> =>
  updateShop(ctx.db, id, {
    ...(plan ? { plan } : {}),
    ...(subscription ? { subscription } : {}),
    ...(billingColumns(billing) ?? {}),
    updated_at: ctx.clock.now(),
  });
