import type { Db } from './database.ts';

// How a backup reads a database, and how a restore fills one. Values are the same on both engines: texts, and integers of 64
// bits. Anything else can only be a damaged row of SQLite, which takes any value anywhere; it goes through as it is.

export type Value = null | string | bigint | number | Uint8Array;
type EngineName = 'sqlite' | 'postgres';

export interface ServerFacts {
  version: string;
  isSupported: boolean;
  /** What its clock says; null where it is the machine's own. */
  nowMs: number | null;
}

/** What is between this process and PostgreSQL: a pooler may give each client a session, or each transaction any of them. */
export type Between = 'nothing' | 'sessions' | 'shared sessions';

export interface Reading {
  engine: EngineName;
  server(): Promise<ServerFacts>;
  db: Db;
  /** The names of those that were run, in order; empty where the database has not been set up. */
  migrations(): Promise<string[]>;
  tables(): Promise<Map<string, string[]>>;
  /** In any order. At most about a megabyte, or one row, is in memory. */
  rows(table: string, columns: readonly string[]): AsyncIterable<Value[]>;
}

export interface Filling extends Reading {
  /** Keeps other processes out until the transaction ends. */
  lock(tables: readonly string[]): Promise<void>;
  hasRows(table: string): Promise<boolean>;
  clear(table: string): Promise<void>;
  /** Runs the migrations up to this one; null: all that this release knows. */
  migrateTo(name: string | null): Promise<void>;
  insert(table: string, columns: readonly string[], rows: readonly Value[][]): Promise<void>;
}

/** Work on a snapshot of the database; it changes nothing. */
export type WithSnapshot = <Result>(work: (reading: Reading) => Promise<Result>) => Promise<Result>;

export type FillAtOnce = <Result>(work: (filling: Filling) => Promise<Result>) => Promise<Result>;

export const tablesFrom = (columns: { table: string; column: string }[]): Map<string, string[]> => {
  const tables = Map.groupBy(columns, ({ table }) => table);
  return new Map([...tables].map(([table, of]) => [table, of.map(({ column }) => column)]));
};

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
