import { sql } from 'kysely';
import type { Db, Trx } from '../db/database.ts';
import { statement } from '../db/statements.ts';
import type { Base } from '../service/context.ts';

// A rule is an exact sku, or a prefix that ends in `*`. Case matters.

export interface Good {
  shop_id: string;
  sku: string;
}

export const selectDangerous = statement(
  ({ rows }, { goods }: { goods: Good[] }) =>
    // Compared as text, not with LIKE: `_` and `%` inside a sku are plain characters.
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

export const isGoodIn = (goods: Good[]): ((shopId: string, sku: string) => boolean) => {
  const names = new Set(goods.map(({ shop_id, sku }) => `${shop_id} ${sku}`));
  return (shopId, sku) => names.has(`${shopId} ${sku}`);
};

export const listRules = async (db: Db, shopId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('dangerous_goods')
    .select('pattern')
    .where('shop_id', '=', shopId)
    .orderBy('pattern')
    .execute();
  return rows.map((row) => row.pattern);
};

/** Rules as rows for a `from`: one statement, however many there are. */
const asRows = (ctx: Base, shopId: string, patterns: string[]) =>
  ctx.rows(
    'rule',
    { shop_id: 'id', pattern: 'text' },
    patterns.map((pattern) => ({ shop_id: shopId, pattern })),
  );

export const addRules = (ctx: Base, trx: Trx, shopId: string, patterns: string[]): Promise<unknown> =>
  sql`
    insert into dangerous_goods (shop_id, pattern)
    select rule.shop_id, rule.pattern from ${asRows(ctx, shopId, patterns)}`.execute(trx);

export const removeRules = (ctx: Base, trx: Trx, shopId: string, patterns: string[]): Promise<unknown> => {
  const rules = sql`select rule.pattern from ${asRows(ctx, shopId, patterns)}`;
  return sql`delete from dangerous_goods where shop_id = ${shopId} and pattern in (${rules})`.execute(trx);
};
