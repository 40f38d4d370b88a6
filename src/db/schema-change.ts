import { type Kysely, type RawBuilder, sql } from 'kysely';

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
