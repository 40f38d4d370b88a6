import type { SignInRules } from '../../contract/admin-access.ts';
import { recordAudit } from '../audit/store.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { Shop } from '../shops/plans.ts';
import { lockShop, updateShop } from '../shops/store.ts';

export const viewSignInRules = ({ secondFactorRequired }: Shop): SignInRules => ({ secondFactorRequired });

/** Counts from everybody's next request on. */
export const changeSignInRules = (
  ctx: Context,
  { shop, actor }: Caller,
  { secondFactorRequired }: SignInRules,
): Promise<SignInRules> =>
  ctx.db.transaction().execute(async (trx) => {
    const before = await lockShop(trx, shop.id);
    if (!before || before.secondFactorRequired === secondFactorRequired) return { secondFactorRequired };
    const at = ctx.clock.now();
    const after = await updateShop(trx, shop.id, {
      factor_required: secondFactorRequired ? 1 : 0,
      updated_at: at,
    });
    await recordAudit(trx, {
      shopId: shop.id,
      subject: { type: 'SHOP', id: shop.id, name: shop.name },
      at,
      actor,
      action: 'SHOP_CHANGED',
      data: { secondFactorRequired: { from: before.secondFactorRequired, to: secondFactorRequired } },
    });
    return viewSignInRules(after);
  });
