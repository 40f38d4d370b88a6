import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { RETURN_KINDS } from '../../contract/kinds.ts';
import { retryConflicts } from '../db/database-errors.ts';
import { PRUNED_AT_ONCE } from '../db/prune.ts';
import { columnsOf, TABLE_NAMES, type Tables, TIMELINE_COLUMNS } from '../db/schema.ts';
import { toIso } from '../lib/time.ts';
import type { Core } from '../platform/core.ts';
import { DELETING, lockShop } from './store.ts';

// Deletes all data of a shop in small transactions, while the service continues for the other shops.

const hasColumn = (table: keyof Tables, column: string): boolean =>
  columnsOf(table).some((each) => each === column);

/** The column that leads from a row to its shop, or to a receiver of its clients. */
const linkOf = (table: keyof Tables): string | undefined =>
  ['shop_id', 'receiver_id', 'owner_id'].find((column) => hasColumn(table, column));

/** Tables with rows of a shop or of its clients. Timelines are deleted with their returns, and tables about a person with the person. */
const OWNED = TABLE_NAMES.filter(
  // Erased ids stay, so that a restored backup can delete the shop again.
  (table) => table !== 'erasures' && linkOf(table) !== undefined,
);

/** The first of these columns that a table has identifies and orders the rows of a shop. None is ever null. */
const KEYS = ['number', 'position', 'id', 'key', 'pattern', 'status', 'user_id', 'shop_id', 'receiver_id'];

/** In the order of a restore: a table comes after those that it refers to. */
export const SHOP_TABLES = Object.fromEntries(
  OWNED.map((table) => [table, KEYS.find((column) => hasColumn(table, column)) ?? '']),
);

/** Rows that give people and API clients access, and those that background work reads. */
const DELETED_FIRST = ['users', 'shop_counters', 'forget_rules', 'removed_users'] as const;

/** After its commit nobody can sign in, no key works and the shop does not change; the janitor can finish the deletion. */
export const beginShopDeletion = (ctx: Core, id: string): Promise<void> =>
  // Changes of API clients lock the same rows in another order.
  retryConflicts(() =>
    ctx.db.transaction().execute(async (trx) => {
      if (!(await lockShop(trx, id))) return;
      const at = ctx.clock.now();
      const erasure = { subject_id: id, shop_id: id, kind: 'shops', at, progress: id } as const;
      const insertion = trx.insertInto('erasures').values(erasure);
      await insertion.onConflict((conflict) => conflict.doNothing()).execute();
      await trx.updateTable('shops').set({ subscription: DELETING }).where('id', '=', id).execute();
      const working = trx
        .updateTable('api_clients')
        .where('shop_id', '=', id)
        .where('revoked_at', 'is', null);
      await working.set({ revoked_at: at }).execute();
      // This precedes the deletion of users, through whom their keys are found.
      await sql`delete from idempotency_keys where owner_id in (select id from users where shop_id = ${id})`.execute(
        trx,
      );
      for (const table of DELETED_FIRST)
        await sql`delete from ${sql.table(table)} where shop_id = ${id}`.execute(trx);
    }),
  );

/** The pause between transactions: longer than a writer of another process waits before it retries. */
const DELETION_PAUSE_MS = 25;

/** Deletes some rows of a table and, if none are left, the shop itself. Returns their number; 0 if everything is deleted. */
export const deleteShopStep = async (ctx: Core, id: string): Promise<number> => {
  // In this order, rows that are found through a client are deleted before the client.
  for (const table of OWNED.toReversed()) {
    const rows = await deleteSome(ctx, table, id);
    if (rows === 0) continue;
    await pause(DELETION_PAUSE_MS);
    return rows;
  }
  await ctx.db.transaction().execute(async (trx) => {
    await trx.deleteFrom('shops').where('id', '=', id).execute();
    // Unfinished erasures of the shop are finished with this.
    await trx.updateTable('erasures').set({ progress: null }).where('shop_id', '=', id).execute();
  });
  return 0;
};

const isReturns = (table: keyof Tables): boolean => table in RETURN_KINDS;
/** A return has about ten timeline entries, and more indexes than any other table. */
const RETURNS_AT_ONCE = 20;

const deleteSome = (ctx: Core, table: keyof Tables, shopId: string): Promise<number> =>
  ctx.background.transaction().execute(async (trx) => {
    const [rows, key] = [sql.table(table), sql.ref(SHOP_TABLES[table] ?? '')];
    const own = hasColumn(table, 'shop_id')
      ? sql`shop_id = ${shopId}`
      : sql`${sql.ref(linkOf(table) ?? '')} ${ctx.among(sql`select receiver_id from api_clients where shop_id = ${shopId}`)}`;
    const order = isReturns(table) ? sql`order by ${key}` : sql``;
    const most = sql.lit(isReturns(table) ? RETURNS_AT_ONCE : PRUNED_AT_ONCE);
    const some = (column: RawBuilder<unknown>) =>
      ctx.among(sql`select ${column} from ${rows} where ${own} ${order} limit ${most}`);
    if (isReturns(table)) await sql`delete from timeline where rma_id ${some(sql.ref('id'))}`.execute(trx);
    const deletion = sql`delete from ${rows} where ${own} and ${key} ${some(key)}`;
    return Number((await deletion.execute(trx)).numAffectedRows ?? 0);
  });

// --- the export before the deletion ---

const EXPORTED_AT_ONCE = 200;

/** All rows of a shop as one JSON document, without secrets, and without the clients' queues and stored responses. */
export async function* exportShop(ctx: Core, id: string): AsyncGenerator<string> {
  const shop = await ctx.scans.selectFrom('shops').select(columnsOf('shops')).where('id', '=', id).execute();
  yield `{"exportedAt":"${toIso(ctx.clock.now())}","shops":${JSON.stringify(shop)}`;
  for (const table of OWNED.filter((each) => hasColumn(each, 'shop_id'))) {
    yield `,\n"${table}":[`;
    let separator = '\n';
    for await (const row of exportRows(ctx, table, id)) {
      yield separator + JSON.stringify(row);
      separator = ',\n';
    }
    yield ']';
  }
  yield '}\n';
}

async function* exportRows({ scans }: Core, table: keyof Tables, shopId: string) {
  const key = SHOP_TABLES[table] ?? '';
  const columns = columnsOf(table).filter((column) => !/_(hash|secret)$/.test(column));
  const timelines = scans.selectFrom('timeline').select(TIMELINE_COLUMNS).orderBy('at');
  let after = sql`true`;
  for (let count = EXPORTED_AT_ONCE; count === EXPORTED_AT_ONCE; ) {
    const { rows } = await sql<Record<string, string | number | null>>`
      select ${sql.join(columns.map(sql.ref))} from ${sql.table(table)}
      where shop_id = ${shopId} and ${after} order by ${sql.ref(key)} limit ${sql.lit(EXPORTED_AT_ONCE)}`.execute(
      scans,
    );
    for (const row of rows) {
      const own = timelines.where('rma_id', '=', String(row['id']));
      yield isReturns(table) ? { ...row, timeline: await own.execute() } : row;
    }
    after = sql`${sql.ref(key)} > ${rows.at(-1)?.[key]}`;
    count = rows.length;
  }
}
