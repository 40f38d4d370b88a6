import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Db } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { columnsOf, TABLE_NAMES, type Tables } from '../../src/db/schema.ts';
import { readConfig } from '../../src/service/config.ts';
import { ENGINE } from '../support/harness.ts';
import { type Env, emptyDatabase, temporaryFolder } from '../support/process.ts';
import { UNOBSERVED } from '../support/unobserved.ts';

const open = (env: Env) => {
  const database = openDatabase(readConfig(env), UNOBSERVED);
  onTestFinished(() => database.close());
  return database;
};

/** One name for what the engines spell differently. */
const TYPES: Record<string, string> = {
  uuid: 'text',
  int8: 'bigint',
  int4: 'integer',
  float8: 'double precision',
  // SQLite, which counts in memory, has no arrays.
  _float8: 'text',
};
const typeOf = (name: string): string => TYPES[name.toLowerCase()] ?? name.toLowerCase();

const schemaOf = async (db: Db) => {
  const tables = await db.introspection.getTables();
  return Object.fromEntries(
    tables
      .map(({ name, columns }): [string, object] => [
        name,
        Object.fromEntries(
          columns.map((column) => [column.name, { type: typeOf(column.dataType), null: column.isNullable }]),
        ),
      ])
      .sort(([one], [other]) => one.localeCompare(other)),
  );
};

/** The indexes that the migrations name; those behind keys have the engine's own names. */
const indexesOf = async (db: Db, engine: 'sqlite' | 'postgres'): Promise<string[]> => {
  const { rows } = await (engine === 'sqlite'
    ? sql<{
        definition: string;
      }>`select sql as definition from sqlite_master where type = 'index' and sql is not null`
    : sql<{ definition: string }>`select indexdef as definition from pg_indexes where schemaname = 'public'
        and not exists (select from pg_constraint where conname = indexname)`
  ).execute(db);
  return rows
    .map(({ definition }) =>
      definition
        .toLowerCase()
        .replaceAll('"', '')
        .replace(' using btree', '')
        .replace(' on public.', ' on ')
        .replaceAll('::text', '')
        // One of the two puts brackets around each condition.
        .replace(/ where .*$/, (condition) => condition.replaceAll(/[()]/g, '')),
    )
    .sort();
};

describe('migrations', () => {
  it('can be run again, and change nothing then', async () => {
    const env = await emptyDatabase();
    const first = open(env);
    await first.migrate();
    const before = await schemaOf(first.db);
    await first.db.insertInto('installation').values({ name: 'kept', value: 'yes' }).execute();
    await first.migrate();
    await open(env).migrate();
    expect(await schemaOf(first.db)).toEqual(before);
    const kept = await first.db.selectFrom('installation').selectAll().where('name', '=', 'kept').execute();
    expect(kept).toEqual([{ name: 'kept', value: 'yes' }]);
  });

  it('create the tables and columns that statements name', async () => {
    const { db, migrate } = open(await emptyDatabase());
    await migrate();
    const sorted = (names: readonly string[]) => names.toSorted();
    const created = Object.entries(await schemaOf(db)).map(([name, columns]) => [
      name,
      sorted(Object.keys(columns)),
    ]);
    const named = sorted(TABLE_NAMES).map((name) => [name, sorted(columnsOf(name as keyof Tables))]);
    expect(created.filter(([name]) => !String(name).startsWith('kysely_'))).toEqual(named);
  });

  if (ENGINE === 'postgres')
    it('can be run by several at once on an empty database', async () => {
      const env = await emptyDatabase();
      const databases = Array.from({ length: 6 }, () => open(env));
      await Promise.all(databases.map((database) => database.migrate()));
      expect(Object.keys(await schemaOf((databases[0] as (typeof databases)[0]).db))).toContain('shops');
    });

  if (ENGINE === 'postgres')
    it('give both engines the same tables, columns and indexes', async () => {
      const [postgres, sqlite] = [open(await emptyDatabase()), open({ DATA_DIR: temporaryFolder() })];
      await postgres.migrate();
      await sqlite.migrate();
      const schema = await schemaOf(postgres.db);
      expect(schema).toEqual(await schemaOf(sqlite.db));
      expect(Object.keys(schema).length).toBeGreaterThan(5);
      // But for the search: each engine has another index for texts.
      const isForSearch = (index: string) => index.includes('search_text');
      const onPostgres = await indexesOf(postgres.db, 'postgres');
      const onSqlite = await indexesOf(sqlite.db, 'sqlite');
      const shared = onPostgres.filter((index) => !isForSearch(index));
      expect(shared).toEqual(onSqlite.filter((index) => !isForSearch(index)));
      expect(shared.length).toBeGreaterThan(5);
      expect([onPostgres, onSqlite].map((indexes) => indexes.filter(isForSearch).length)).toEqual([2, 2]);
    });

  it('let no number be given twice in a shop, whatever the code does', async () => {
    const database = open(await emptyDatabase());
    await database.migrate();
    const row = (id: string, shop: string) => ({
      id: `019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e${id}`,
      shop_id: `019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2f${shop}`,
      client_id: null,
      number: 1,
      status: 'OFFLINE_REPAIR' as const,
      external_ref: null,
      external_source: null,
      order_number: 'SO-1',
      customer_email: 'ada@example.com',
      customer_name: 'Ada',
      customer_phone: null,
      faulty_item: '{}',
      fault_description: 'x',
      store_id: 's',
      replacement_sku: null,
      notes: null,
      is_dangerous: 0,
      tracking_number: null,
      carrier_name: null,
      offline_disposition: null,
      assigned_to_id: null,
      repair_notes: null,
      search_text: '',
      created_at: 1,
      updated_at: 1,
      status_since: 1,
      assignee_id: null,
    });
    const insert = (id: string, shop: string) =>
      database.db.insertInto('offline_repairs').values(row(id, shop)).execute();
    await insert('01', '01');
    await insert('02', '02');
    await expect(insert('03', '01')).rejects.toThrow();
  });

  it('let no event have the id or the position of another', async () => {
    const database = open(await emptyDatabase());
    await database.migrate();
    const ID = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e01';
    const insert = (id: string, position: number) =>
      database.db
        .insertInto('events')
        .values({
          ...{ id, position, shop_id: ID, rma_id: ID },
          ...{ event: 'offline_repair.closed', at: 1, body: '{}' },
        })
        .execute();
    await insert(ID, 1);
    await expect(insert(ID, 2)).rejects.toThrow();
    await expect(insert(ID.replace(/1$/, '2'), 1)).rejects.toThrow();
    await insert(ID.replace(/1$/, '2'), 2);
  });
});
