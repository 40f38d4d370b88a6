import type { TargetDays } from '../../contract/admin-work.ts';
import type { Actor } from '../../contract/common.ts';
import { ReplaceShopSettings, type ShopSettings } from '../../contract/shop-settings.ts';
import { changesBetween, recordShopAudit } from '../audit/store.ts';
import { statement } from '../db/statements.ts';
import type { Db } from '../db/types.ts';
import { parseJsonColumn } from '../lib/json.ts';
import type { Core } from '../platform/core.ts';
import type { Caller, Shop } from './plans.ts';
import { lockShop, requireShop } from './store.ts';

/** A shop that never changed its settings has no row. */
const DEFAULT_SETTINGS = ReplaceShopSettings.parse({});

export const readShopSettings = async (db: Db, { id, name: shopName }: Shop): Promise<ShopSettings> => {
  const row = await db
    .selectFrom('shop_settings')
    .select(['name', 'address', 'phone', 'email', 'currency', 'logo'])
    .select(['time_zone as timeZone', 'slip_text as slipText'])
    .where('shop_id', '=', id)
    .executeTakeFirst();
  const set = row && { ...row, address: parseJsonColumn('address', row.address) };
  return { shopName, ...(set ?? DEFAULT_SETTINGS) };
};

/** For the logo, the audit log only says that it changed. */
const auditedSettings = ({ address, logo: _, ...settings }: ReplaceShopSettings) => ({
  ...settings,
  address: address.join(', ') || null,
});

export const replaceShopSettings = (ctx: Core, { shop, actor }: Caller, wanted: ReplaceShopSettings) =>
  ctx.db.transaction().execute(async (trx) => {
    await lockShop(trx, shop.id);
    const before = await readShopSettings(trx, shop);
    const data = {
      ...changesBetween(auditedSettings(before), auditedSettings(wanted)),
      ...(before.logo === wanted.logo ? {} : { logo: wanted.logo === null ? 'removed' : 'replaced' }),
    };
    if (Object.keys(data).length === 0) return before;
    const { address, timeZone, slipText, ...same } = wanted;
    const columns = {
      ...same,
      address: JSON.stringify(address),
      time_zone: timeZone,
      slip_text: slipText,
      updated_at: ctx.clock.now(),
    };
    await trx
      .insertInto('shop_settings')
      .values({ shop_id: shop.id, ...columns })
      .onConflict((conflict) => conflict.column('shop_id').doUpdateSet(columns))
      .execute();
    await recordShopAudit(ctx, trx, { shop, actor }, 'SHOP_SETTINGS_CHANGED', data);
    return { shopName: shop.name, ...wanted };
  });

// The number of days in a status after which a return is overdue, set by the Admins of each shop.

/** Days by status; a status without a target is missing. */
export type Targets = ReadonlyMap<string, number>;

const targetsOfShop = statement(({ db }, { shop }: { shop: string }) =>
  db.selectFrom('target_days').select(['status', 'days']).where('shop_id', '=', shop),
);

export const readTargets = async (ctx: Core, shop: string, db: Db = ctx.db): Promise<Targets> => {
  const { rows } = await db.executeQuery(ctx.fill(targetsOfShop, { shop }));
  return new Map(rows.map(({ status, days }) => [status, days]));
};

export const viewTargets = (targets: Targets): TargetDays => ({
  targets: [...targets]
    .map(([status, days]) => ({ status, days }) as TargetDays['targets'][number])
    .sort((one, other) => one.status.localeCompare(other.status)),
});

export const replaceTargets = (ctx: Core, actor: Actor, shopId: string, { targets }: TargetDays) =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await requireShop(trx, shopId);
    const before = await readTargets(ctx, shopId, trx);
    const after: Targets = new Map(targets.map(({ status, days }) => [status, days]));
    const statuses = [...new Set([...before.keys(), ...after.keys()])];
    const daysIn = (some: Targets) =>
      Object.fromEntries(statuses.map((status) => [status, some.get(status) ?? null]));
    const changes = changesBetween(daysIn(before), daysIn(after));
    if (changes) {
      await trx.deleteFrom('target_days').where('shop_id', '=', shopId).execute();
      const rows = targets.map(({ status, days }) => ({ shop_id: shopId, status, days }));
      if (rows.length > 0) await trx.insertInto('target_days').values(rows).execute();
      await recordShopAudit(ctx, trx, { shop, actor }, 'TARGET_DAYS_CHANGED', changes);
    }
    return viewTargets(after);
  });
