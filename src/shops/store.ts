import { SHOP_COLUMNS } from '../db/schema.ts';
import type { Db, Trx } from '../db/types.ts';
import { ServiceError } from '../platform/errors.ts';
import { type Shop, shopFrom } from './plans.ts';

/** The `subscription` of a shop that is being deleted. Such a shop is not found any more. */
export const DELETING = 'deleting';

const shopsIn = (db: Db) => db.selectFrom('shops').select(SHOP_COLUMNS).where('subscription', '<>', DELETING);

export const findShop = async (db: Db, id: string): Promise<Shop | null> => {
  const row = await shopsIn(db).where('id', '=', id).executeTakeFirst();
  return row ? shopFrom(row) : null;
};

/** Reads and locks a shop until the transaction ends, so that changes of its settings are serialised. */
export const lockShop = async (trx: Trx, id: string): Promise<Shop | null> => {
  const row = await shopsIn(trx).where('id', '=', id).forUpdate().executeTakeFirst();
  return row ? shopFrom(row) : null;
};

export const requireShop = async (trx: Trx, id: string): Promise<Shop> => {
  const shop = await lockShop(trx, id);
  if (!shop) throw new ServiceError('NOT_FOUND', { message: 'There is no such shop.' });
  return shop;
};

export const listShops = async (db: Db): Promise<Shop[]> => {
  const rows = await shopsIn(db).orderBy('created_at').orderBy('id').execute();
  return rows.map(shopFrom);
};

export const hasShops = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('shops').select('id').limit(1).executeTakeFirst()) !== undefined;
