import { type ExpressionBuilder, sql } from 'kysely';
import type { Db, Trx } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';

// A rule is an exact sku, or a prefix that ends in `*`; upper and lower case differ.

/** For an insert: 1 where one of the shop's rules fits the sku, else 0. */
export const isDangerous = (eb: ExpressionBuilder<Tables, never>, shopId: string, sku: string) =>
  eb
    .case()
    .when(
      eb.exists(
        eb
          .selectFrom('dangerous_goods')
          .select(eb.lit(1).as('one'))
          .where('shop_id', '=', shopId)
          .where((rule) =>
            rule.or([
              rule('pattern', '=', sku),
              rule.and([
                rule('pattern', 'like', '%*'),
                // A prefix and nothing more: `_` and `%` inside a sku are plain characters.
                sql<boolean>`substr(cast(${sku} as text), 1, length(pattern) - 1) = substr(pattern, 1, length(pattern) - 1)`,
              ]),
            ]),
          ),
      ),
    )
    .then(eb.lit(1))
    .else(eb.lit(0))
    .end();

export const listRules = async (db: Db, shopId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('dangerous_goods')
    .select('pattern')
    .where('shop_id', '=', shopId)
    .orderBy('pattern')
    .execute();
  return rows.map((row) => row.pattern);
};

export const addRule = async (db: Db | Trx, shopId: string, pattern: string): Promise<void> => {
  await db
    .insertInto('dangerous_goods')
    .values({ shop_id: shopId, pattern })
    .onConflict((conflict) => conflict.columns(['shop_id', 'pattern']).doNothing())
    .execute();
};

export const removeRule = async (db: Db | Trx, shopId: string, pattern: string): Promise<boolean> => {
  const { numDeletedRows } = await db
    .deleteFrom('dangerous_goods')
    .where('shop_id', '=', shopId)
    .where('pattern', '=', pattern)
    .executeTakeFirst();
  return numDeletedRows > 0n;
};
