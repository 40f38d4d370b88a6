import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { TABLE_NAMES } from '../../src/db/schema.ts';
import { BACKED_UP_TABLES } from '../../src/db/transfer.ts';
import { openEngine } from '../support/database.ts';
import { ENGINE } from '../support/harness.ts';

const catalogue = {
  sqlite: sql<{ table: string; type: string }>`
    select t.name as "table", lower(c.type) as type from sqlite_master as t, pragma_table_info(t.name) as c where t.type = 'table'`,
  postgres: sql<{ table: string; type: string }>`
    select c.relname as table, format_type(a.atttypid, null) as type
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
}[ENGINE];

it('every table is named in the schema, which says what a backup holds', async () => {
  const { db } = await openEngine();
  const { rows } = await catalogue.execute(db);
  const tables = new Set(rows.map(({ table }) => table).filter((name) => !name.startsWith('kysely_')));
  expect([...tables].sort()).toEqual([...TABLE_NAMES].sort());
});

it('columns hold texts and whole numbers: nothing else goes from one engine to the other unchanged', async () => {
  const { db } = await openEngine();
  const { rows } = await catalogue.execute(db);
  const types = new Set(rows.filter(({ table }) => BACKED_UP_TABLES.includes(table)).map(({ type }) => type));
  const known = ['text', 'uuid', 'integer', 'bigint'];
  expect([...types].filter((type) => !known.includes(type))).toEqual([]);
});

it('the database hands out no numbers of its own, which a restore would have to set', async () => {
  const { db } = await openEngine();
  const { rows } = await (ENGINE === 'postgres'
    ? sql`select sequencename from pg_sequences`
    : sql`select name from sqlite_master where sql like '%autoincrement%'`
  ).execute(db);
  expect(rows).toEqual([]);
});
