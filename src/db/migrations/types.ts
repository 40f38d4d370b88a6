import type { Kysely, RawBuilder } from 'kysely';
import type { Notice } from '../types.ts';

export interface SchemaDialect {
  id: 'uuid' | 'text';
  /** How texts are searched: with an index of trigrams, by scanning an index, or not at all (for the expected schema). */
  search: 'trigrams' | 'scan' | 'none';
  /** The type of a list of times. */
  times: 'double precision[]' | 'text';
  /** The table may be lost in a crash. */
  rateLimits: 'unlogged table' | 'table';
  /** The schema in which unqualified table names are found; null if the engine has no schemas. */
  currentSchema: RawBuilder<{ name: string | null }> | null;
  /** The contents of a database: each column as `table.column` with its type, in order, and each index by name. */
  catalogue: RawBuilder<SchemaPart>;
}

export interface SchemaPart {
  name: string;
  type: string;
}

export type NoticingDialect = SchemaDialect & { notice: Notice };

// biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its time, not the current one
export type SchemaChange = (db: Kysely<any>, dialect: NoticingDialect) => Promise<void>;
