import type { Updateable } from 'kysely';
import type { Db, Trx } from '../db/database.ts';
import type { ShopTable } from '../db/schema.ts';
import { SHOP_COLUMNS } from '../db/schema.ts';
import { ServiceError } from '../errors.ts';
import { type Shop, shopFrom } from './plans.ts';

export const insertShop = async (
  trx: Trx,
  shop: { id: string; name: string; plan: string; createdAt: number } & BillingColumns,
): Promise<Shop> => {
  const { id, name, plan, createdAt, ...billing } = shop;
  const row = await trx
    .insertInto('shops')
    .values({
      id,
      name,
      plan,
      subscription: 'active',
      ...billing,
      created_at: createdAt,
      updated_at: createdAt,
    })
    .returning(SHOP_COLUMNS)
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('shop_counters')
    .values({ shop_id: id, last_number: 0, month: '', month_used: 0 })
    .execute();
  return shopFrom(row);
};

export interface BillingColumns {
  billing: string | null;
  allowance: number | null;
  usage_cap: number | null;
}

export const updateShop = async (trx: Trx, id: string, change: Updateable<ShopTable>): Promise<Shop> =>
  shopFrom(
    await trx
      .updateTable('shops')
      .set(change)
      .where('id', '=', id)
      .returning(SHOP_COLUMNS)
      .executeTakeFirstOrThrow(),
  );

const one = (db: Db, id: string) => db.selectFrom('shops').select(SHOP_COLUMNS).where('id', '=', id);

export const findShop = async (db: Db, id: string): Promise<Shop | null> => {
  const row = await one(db, id).executeTakeFirst();
  return row ? shopFrom(row) : null;
};

/** Reads and locks a shop until the transaction ends, so that changes of its settings happen one after another. */
export const lockShop = async (trx: Trx, id: string): Promise<Shop | null> => {
  const row = await one(trx, id).forUpdate().executeTakeFirst();
  return row ? shopFrom(row) : null;
};

export const requireShop = async (trx: Trx, id: string): Promise<Shop> => {
  const shop = await lockShop(trx, id);
  if (!shop) throw new ServiceError('NOT_FOUND', { message: 'There is no such shop.' });
  return shop;
};

/** A shop as the subject of an audit entry. */
export const aboutShop = ({ id, name }: Shop) => ({
  shopId: id,
  subject: { type: 'SHOP', id, name } as const,
});

export const listShops = async (db: Db): Promise<Shop[]> => {
  const rows = await db
    .selectFrom('shops')
    .select(SHOP_COLUMNS)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(shopFrom);
};

export const hasShops = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('shops').select('id').limit(1).executeTakeFirst()) !== undefined;
