import { type ExpressionBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
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

/** Rules as rows, to stand in a `from`: however many they are, it is one statement. */
const asRows = (ctx: Pick<Context, 'rows'>, shopId: string, patterns: string[]) =>
  ctx.rows(
    'rule',
    { shop_id: 'id', pattern: 'text' },
    patterns.map((pattern) => ({ shop_id: shopId, pattern })),
  );

export const addRules = async (
  ctx: Pick<Context, 'rows'>,
  trx: Trx,
  shopId: string,
  patterns: string[],
): Promise<void> => {
  await sql`
    insert into dangerous_goods (shop_id, pattern)
    select rule.shop_id, rule.pattern from ${asRows(ctx, shopId, patterns)}`.execute(trx);
};

export const removeRules = async (
  ctx: Pick<Context, 'rows'>,
  trx: Trx,
  shopId: string,
  patterns: string[],
): Promise<void> => {
  await sql`
    delete from dangerous_goods
    where shop_id = ${shopId} and pattern in (select rule.pattern from ${asRows(ctx, shopId, patterns)})`.execute(
    trx,
  );
};
