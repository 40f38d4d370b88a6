import type { ReplaceShopSettings, ShopSettings } from '../../contract/shop-settings.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db, Trx } from '../db/database.ts';
import { type Row, SETTINGS_COLUMNS } from '../db/schema.ts';
import { parseJsonColumn } from '../lib/json.ts';
import type { Context } from '../service/context.ts';
import type { Caller, Shop } from './plans.ts';
import { lockShop } from './store.ts';

const find = (db: Db, shopId: string): Promise<Row<'shop_settings'> | undefined> =>
  db.selectFrom('shop_settings').select(SETTINGS_COLUMNS).where('shop_id', '=', shopId).executeTakeFirst();

/** A shop that never set anything has no row. */
const viewSettings = ({ name }: Shop, row: Row<'shop_settings'> | undefined): ShopSettings => ({
  shopName: name,
  name: row?.name ?? null,
  address: row ? parseJsonColumn('address', row.address) : [],
  phone: row?.phone ?? null,
  email: row?.email ?? null,
  currency: row?.currency ?? null,
  timeZone: row?.time_zone ?? null,
  slipText: row?.slip_text ?? null,
  logo: row?.logo ?? null,
});

export const readShopSettings = async (ctx: Context, shop: Shop): Promise<ShopSettings> =>
  viewSettings(shop, await find(ctx.db, shop.id));

const AUDITED = ['name', 'address', 'phone', 'email', 'currency', 'timeZone', 'slipText'] as const;
const auditFields = ({ address, ...settings }: ReplaceShopSettings) => ({
  ...settings,
  address: address.join(', ') || null,
});

export const replaceShopSettings = (ctx: Context, { shop, actor }: Caller, wanted: ReplaceShopSettings) =>
  ctx.db.transaction().execute(async (trx) => {
    await lockShop(trx, shop.id);
    const before = viewSettings(shop, await find(trx, shop.id));
    const data = {
      ...changesBetween(auditFields(before), auditFields(wanted), AUDITED),
      // Of the logo only that it changed.
      ...(before.logo === wanted.logo ? {} : { logo: wanted.logo === null ? 'removed' : 'replaced' }),
    };
    if (Object.keys(data).length === 0) return before;
    const at = ctx.clock.now();
    await write(trx, shop.id, wanted, at);
    await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'SHOP_SETTINGS_CHANGED', data });
    return { shopName: shop.name, ...wanted };
  });

const write = async (trx: Trx, shopId: string, settings: ReplaceShopSettings, at: number): Promise<void> => {
  const { address, timeZone, slipText, ...same } = settings;
  const columns = {
    ...same,
    address: JSON.stringify(address),
    time_zone: timeZone,
    slip_text: slipText,
    updated_at: at,
  };
  await trx
    .insertInto('shop_settings')
    .values({ shop_id: shopId, ...columns })
    .onConflict((conflict) => conflict.column('shop_id').doUpdateSet(columns))
    .execute();
};
