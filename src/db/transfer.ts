import type { Db } from './database.ts';

// How a backup reads a database, and how a restore fills one. Values are the same on both engines: texts, and integers of 64
// bits. Anything else can only be a damaged row of SQLite, which takes any value anywhere; it goes through as it is.

export type Value = null | string | bigint | number | Uint8Array;
type EngineName = 'sqlite' | 'postgres';

/** What the server says of itself. */
export interface ServerFacts {
  /** Its name and version, for people. */
  version: string;
  isSupported: boolean;
  /** What its clock says; null where it is the machine's own. */
  nowMs: number | null;
}

/** What stands between this process and PostgreSQL. A pooler may give each client a session, or each transaction any of them. */
export type Between = 'nothing' | 'sessions' | 'shared sessions';

export interface Reading {
  engine: EngineName;
  server(): Promise<ServerFacts>;
  /** For queries at the same moment. */
  db: Db;
  /** Of the migrations that have been made, in their order; empty where the database has not been set up. */
  migrations(): Promise<string[]>;
  /** Tables with their columns. */
  tables(): Promise<Map<string, string[]>>;
  /** In any order. At most about a megabyte, or one row, is in memory. */
  rows(table: string, columns: readonly string[]): AsyncIterable<Value[]>;
}

export interface Filling extends Reading {
  /** Keeps everybody else out until the transaction ends. */
  lock(tables: readonly string[]): Promise<void>;
  hasRows(table: string): Promise<boolean>;
  clear(table: string): Promise<void>;
  /** Makes the migrations up to this one; null: all that this release knows. */
  migrateTo(name: string | null): Promise<void>;
  insert(table: string, columns: readonly string[], rows: readonly Value[][]): Promise<void>;
}

/** Work on what the database holds at one moment, whatever others write meanwhile; it changes nothing. */
export type WithSnapshot = <Result>(work: (reading: Reading) => Promise<Result>) => Promise<Result>;

/** Work that is done as a whole or, if it throws or the process dies, leaves no trace. */
export type FillAtOnce = <Result>(work: (filling: Filling) => Promise<Result>) => Promise<Result>;

/** The names of the migrations that were made, from the migrator's table where that is there. */
export const madeMigrations = async (db: Db, tables: ReadonlyMap<string, unknown>): Promise<string[]> => {
  if (!tables.has('kysely_migration')) return [];
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .orderBy('name')
    .execute();
  return rows.map(({ name }) => name);
};
