// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { columnsOf, TABLE_NAMES, type Tables } from '../../src/db/schema.ts';
import { BACKED_UP_TABLES } from '../../src/db/transfer.ts';
import type { Db } from '../../src/db/types.ts';
import { openEngine, openOn } from '../support/database.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { ENGINE } from '../support/harness.ts';
import { emptyDatabase, temporaryFolder } from '../support/process.ts';

/** The beginning of all ids; the last three digits follow. */
const PREFIX = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2';

/** One name for types that the engines spell differently. */
const TYPES: Record<string, string> = {
  uuid: 'text',
  int8: 'bigint',
  int4: 'integer',
  float8: 'double precision',
  // SQLite has no arrays; it counts in memory.
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
        // PostgreSQL puts brackets around each condition, and writes `in` differently.
        .replace(/ where .*$/, (condition) =>
          condition.replaceAll(/[()]/g, '').replaceAll(/= any array\[(.*?)\]/g, 'in $1'),
        ),
    )
    .sort();
};

describe('migrations', () => {
  it('can be run again without changing anything', async () => {
    const env = await emptyDatabase();
    const first = openOn(env);
    await first.migrate();
    const before = await schemaOf(first.db);
    await first.db.insertInto('installation').values({ name: 'kept', value: 'yes' }).execute();
    await first.migrate();
    await openOn(env).migrate();
    expect(await schemaOf(first.db)).toEqual(before);
    const kept = await first.db.selectFrom('installation').selectAll().where('name', '=', 'kept').execute();
    expect(kept).toEqual([{ name: 'kept', value: 'yes' }]);
  });

  it('create the tables and columns that statements use', async () => {
    const { db } = await openEngine();
    const sorted = (names: readonly string[]) => names.toSorted();
    const created = Object.entries(await schemaOf(db)).map(([name, columns]) => [
      name,
      sorted(Object.keys(columns)),
    ]);
    const named = sorted(TABLE_NAMES).map((name) => [name, sorted(columnsOf(name as keyof Tables))]);
    expect(created.filter(([name]) => !String(name).startsWith('kysely_'))).toEqual(named);
  });

  it('give both engines the same tables, columns and indexes', ONLY_POSTGRES, async () => {
    const [postgres, sqlite] = [openOn(await emptyDatabase()), openOn({ DATA_DIR: temporaryFolder() })];
    await postgres.migrate();
    await sqlite.migrate();
    const schema = await schemaOf(postgres.db);
    expect(schema).toEqual(await schemaOf(sqlite.db));
    expect(Object.keys(schema).length).toBeGreaterThan(5);
    // Except the search, where the engines have different text indexes, and due times, where SQLite's index has more columns.
    const isForSearch = (index: string) => index.includes('search_text');
    const isShared = (index: string) => !isForSearch(index) && !/index \w+_waiting /.test(index);
    const onPostgres = await indexesOf(postgres.db, 'postgres');
    const onSqlite = await indexesOf(sqlite.db, 'sqlite');
    const shared = onPostgres.filter(isShared);
    expect(shared).toEqual(onSqlite.filter(isShared));
    expect(shared.length).toBeGreaterThan(5);
    expect([onPostgres, onSqlite].map((indexes) => indexes.filter(isForSearch).length)).toEqual([2, 2]);
  });

  it('prevent duplicate numbers within a shop, whatever the code does', async () => {
    const database = await openEngine();
    /** A value for every column that is not null. */
    const times = { created_at: 1, updated_at: 1, status_since: 1 };
    const customer = { customer_email: 'ada@example.com', customer_name: 'Ada', order_number: 'SO-1' };
    const item = { faulty_item: '{}', fault_description: 'x', store_id: 's', is_dangerous: 0 };
    const values = { ...times, ...customer, ...item, search_text: '', status: 'OFFLINE_REPAIR' as const };
    const insert = (id: string, shop: string) =>
      database.db
        .insertInto('offline_repairs')
        .values({ ...values, id: `${PREFIX}e${id}`, shop_id: `${PREFIX}f${shop}`, number: 1 })
        .execute();
    await insert('01', '01');
    await insert('02', '02');
    await expect(insert('03', '01')).rejects.toThrow(/unique/i);
  });

  it('prevent two events with the same id or position', async () => {
    const database = await openEngine();
    const [ID, OTHER] = [`${PREFIX}e01`, `${PREFIX}e02`];
    const event = { shop_id: ID, rma_id: ID, event: 'offline_repair.closed', at: 1, body: '{}' } as const;
    const insert = (id: string, position: number) =>
      database.db
        .insertInto('events')
        .values({ ...event, id, position })
        .execute();
    await insert(ID, 1);
    await expect(insert(ID, 2)).rejects.toThrow(/unique/i);
    await expect(insert(OTHER, 1)).rejects.toThrow(/unique/i);
    await insert(OTHER, 2);
  });
});

const catalogue = {
  sqlite: sql<{ table: string; type: string }>`
    select t.name as "table", lower(c.type) as type from sqlite_master as t, pragma_table_info(t.name) as c where t.type = 'table'`,
  postgres: sql<{ table: string; type: string }>`
    select c.relname as table, format_type(a.atttypid, null) as type
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
}[ENGINE];

it('columns contain only texts and integers, which both engines store alike', async () => {
  const { db } = await openEngine();
  const { rows } = await catalogue.execute(db);
  const types = new Set(rows.filter(({ table }) => BACKED_UP_TABLES.includes(table)).map(({ type }) => type));
  const known = ['text', 'uuid', 'integer', 'bigint'];
  expect([...types].filter((type) => !known.includes(type))).toEqual([]);
});

it('the database has no sequences, which a restore would have to set', async () => {
  const { db } = await openEngine();
  const { rows } = await (ENGINE === 'postgres'
    ? sql`select sequencename from pg_sequences`
    : sql`select name from sqlite_master where sql like '%autoincrement%'`
  ).execute(db);
  expect(rows).toEqual([]);
});
