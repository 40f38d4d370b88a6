import type { Kysely, RawBuilder } from 'kysely';
import type { Notice } from '../types.ts';

/** Where the engines' schemas differ. */
export interface SchemaDialect {
  id: 'uuid' | 'text';
  /** How texts are searched: by an index of their three-letter pieces, by a scan of an index, or not of interest. */
  search: 'trigrams' | 'scan' | 'none';
  /** A list of times. */
  times: 'double precision[]' | 'text';
  /** Its loss in a crash is harmless. */
  rateLimits: 'unlogged table' | 'table';
  /** Where tables are created and found by their bare names; null: the engine has no schemas. */
  currentSchema: RawBuilder<{ name: string | null }> | null;
  /** What a database has: each column as `table.column` with its type, in order, and each index by its name. */
  catalogue: RawBuilder<SchemaPart>;
}

export interface SchemaPart {
  name: string;
  type: string;
}

export type NoticingDialect = SchemaDialect & { notice: Notice };

// biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own day, not today's
export type SchemaChange = (db: Kysely<any>, dialect: NoticingDialect) => Promise<void>;
