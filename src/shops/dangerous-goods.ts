import { sql } from 'kysely';
import type { Actor } from '../../contract/common.ts';
import { recordShopAudit } from '../audit/store.ts';
import { statement } from '../db/statements.ts';
import type { Db, Trx } from '../db/types.ts';
import type { Core } from '../platform/core.ts';
import { ServiceError } from '../platform/errors.ts';
import { requireShop } from './store.ts';

// A rule is an exact SKU, or a prefix that ends in `*`. Rules are case-sensitive.

export interface Good {
  shop_id: string;
  sku: string;
}

export const selectDangerous = statement(
  ({ rows }, { goods }: { goods: Good[] }) =>
    // It compares text without LIKE, since `_` and `%` in a SKU are plain characters.
    sql<Good>`
      select good.shop_id, good.sku from ${rows('good', { shop_id: 'id', sku: 'text' }, goods)}
      where exists (
        select 1 from dangerous_goods as rule where rule.shop_id = good.shop_id and (
          rule.pattern = good.sku
          or rule.pattern like '%*'
            and substr(good.sku, 1, length(rule.pattern) - 1) = substr(rule.pattern, 1, length(rule.pattern) - 1)
        )
      )`,
);

export const listRules = async (db: Db, shopId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('dangerous_goods')
    .select('pattern')
    .where('shop_id', '=', shopId)
    .orderBy('pattern')
    .execute();
  return rows.map((row) => row.pattern);
};

/** It runs one statement, however many rules there are. */
export const addRules = (ctx: Core, trx: Trx, shopId: string, patterns: string[]): Promise<unknown> => {
  const rules = patterns.map((pattern) => ({ shop_id: shopId, pattern }));
  return sql`
    insert into dangerous_goods (shop_id, pattern)
    select rule.shop_id, rule.pattern
    from ${ctx.rows('rule', { shop_id: 'id', pattern: 'text' }, rules)}`.execute(trx);
};

export interface RuleChange {
  add?: string[];
  remove?: string[];
  replace?: string[];
}

/** Two lists of 1,000 rules would take 250 KB in each audit entry, for years. */
const NAMED_IN_AUDIT = 50;
const shortList = (name: 'added' | 'removed', rules: string[]) => ({
  [name]: rules.slice(0, NAMED_IN_AUDIT),
  ...(rules.length > NAMED_IN_AUDIT ? { [`${name}InAll`]: rules.length } : {}),
});

/** Changes the rules and returns the new ones. Removing a rule that does not exist fails the whole change. */
export const changeDangerousGoods = (ctx: Core, actor: Actor, shopId: string, change: RuleChange) =>
  ctx.db.transaction().execute(async (trx) => {
    const { add = [], remove = [], replace } = change;
    const shop = await requireShop(trx, shopId);
    const present = new Set(await listRules(trx, shopId));
    const wanted = new Set([...(replace ?? present), ...add]);
    for (const rule of remove)
      if (!wanted.delete(rule))
        throw new ServiceError('RULE_NOT_FOUND', { message: `The shop has no rule ${rule}.` });
    const added = [...wanted].filter((rule) => !present.has(rule));
    const removed = [...present].filter((rule) => !wanted.has(rule));
    if (added.length + removed.length === 0) return [...present];
    await trx.deleteFrom('dangerous_goods').where('shop_id', '=', shopId).execute();
    await addRules(ctx, trx, shopId, [...wanted]);
    await recordShopAudit(ctx, trx, { shop, actor }, 'DANGEROUS_GOODS_CHANGED', {
      ...shortList('added', added),
      ...shortList('removed', removed),
    });
    return listRules(trx, shopId);
  });
