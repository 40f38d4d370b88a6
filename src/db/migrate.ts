import SqliteDatabase from 'better-sqlite3';
import { Kysely, type RawBuilder, SqliteDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { ConfigError } from '../service/config.ts';
import { initialSchema } from './migrations/0001-initial-schema.ts';
import type { Tables } from './schema.ts';

/** Where the engines' schemas differ. */
export interface SchemaWords {
  id: 'uuid' | 'text';
  /** How texts are searched: by an index of their three-letter pieces, by a scan of an index, or not of interest. */
  search: 'trigrams' | 'scan' | 'none';
  /** A list of times. */
  times: 'double precision[]' | 'text';
  /** Its loss in a crash is harmless. */
  rateLimits: 'unlogged table' | 'table';
  /** What a database has: each column as `table.column` with its type, and each index by its name. */
  catalogue: RawBuilder<SchemaPart>;
}

export interface SchemaPart {
  name: string;
  type: string;
}

export const SCHEMA_WORDS = {
  sqlite: {
    id: 'text',
    search: 'scan',
    times: 'text',
    rateLimits: 'table',
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
    // Those that statements find by their bare names, whatever other schemas hold.
    catalogue: sql`
      select c.relname || '.' || a.attname as name,
          format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end as type
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid
        where c.relkind = 'r' and pg_table_is_visible(c.oid) and a.attnum > 0 and not a.attisdropped
          and c.relnamespace <> 'pg_catalog'::regnamespace
      union all
      select c.relname, case when i.indisunique then 'unique index' else 'index' end
        from pg_class as c join pg_index as i on i.indexrelid = c.oid
        where pg_table_is_visible(c.oid) and c.relnamespace <> 'pg_catalog'::regnamespace`,
  },
} as const satisfies Record<string, SchemaWords>;

/** Takes what the operator should know of a migration that went well all the same. */
export type Notice = (message: string) => void;

export type SchemaChange = (
  // biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own day, not today's
  db: Kysely<any>,
  words: SchemaWords & { notice: Notice },
) => Promise<void>;

/** Forward only, in this order, never edited once released. */
const CHANGES: Record<string, SchemaChange> = {
  '0001-initial-schema': initialSchema,
};

export const MIGRATIONS: readonly string[] = Object.keys(CHANGES);
const NEWEST = MIGRATIONS.at(-1) ?? '';

/** The first migration of a database or a backup that this release does not know. Those of pre-release versions had other names. */
export const unknownMigration = (made: readonly string[]): { name: string; by: string } | null => {
  const name = made.find((each) => !MIGRATIONS.includes(each));
  return name ? { name, by: name > NEWEST ? 'a newer release' : 'a pre-release version' } : null;
};

/** Nothing to do: a later release, which runs beside this one or ran before it, has done it. */
const DONE: Migration = { up: async () => {} };

type Words = SchemaWords & { notice: Notice };

const migrator = (db: Kysely<Tables>, words: Words, doneLater: string[] = []): Migrator => {
  const migrations: Record<string, Migration> = {
    ...Object.fromEntries(
      Object.entries(CHANGES).map(([name, change]) => [name, { up: (at) => change(at, words) }]),
    ),
    ...Object.fromEntries(doneLater.map((name) => [name, DONE])),
  };
  return new Migrator({ db, provider: { getMigrations: async () => migrations } });
};

/** Of the changes that were made, those that this release does not know: all of them come after its own. */
const changesOfLaterReleases = (made: readonly string[]): string[] => {
  const unknown = unknownMigration(made);
  if (unknown && unknown.name < NEWEST)
    throw new ConfigError(
      `${unknown.by} of Handback created this database (${unknown.name}), and this one cannot use it: take an empty database`,
    );
  return made.filter((name) => name > NEWEST);
};

const madeChanges = async (db: Kysely<Tables>): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
};

/** A database that a later release has migrated is taken as it is, since releases only add (ADR 0020). True: the schema was changed. */
export const migrateToLatest = async (db: Kysely<Tables>, words: Words): Promise<boolean> => {
  let doneLater: string[] = [];
  let hasChanged = false;
  for (;;) {
    const { error, results = [] } = await migrator(db, words, doneLater).migrateToLatest();
    hasChanged ||= results.length > 0;
    if (!error) break;
    const found = changesOfLaterReleases(await madeChanges(db).catch(() => []));
    // Nothing new to know of: it failed for another reason.
    if (found.length === doneLater.length) throw error;
    doneLater = found;
  }
  const wrong = await wrongSchema(db, words);
  if (wrong) throw new ConfigError(wrong);
  return hasChanged;
};

/** What is wrong with the schema of a database that has all migrations, and what to do, in one line; null: nothing. */
export const wrongSchema = async (db: Kysely<Tables>, words: SchemaWords): Promise<string | null> => {
  const { rows } = await words.catalogue.execute(db);
  const [first, ...more] = differences(await expectedSchema(Object.values(CHANGES), words), rows);
  if (!first) return null;
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  return `this database does not have the schema of this release (${first}${others}): back it up with this release (handback backup) and restore that into an empty database`;
};

/** Up to this migration, in a database that is being restored; null: to the latest. */
export const migrateTo = async (db: Kysely<Tables>, words: Words, name: string | null): Promise<void> => {
  const all = migrator(db, words);
  const { error } = await (name === null ? all.migrateToLatest() : all.migrateTo(name));
  if (error) throw error;
};

/** Read from a database in memory, so that no second list can differ. Without the index of pg_trgm, which may not be available. */
export const expectedSchema = async (
  changes: readonly SchemaChange[],
  words: SchemaWords,
): Promise<SchemaPart[]> => {
  const memory = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: new SqliteDatabase(':memory:') }),
  });
  const search = words.search === 'trigrams' ? 'none' : words.search;
  try {
    for (const change of changes)
      await change(memory, { ...words, search, rateLimits: 'table', notice: () => {} });
    const { rows } = await SCHEMA_WORDS.sqlite.catalogue.execute(memory);
    // Indexes behind keys have the engine's own names.
    return rows.filter(({ name }) => !name.startsWith('sqlite_'));
  } finally {
    await memory.destroy();
  }
};

/** What of it is missing or of another type, in words. Whatever else there is does no harm: a later release may have added it. */
const differences = (expected: readonly SchemaPart[], found: readonly SchemaPart[]): string[] => {
  const types = new Map(found.map(({ name, type }) => [name, type]));
  return expected.flatMap(({ name, type }) => {
    const real = types.get(name);
    // A later release may also let a column be empty.
    if (real === type || `${real} not null` === type) return [];
    return [real === undefined ? `${name} is missing` : `${name} is "${real}" instead of "${type}"`];
  });
};
