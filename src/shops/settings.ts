import type { TargetDays } from '../../contract/admin-work.ts';
import type { Actor } from '../../contract/common.ts';
import type { ReplaceShopSettings, ShopSettings } from '../../contract/shop-settings.ts';
import { aboutShop, changesBetween, recordAudit } from '../audit/store.ts';
import type { Db } from '../db/database.ts';
import { type Row, SETTINGS_COLUMNS } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import { parseJsonColumn } from '../lib/json.ts';
import type { Context } from '../service/context.ts';
import type { Caller, Shop } from './plans.ts';
import { lockShop, requireShop } from './store.ts';

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
    const { address, timeZone, slipText, ...same } = wanted;
    const columns = {
      ...same,
      address: JSON.stringify(address),
      time_zone: timeZone,
      slip_text: slipText,
      updated_at: at,
    };
    await trx
      .insertInto('shop_settings')
      .values({ shop_id: shop.id, ...columns })
      .onConflict((conflict) => conflict.column('shop_id').doUpdateSet(columns))
      .execute();
    await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'SHOP_SETTINGS_CHANGED', data });
    return { shopName: shop.name, ...wanted };
  });

// After how many days in a status a return is overdue: for each shop, as its Admins set it.

/** Days by status; a status without a target is missing. */
export type Targets = ReadonlyMap<string, number>;

const targetsOfShop = statement(({ db }, { shop }: { shop: string }) =>
  db.selectFrom('target_days').select(['status', 'days']).where('shop_id', '=', shop),
);

export const readTargets = async (ctx: Context, shop: string, db: Db = ctx.db): Promise<Targets> => {
  const { rows } = await db.executeQuery(ctx.fill(targetsOfShop, { shop }));
  return new Map(rows.map(({ status, days }) => [status, days]));
};

export const viewTargets = (targets: Targets): TargetDays => ({
  targets: [...targets]
    .map(([status, days]) => ({ status, days }) as TargetDays['targets'][number])
    .sort((one, other) => one.status.localeCompare(other.status)),
});

export const replaceTargets = (ctx: Context, actor: Actor, shopId: string, { targets }: TargetDays) =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await requireShop(trx, shopId);
    const before = await readTargets(ctx, shopId, trx);
    const after: Targets = new Map(targets.map(({ status, days }) => [status, days]));
    const statuses = [...new Set([...before.keys(), ...after.keys()])];
    const daysIn = (some: Targets) =>
      Object.fromEntries(statuses.map((status) => [status, some.get(status) ?? null]));
    const changes = changesBetween<Record<string, number | null>>(daysIn(before), daysIn(after), statuses);
    if (changes) {
      await trx.deleteFrom('target_days').where('shop_id', '=', shopId).execute();
      const rows = targets.map(({ status, days }) => ({ shop_id: shopId, status, days }));
      if (rows.length > 0) await trx.insertInto('target_days').values(rows).execute();
      const at = ctx.clock.now();
      await recordAudit(trx, { ...aboutShop(shop), at, actor, action: 'TARGET_DAYS_CHANGED', data: changes });
    }
    return viewTargets(after);
  });
