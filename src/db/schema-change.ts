import type { Kysely } from 'kysely';

/** Where the engines' schemas differ. */
export interface SchemaWords {
  id: 'uuid' | 'text';
  /** Whether tables whose loss in a crash is harmless may skip the log. */
  unlogged: boolean;
  /** Whether there are indexes of the three-letter pieces of texts. */
  trigrams: boolean;
  notice: Notice;
}

/** Takes what the operator should know of a migration that went well all the same. */
export type Notice = (message: string) => void;

// biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own day, not today's
export type SchemaChange = (db: Kysely<any>, words: SchemaWords) => Promise<void>;
