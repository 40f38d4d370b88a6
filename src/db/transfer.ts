import { sql } from 'kysely';
import type { Db } from './database.ts';
import { executedMigrations, migrateTo, type Notice, SCHEMA_DIALECTS } from './migrate.ts';
import { TABLE_NAMES } from './schema.ts';

// How a backup reads a database, and how a restore fills one. Values are the same on both engines: texts, and integers of 64
// bits. Anything else can only be a damaged row of SQLite, which takes any value anywhere; it goes through as it is.

/** A session that ended and a link that was used must not come back to life. The others count for a day at most. */
const NOT_BACKED_UP = ['sessions', 'access_links', 'sign_in_failures', 'webhook_leases', 'rate_limits'];

/** In the order in which they are restored: tables that others refer to come first. */
export const BACKED_UP_TABLES: readonly string[] = TABLE_NAMES.filter(
  (name) => !NOT_BACKED_UP.includes(name),
);

/** Every start writes here, so its rows do not mean that the database is in use. */
export const WRITTEN_BY_A_START = 'installation';

export type Value = null | string | bigint | number | Uint8Array;

export interface ServerFacts {
  version: string;
  isSupported: boolean;
  /** What its clock says; null where it is the machine's own. */
  nowMs: number | null;
}

/** What is between this process and PostgreSQL: a pooler may give each client a session, or each transaction any of them. */
export type PoolerMode = 'nothing' | 'sessions' | 'shared sessions';

export interface Reading {
  engine: keyof typeof SCHEMA_DIALECTS;
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

/** Adds what is the same on both engines. */
export const transferOf = (
  db: Db,
  notice: Notice,
  own: Pick<Filling, 'engine' | 'server' | 'rows' | 'lock' | 'insert'>,
): Filling => {
  const dialect = SCHEMA_DIALECTS[own.engine];
  const tables = async () => {
    const { rows } = await dialect.catalogue.execute(db);
    const columns = rows.map(({ name }) => name.split('.')).filter((names) => names.length === 2);
    const byTable = Map.groupBy(columns, ([table = '']) => table);
    return new Map([...byTable].map(([table, of]) => [table, of.map(([, column = '']) => column)]));
  };
  return {
    ...own,
    db,
    tables,
    migrations: async () => ((await tables()).has('kysely_migration') ? executedMigrations(db) : []),
    async hasRows(table) {
      const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
      return rows.length > 0;
    },
    clear: async (table) => void (await sql`delete from ${sql.table(table)}`.execute(db)),
    migrateTo: async (name) => void (await migrateTo(db, { ...dialect, notice }, name)),
  };
};
