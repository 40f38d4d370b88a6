import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { ConfigError } from '../lib/config-error.ts';
import { createSchema } from './migrations/0001-schema.ts';
import type { NoticingDialect, SchemaChange, SchemaDialect, SchemaPart } from './migrations/types.ts';
import type { Tables } from './schema.ts';

export const SCHEMA_DIALECTS = {
  sqlite: {
    id: 'text',
    search: 'scan',
    times: 'text',
    rateLimits: 'table',
    currentSchema: null,
    catalogue: sql`
      select t.name || '.' || c.name as name, lower(c.type) || iif(c."notnull", ' not null', '') as type
        from sqlite_master as t, pragma_table_info(t.name) as c where t.type = 'table'
      union all
      select i.name, iif(i."unique", 'unique index', 'index')
        from sqlite_master as t, pragma_index_list(t.name) as i where t.type = 'table'`,
  },
  postgres: {
    id: 'uuid',
    search: 'trigrams',
    times: 'double precision[]',
    rateLimits: 'unlogged table',
    currentSchema: sql`select current_schema() as name`,
    // Other schemas may contain another installation's tables.
    catalogue: sql`
      (select c.relname || '.' || a.attname as name,
          format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end as type
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid
        where c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
          and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
        order by c.relname, a.attnum)
      union all
      select c.relname, case when i.indisunique then 'unique index' else 'index' end
        from pg_class as c join pg_index as i on i.indexrelid = c.oid
        where c.relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
  },
} as const satisfies Record<string, SchemaDialect>;

/** The migrations in their order. They only go forward and are never edited after a release. Tests add temporary ones. */
export const CHANGES: Record<string, SchemaChange> = { '0001-schema': createSchema };

export const knownMigrations = (): string[] => Object.keys(CHANGES);
const newestMigration = (): string => knownMigrations().at(-1) ?? '';

/** Returns the first unknown migration of a database or a backup. Those of pre-release versions had other names. */
export const unknownMigration = (executed: readonly string[]): { name: string; by: string } | null => {
  const known = knownMigrations();
  const name = executed.find((each) => !known.includes(each));
  return name ? { name, by: name > newestMigration() ? 'a newer release' : 'a pre-release version' } : null;
};

export const NOT_SET_UP =
  'this database has not been set up: the start of a service does that, or handback migrate';

export const executedMigrations = async (db: Kysely<Tables>): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
};

/** Migrates up to this migration, or to the latest for null. Returns whether the schema was changed. */
export const migrateTo = async (
  db: Kysely<Tables>,
  dialect: NoticingDialect,
  name: string | null,
): Promise<boolean> => {
  // Kysely calls it under its lock. A later release may already have added migrations.
  const getMigrations = async (): Promise<Record<string, Migration>> => {
    const executed = await executedMigrations(db);
    const unknown = unknownMigration(executed);
    const newest = newestMigration();
    if (unknown && unknown.name < newest)
      throw new ConfigError(
        `${unknown.by} of Handback created this database (${unknown.name}), and this one cannot use it: take an empty database`,
      );
    const later = executed.filter((each) => each > newest).map((each) => [each, async () => {}] as const);
    const all = [...Object.entries(CHANGES), ...later];
    return Object.fromEntries(all.map(([each, change]) => [each, { up: (at) => change(at, dialect) }]));
  };
  const found = dialect.currentSchema && (await dialect.currentSchema.execute(db)).rows[0]?.name;
  if (dialect.currentSchema && !found)
    throw new ConfigError(
      'none of the schemas in the search_path of DATABASE_URL or its user exists: create one',
    );
  // By default Kysely would read the migrations of another installation in another schema of the database.
  const where = found ? { migrationTableSchema: found } : {};
  const all = new Migrator({ db, provider: { getMigrations }, ...where });
  const { error, results = [] } = await (name === null ? all.migrateToLatest() : all.migrateTo(name));
  if (error) throw error;
  return results.length > 0;
};

/**
 * Migrates the database of a service to the latest. One that a later release has migrated is accepted, since releases only add (ADR
 * 0020).
 */
export const migrateToLatest = async (db: Kysely<Tables>, dialect: NoticingDialect): Promise<boolean> => {
  const isChanged = await migrateTo(db, dialect, null);
  const wrong = await wrongSchema(db, dialect);
  if (wrong) throw new ConfigError(wrong);
  return isChanged;
};

/** Describes in one line what is wrong with the schema of a database that has all migrations, and what to do; null if it is correct. */
export const wrongSchema = async (db: Kysely<Tables>, dialect: SchemaDialect): Promise<string | null> => {
  const { rows } = await dialect.catalogue.execute(db);
  const found = new Map(rows.map(({ name, type }) => [name, type]));
  const expected = await expectedSchema(dialect);
  // Additional parts are harmless: a later release may have added them, or made a column nullable.
  const [wrong, ...more] = expected.filter(
    ({ name, type }) => found.get(name) !== type && `${found.get(name)} not null` !== type,
  );
  if (!wrong) return null;
  const { name, type } = wrong;
  const what = found.has(name) ? `is "${found.get(name)}" instead of "${type}"` : 'is missing';
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  return `this database does not have the schema of this release (${name} ${what}${others}): back it up with this release (handback backup) and restore that into an empty database`;
};

/**
 * Reads the schema from a database in memory, so that no second list can differ. It excludes the index of pg_trgm, which may not be
 * available.
 */
export const expectedSchema = async (dialect: SchemaDialect): Promise<SchemaPart[]> => {
  const memory = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: new SqliteDatabase(':memory:') }),
  });
  const search = dialect.search === 'trigrams' ? 'none' : dialect.search;
  try {
    for (const change of Object.values(CHANGES))
      await change(memory, { ...dialect, search, rateLimits: 'table', notice: () => {} });
    const { rows } = await SCHEMA_DIALECTS.sqlite.catalogue.execute(memory);
    // Indexes of keys have names of the engine.
    return rows.filter(({ name }) => !name.startsWith('sqlite_'));
  } finally {
    await memory.destroy();
  }
};
