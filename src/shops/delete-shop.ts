import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import { columnsOf, TABLE_NAMES, type Tables, TIMELINE_COLUMNS } from '../db/schema.ts';
import { toIso } from '../lib/time.ts';
import type { Context } from '../service/context.ts';
import { lockShop } from './store.ts';

// Deletes everything of a shop in small steps, while the service goes on for the others.

/**
 * Every table with rows of a shop or of its clients, and by which column these are told apart. Timelines go with their returns, and
 * tables about a person with the person. `erasures` stays: a restore deletes the shop again.
 */
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
} as const satisfies { [Table in keyof Tables]?: keyof Tables[Table] & string };
type ShopTable = keyof typeof SHOP_TABLES;

/** In the order of a restore: tables that others refer to come first. */
const IN_ORDER = TABLE_NAMES.filter((table): table is ShopTable => table in SHOP_TABLES);
const isOfShop = (table: ShopTable): boolean => columnsOf(table).some((column) => column === 'shop_id');
const isReturns = (table: ShopTable): boolean => table === 'offline_repairs' || table === 'trade_returns';

/** What lets people and programs in, and what work in the background goes by. */
const AT_ONCE = ['users', 'shop_counters', 'forget_rules', 'departed_people'] as const;

/** From its commit on no person signs in and no key works, nothing of the shop changes, and the janitor finishes what is left. */
export const beginShopDeletion = (ctx: Context, id: string): Promise<void> =>
  ctx.db.transaction().execute(async (trx) => {
    if (!(await lockShop(trx, id))) return;
    const at = ctx.clock.now();
    const erasure = { subject_id: id, shop_id: id, kind: 'shops', at, done_to: id } as const;
    const insertion = trx.insertInto('erasures').values(erasure);
    await insertion.onConflict((conflict) => conflict.doNothing()).execute();
    const working = trx.updateTable('api_clients').where('shop_id', '=', id).where('revoked_at', 'is', null);
    await working.set({ revoked_at: at }).execute();
    for (const table of AT_ONCE)
      await sql`delete from ${sql.table(table)} where shop_id = ${id}`.execute(trx);
  });

/** Longer than a writer of the service waits before it tries again, where this is another process. */
const PAUSE_MS = 25;

/** Deletes some rows of each table; the shop itself after the last of them. Returns how many; 0: all is deleted. */
export const deleteShopStep = async (ctx: Context, id: string): Promise<number> => {
  const clients = await ctx.db.selectFrom('api_clients').select('id').where('shop_id', '=', id).execute();
  const ofClients = sql<boolean>`client_id ${ctx.oneOf(
    'id',
    clients.map((client) => client.id),
  )}`;
  let deleted = 0;
  for (const table of IN_ORDER.toReversed()) {
    const own = isOfShop(table) ? sql<boolean>`shop_id = ${id}` : ofClients;
    const rows = await deleteSome(ctx, table, own);
    deleted += rows;
    if (rows > 0) await pause(PAUSE_MS);
  }
  if (deleted > 0) return deleted;
  await ctx.db.transaction().execute(async (trx) => {
    await trx.deleteFrom('shops').where('id', '=', id).execute();
    // What was to be erased in it is gone, too.
    await trx.updateTable('erasures').set({ done_to: null }).where('shop_id', '=', id).execute();
  });
  await ctx.scrub();
  return 0;
};

/** A return has about ten rows of its timeline, and more indexes than all other tables. */
const RETURNS_AT_ONCE = 20;

const deleteSome = (ctx: Context, table: ShopTable, own: RawBuilder<boolean>): Promise<number> =>
  ctx.background.transaction().execute(async (trx) => {
    const [rows, key] = [sql.table(table), sql.ref(SHOP_TABLES[table])];
    const order = isReturns(table) ? sql`order by ${key}` : sql``;
    const most = sql.lit(isReturns(table) ? RETURNS_AT_ONCE : PRUNED_AT_ONCE);
    const some = (column: RawBuilder<unknown>) =>
      sql`select ${column} from ${rows} where ${own} ${order} limit ${most}`;
    if (isReturns(table))
      await sql`delete from timeline where rma_id ${ctx.among(some(sql.ref('id')))}`.execute(trx);
    const { numAffectedRows = 0n } =
      await sql`delete from ${rows} where ${own} and ${key} ${ctx.among(some(key))}`.execute(trx);
    return Number(numAffectedRows);
  });

// --- its export, before that ---

const isSecret = (column: string): boolean => /_(hash|secret)$/.test(column);
const EXPORTED_AT_ONCE = 200;
type ExportedRow = Record<string, string | number | null>;

/** All rows of a shop as one JSON document, without secrets, and without the clients' queues and stored answers. */
export async function* exportShop(ctx: Context, id: string): AsyncGenerator<string> {
  const shop = await ctx.scans.selectFrom('shops').select(columnsOf('shops')).where('id', '=', id).execute();
  yield `{"exportedAt":"${toIso(ctx.clock.now())}","shops":${JSON.stringify(shop)}`;
  for (const table of IN_ORDER.filter(isOfShop)) {
    yield `,\n"${table}":[`;
    let separator = '\n';
    for await (const rows of pagesOf(ctx, table, id)) {
      yield separator + rows.map((row) => JSON.stringify(row)).join(',\n');
      separator = ',\n';
    }
    yield ']';
  }
  yield '}\n';
}

/** Of returns with their timelines. */
async function* pagesOf(ctx: Context, table: ShopTable, shopId: string) {
  const key = sql.ref(SHOP_TABLES[table]);
  const columns = columnsOf(table).filter((column) => !isSecret(column));
  let after = sql<boolean>`true`;
  for (;;) {
    const { rows } = await sql<ExportedRow>`
      select ${sql.join(columns.map(sql.ref))} from ${sql.table(table)}
      where shop_id = ${shopId} and ${after} order by ${key} limit ${sql.lit(EXPORTED_AT_ONCE)}`.execute(
      ctx.scans,
    );
    if (rows.length > 0) yield isReturns(table) ? await withTimelines(ctx, rows) : rows;
    if (rows.length < EXPORTED_AT_ONCE) return;
    after = sql<boolean>`${key} > ${rows.at(-1)?.[SHOP_TABLES[table]]}`;
  }
}

const withTimelines = async ({ scans, oneOf }: Context, rows: ExportedRow[]) => {
  const ids = rows.map((row) => String(row['id']));
  const own = sql<boolean>`rma_id ${oneOf('id', ids)}`;
  const entries = scans.selectFrom('timeline').select(TIMELINE_COLUMNS).where(own);
  const byReturn = Map.groupBy(await entries.orderBy('rma_id').orderBy('at').execute(), (row) => row.rma_id);
  return rows.map((row) => ({ ...row, timeline: byReturn.get(String(row['id'])) ?? [] }));
};
