import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../db/database.ts';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import { columnsOf, TABLE_NAMES, type Tables } from '../db/schema.ts';
import type { Context } from '../service/context.ts';
import type { Shop } from './plans.ts';
import { lockShop } from './store.ts';

// Deletes everything of a shop in small steps, while the service goes on for the others.

type Keys = { [Table in keyof Tables]?: keyof Tables[Table] & string };

/** Every table with rows of a shop or of its clients, and by which column these are told apart. */
export const SHOP_TABLES = {
  shop_counters: 'shop_id',
  shop_settings: 'shop_id',
  dangerous_goods: 'pattern',
  api_clients: 'id',
  users: 'id',
  audit_log: 'id',
  offline_repairs: 'number',
  trade_returns: 'number',
  rma_totals: 'status',
  target_days: 'status',
  forget_rules: 'kind',
  departed_people: 'user_id',
  saved_views: 'id',
  idempotency_keys: 'key',
  events: 'position',
  webhook_deliveries: 'id',
  webhook_leases: 'client_id',
  webhook_failures: 'client_id',
} as const satisfies Keys;
export type ShopTable = keyof typeof SHOP_TABLES;

/** Deleted with the row that they belong to. `erasures` stays: a restore deletes the shop again. */
export const IN_OTHER_TABLES = {
  timeline: 'returns',
  sessions: 'users',
  sign_in_addresses: 'users',
  access_links: 'users',
  recovery_codes: 'users',
  erasures: 'kept',
} as const satisfies { [Table in keyof Tables]?: string };

/** In the order of a restore backwards: what refers to others goes before them. */
const ORDER = TABLE_NAMES.filter((table): table is ShopTable => table in SHOP_TABLES).reverse();

/** The rows of a table that are a shop's own, or its clients'. */
export const ownRows = (
  { oneOf }: Pick<Context, 'oneOf'>,
  table: ShopTable,
  shopId: string,
  clientIds: string[],
): RawBuilder<boolean> =>
  columnsOf(table).some((column) => column === 'shop_id')
    ? sql<boolean>`shop_id = ${shopId}`
    : sql<boolean>`client_id ${oneOf('id', clientIds)}`;

export const clientIdsOf = async ({ db }: Pick<Context, 'db'>, shopId: string): Promise<string[]> => {
  const clients = await db.selectFrom('api_clients').select('id').where('shop_id', '=', shopId).execute();
  return clients.map(({ id }) => id);
};

/** What lets people and programs in, and what work in the background goes by. */
const AT_ONCE = ['users', 'shop_counters', 'forget_rules', 'departed_people'] as const;

/** From its commit on no person signs in and no key works, nothing of the shop changes, and the janitor finishes what is left. */
export const beginShopDeletion = (
  ctx: Context,
  id: string,
  mustBeDeletable?: (trx: Trx, shop: Shop) => Promise<void>,
): Promise<void> =>
  ctx.db.transaction().execute(async (trx) => {
    const shop = await lockShop(trx, id);
    if (!shop) return;
    await mustBeDeletable?.(trx, shop);
    const at = ctx.clock.now();
    await trx
      .insertInto('erasures')
      .values({ subject_id: id, shop_id: id, kind: 'shops', at, done_to: id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const working = trx.updateTable('api_clients').where('shop_id', '=', id).where('revoked_at', 'is', null);
    await working.set({ revoked_at: at }).execute();
    for (const table of AT_ONCE)
      await sql`delete from ${sql.table(table)} where shop_id = ${id}`.execute(trx);
  });

/** Longer than a writer of the service waits before it tries again, where this is another process. */
const PAUSE_MS = 25;

/** Deletes some rows of each table; the shop itself with the last of them. True when more is left. */
export const deleteShopStep = async (ctx: Context, id: string): Promise<boolean> => {
  const clientIds = await clientIdsOf(ctx, id);
  let isMoreLeft = false;
  for (const table of ORDER) {
    const deleted = await deleteSome(ctx, table, ownRows(ctx, table, id, clientIds));
    if (deleted === 0n) continue;
    isMoreLeft = true;
    await pause(PAUSE_MS);
  }
  if (!isMoreLeft)
    await ctx.db.transaction().execute(async (trx) => {
      await trx.deleteFrom('shops').where('id', '=', id).execute();
      // What was to be erased in it is gone, too.
      await trx.updateTable('erasures').set({ done_to: null }).where('shop_id', '=', id).execute();
    });
  return isMoreLeft;
};

/** A return has about ten rows of its timeline, and more indexes than all other tables. */
const RETURNS_AT_ONCE = 20;

const deleteSome = (ctx: Context, table: ShopTable, own: RawBuilder<boolean>): Promise<bigint> =>
  ctx.background.transaction().execute(async (trx) => {
    const [rows, key] = [sql.table(table), sql.ref(SHOP_TABLES[table])];
    const isReturns = table === 'offline_repairs' || table === 'trade_returns';
    const most = sql.lit(isReturns ? RETURNS_AT_ONCE : PRUNED_AT_ONCE);
    const order = isReturns ? sql`order by ${key}` : sql``;
    const some = (column: RawBuilder<unknown>) =>
      sql`select ${column} from ${rows} where ${own} ${order} limit ${most}`;
    if (isReturns)
      await sql`delete from timeline where rma_id ${ctx.among(some(sql.ref('id')))}`.execute(trx);
    const { numAffectedRows = 0n } =
      await sql`delete from ${rows} where ${own} and ${key} ${ctx.among(some(key))}`.execute(trx);
    return numAffectedRows;
  });
