import { sql } from 'kysely';
import type { StoreList } from '../../contract/admin-returns.ts';
import type { Context } from '../context.ts';
import { statement } from '../db/statements.ts';
import { isOpen } from '../rma/open.ts';

const MOST_STORES = 500;

/** From one index alone, store by store. */
const storesOfShop = statement(({ db }, { shop }: { shop: string }) => {
  const open = sql<number>`sum(case when ${isOpen('offline_repairs')} then 1 else 0 end)`;
  return db
    .selectFrom('offline_repairs')
    .select(['store_id', open.as('open')])
    .where('shop_id', '=', shop)
    .groupBy('store_id')
    .orderBy('open', 'desc')
    .orderBy('store_id')
    .limit(sql.lit(MOST_STORES));
});

/** Where the shop's repairs were handed in, and how many of each are open. */
export const listStores = async ({ scans, fill }: Context, shopId: string): Promise<StoreList> => {
  const { rows } = await scans.executeQuery(fill(storesOfShop, { shop: shopId }));
  return { items: rows.map(({ store_id, open }) => ({ storeId: store_id, open: Number(open) })) };
};
