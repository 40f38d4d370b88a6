import type { Actor } from '../../contract/common.ts';
import { recordAudit } from '../audit/store.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { addRules, listRules, removeRules } from './dangerous-goods.ts';
import { lockShop } from './store.ts';

/** Computes the shop's new rules from the current ones and writes the difference. Returns the new rules. */
const updateRules = (
  ctx: Context,
  actor: Actor,
  shopId: string,
  next: (present: Set<string>) => Set<string>,
): Promise<string[]> =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await lockShop(trx, shopId);
    if (!shop) throw new ServiceError('NOT_FOUND', { message: 'There is no such shop.' });
    const present = new Set(await listRules(trx, shopId));
    const wanted = next(present);
    const added = [...wanted].filter((rule) => !present.has(rule));
    const removed = [...present].filter((rule) => !wanted.has(rule));
    if (added.length + removed.length > 0) {
      await removeRules(ctx, trx, shopId, removed);
      await addRules(ctx, trx, shopId, added);
      await recordAudit(trx, {
        shopId,
        at: ctx.clock.now(),
        actor,
        action: 'DANGEROUS_GOODS_CHANGED',
        subject: { type: 'SHOP', id: shopId, name: shop.name },
        data: { added, removed },
      });
    }
    return listRules(trx, shopId);
  });

/** All or nothing: removing a rule that does not exist refuses the whole change. */
export const changeDangerousGoods = (
  ctx: Context,
  actor: Actor,
  shopId: string,
  { add, remove }: { add: string[]; remove: string[] },
): Promise<string[]> =>
  updateRules(ctx, actor, shopId, (present) => {
    const wanted = new Set([...present, ...add]);
    for (const rule of remove)
      if (!wanted.delete(rule))
        throw new ServiceError('RULE_NOT_FOUND', { message: `The shop has no rule ${rule}.` });
    return wanted;
  });

export const replaceDangerousGoods = (
  ctx: Context,
  actor: Actor,
  shopId: string,
  rules: string[],
): Promise<string[]> => updateRules(ctx, actor, shopId, () => new Set(rules));
