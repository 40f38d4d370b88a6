import type { SignInRules } from '../../contract/admin-access.ts';
import type { Plan, SUBSCRIPTIONS } from '../../contract/admin-people.ts';
import type { Actor } from '../../contract/common.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Trx } from '../db/database.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import { newId } from '../lib/ids.ts';
import type { Context } from '../service/context.ts';
import { type Caller, type Shop, shopFrom } from './plans.ts';
import { lockShop, updateShop } from './store.ts';

/** Figures that the operator sets. `null` means unlimited; absent means unchanged (for a new shop: as the plan says). */
export interface BillingChange {
  allowance?: number | null;
  usageCap?: number | null;
}

/** Setting a figure also sets how the shop is billed. */
const billingColumns = ({ allowance, usageCap }: BillingChange) => {
  if (allowance !== undefined) return { billing: 'ALLOWANCE', allowance, usage_cap: null };
  if (usageCap !== undefined) return { billing: 'USAGE', allowance: null, usage_cap: usageCap };
  return {};
};

const auditFields = ({ plan, active, billing }: Shop) => ({
  plan,
  subscription: active ? 'active' : 'inactive',
  billing: billing.kind,
  limit: billing.limit,
});

export type NewShop = { name: string; plan: Plan } & BillingChange;
export type ShopChange = { plan?: Plan; subscription?: (typeof SUBSCRIPTIONS)[number] } & BillingChange;

export const createShop = (ctx: Context, actor: Actor, shop: NewShop): Promise<Shop> =>
  ctx.db.transaction().execute((trx) => addShop(trx, actor, ctx.clock.now(), shop));

/** The same inside a transaction, for callers that write more together with the shop. */
export const addShop = async (
  trx: Trx,
  actor: Actor,
  at: number,
  { name, plan, ...billing }: NewShop,
): Promise<Shop> => {
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
  await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'SHOP_CREATED', data: auditFields(shop) });
  return shop;
};

export const changeShop = (
  ctx: Context,
  actor: Actor,
  id: string,
  { plan, subscription, ...billing }: ShopChange,
): Promise<Shop | null> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockShop(trx, id);
    if (!before) return null;
    const at = ctx.clock.now();
    const after = await updateShop(trx, id, {
      ...(plan ? { plan } : {}),
      ...(subscription ? { subscription } : {}),
      ...billingColumns(billing),
      updated_at: at,
    });
    const fields = ['plan', 'subscription', 'billing', 'limit'] as const;
    const data = changesBetween(auditFields(before), auditFields(after), fields);
    if (data) await recordAudit(trx, { ...aboutShop(after), at, actor, action: 'SHOP_CHANGED', data });
    return after;
  });

export const viewSignInRules = ({ secondFactorRequired }: Shop): SignInRules => ({ secondFactorRequired });

/** Applies from each person's next request on. */
export const changeSignInRules = (ctx: Context, { shop, actor }: Caller, rules: SignInRules) =>
  ctx.db.transaction().execute(async (trx) => {
    const { secondFactorRequired } = rules;
    const before = await lockShop(trx, shop.id);
    if (!before || before.secondFactorRequired === secondFactorRequired) return rules;
    const at = ctx.clock.now();
    const after = await updateShop(trx, shop.id, {
      factor_required: secondFactorRequired ? 1 : 0,
      updated_at: at,
    });
    const data = { secondFactorRequired: { from: before.secondFactorRequired, to: secondFactorRequired } };
    await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'SHOP_CHANGED', data });
    return viewSignInRules(after);
  });
