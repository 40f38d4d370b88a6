import { existsSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import type pg from 'pg';
import { ConfigError } from '../lib/config-error.ts';
import { executedMigrations, migrateTo, SCHEMA_DIALECTS } from './migrate.ts';
import { type DatabaseLocation, fileIn } from './open.ts';
import { Hosts, refuseSharedSessions } from './postgres/hosts.ts';
import { setting, withOwnPool } from './postgres/pools.ts';
import { insertRows, namesOf } from './postgres/transaction.ts';
import { writeCheck } from './postgres/write-check.ts';
import { TABLE_NAMES, type Tables } from './schema.ts';
import { SqliteConnections, sessionDialect } from './sqlite/driver.ts';
import type { Db, Notice, Trx } from './types.ts';

// How a backup reads a database, and how a restore fills one. Both engines have the same values: texts, and 64-bit
// integers. Another value is a damaged row of SQLite, which stores any value in any column; it is passed on unchanged.

/** Ended sessions and used links must not become valid again. The other tables are relevant for a day at most. */
const NOT_BACKED_UP = ['sessions', 'access_links', 'sign_in_failures', 'webhook_leases', 'rate_limits'];

/** The tables in the order of a restore: a table comes after those that it refers to. */
export const BACKED_UP_TABLES: readonly string[] = TABLE_NAMES.filter(
  (name) => !NOT_BACKED_UP.includes(name),
);

/** Every start writes into this table, so its rows do not mean that the database is in use. */
export const WRITTEN_BY_A_START = 'installation';

export type Value = null | string | bigint | number | Uint8Array;

export interface ServerFacts {
  version: string;
  isSupported: boolean;
  /** The time of the database's clock; null if that is the machine's. */
  nowMs: number | null;
}

export interface Reading {
  engine: keyof typeof SCHEMA_DIALECTS;
  server(): Promise<ServerFacts>;
  db: Db;
  /** The names of the migrations that were run, in order; empty if the database is not set up. */
  migrations(): Promise<string[]>;
  tables(): Promise<Map<string, string[]>>;
  /** Reads all rows in any order. At most about a megabyte, or one row, is in memory. */
  rows(table: string, columns: readonly string[]): AsyncIterable<Value[]>;
}

export interface Filling extends Reading {
  /** Locks out other processes until the transaction ends. */
  lock(tables: readonly string[]): Promise<void>;
  /** Runs the migrations up to this one, or all for null. */
  migrateTo(name: string | null): Promise<void>;
  insert(table: string, columns: readonly string[], rows: readonly Value[][]): Promise<void>;
}

const transferOf = (
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
    migrateTo: async (name) => void (await migrateTo(db, { ...dialect, notice }, name)),
  };
};

/** Runs work on a snapshot of a database while others use it. It does not create, migrate or change the database. */
export const withSnapshot = <Result>(
  { databaseUrl, dataDir }: DatabaseLocation,
  work: (reading: Reading) => Promise<Result>,
  { statementMs = 0, lockMs = 0 } = {},
): Promise<Result> =>
  databaseUrl
    ? onOwnConnection(databaseUrl, { statement_timeout: statementMs, lock_timeout: lockMs }, (db) =>
        db
          .transaction()
          .setIsolationLevel('repeatable read')
          .setAccessMode('read only')
          .execute((trx) => work(postgresTransfer(trx))),
      )
    : sqliteSnapshot(fileIn(dataDir), work);

/** It checks for a transaction pooler first, which may also refuse the transaction. */
export const isSetUp = async (where: DatabaseLocation): Promise<boolean> => {
  if (where.databaseUrl) await new Hosts(where.databaseUrl).connect(refuseSharedSessions);
  return (await withSnapshot(where, (reading) => reading.migrations())).length > 0;
};

export const fillDatabase = (
  { databaseUrl, dataDir }: DatabaseLocation,
  notice: Notice,
  work: (filling: Filling) => Promise<void>,
): Promise<void> =>
  databaseUrl ? fillPostgres(databaseUrl, notice, work) : fillSqlite(fileIn(dataDir), notice, work);

const UNDONE = new Error('undone');
const WRITE_TIMEOUT_MS = 3_000;

/** Throws if the database accepts no writes, like `/readyz`. It changes nothing. */
export const tryWrite = async ({ databaseUrl, dataDir }: DatabaseLocation): Promise<void> => {
  if (databaseUrl) return onOwnConnection(databaseUrl, { statement_timeout: WRITE_TIMEOUT_MS }, writeAndUndo);
  const raw = new Sqlite(fileIn(dataDir), { fileMustExist: true, timeout: WRITE_TIMEOUT_MS });
  try {
    // This commits the first page unchanged, since a rollback would never reach the disk.
    raw.pragma(`user_version = ${raw.pragma('user_version', { simple: true })}`);
  } finally {
    raw.close();
  }
};

const writeAndUndo = (db: Db): Promise<void> =>
  db
    .transaction()
    .execute(async (trx) => {
      for (const query of writeCheck(trx, 0)) await trx.executeQuery(query);
      throw UNDONE;
    })
    .catch((error) => {
      if (error !== UNDONE) throw error;
    });

// --- PostgreSQL ---

const LOCK_TIMEOUT_MS = 10_000;

const ROWS_AT_ONCE = { least: 10, most: 2_000 };
const BYTES_AT_ONCE = 1024 * 1024;

/** Runs work on a dedicated connection, on which statements have no time limit unless `limits` sets one. */
const onOwnConnection = async <Result>(
  address: string,
  limits: Record<string, string | number>,
  work: (db: Db) => Promise<Result>,
): Promise<Result> => {
  const settings = { statement_timeout: 0, idle_in_transaction_session_timeout: 0, ...limits };
  const onConnect = async (client: pg.ClientBase) => void (await client.query(setting(settings)));
  return new Hosts(address).connect((connectionString) =>
    withOwnPool({ connectionString, max: 1, onConnect }, work),
  );
};

const fillPostgres = async (address: string, notice: Notice, work: (filling: Filling) => Promise<void>) => {
  await new Hosts(address).connect(refuseSharedSessions);
  await onOwnConnection(address, { lock_timeout: LOCK_TIMEOUT_MS }, async (db) => {
    await db.transaction().execute((trx) => work(postgresTransfer(trx, notice)));
    // Without statistics, PostgreSQL plans for empty tables. The restore is complete, so an error does not matter.
    await sql`analyze`
      .execute(db)
      .catch(() =>
        notice('all is restored, but ANALYZE failed: run it, or PostgreSQL plans for empty tables'),
      );
  });
};

const postgresTransfer = (trx: Trx, notice: Notice = () => {}): Filling =>
  transferOf(trx, notice, {
    engine: 'postgres',
    server: () => serverFacts(trx),
    rows: (table, columns) => rowsOf(trx, table, columns),
    async lock(tables) {
      const names = sql.join(tables.map((table) => sql.table(table)));
      if (tables.length > 0) await sql`lock table ${names} in access exclusive mode`.execute(trx);
    },
    async insert(table, columns, rows) {
      const asText = (value: Value | undefined) => (typeof value === 'bigint' ? String(value) : value);
      const records = rows.map((row) =>
        Object.fromEntries(columns.map((column, i) => [column, asText(row[i])])),
      );
      await insertRows(table, columns, records).execute(trx);
    },
  });

const OLDEST_SUPPORTED = 14;

const serverFacts = async (trx: Trx): Promise<ServerFacts> => {
  const { rows } = await sql<{ version: string; nowMs: number }>`
    select current_setting('server_version') as version,
      extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`.execute(trx);
  const { version = '', nowMs = null } = rows[0] ?? {};
  const isSupported = Number.parseInt(version, 10) >= OLDEST_SUPPORTED;
  return { version: `PostgreSQL ${version}`, isSupported, nowMs };
};

/** Reads through a cursor. Each batch has as many rows as had about a megabyte in the last one. */
async function* rowsOf(trx: Trx, table: string, columns: readonly string[]): AsyncGenerator<Value[]> {
  const all = sql`select ${namesOf(columns)} from ${sql.table(table)}`;
  await sql`declare backup_rows no scroll cursor for ${all}`.execute(trx);
  let atOnce = ROWS_AT_ONCE.least;
  for (;;) {
    const { rows } = await sql<Record<string, Value>>`fetch ${sql.lit(atOnce)} from backup_rows`.execute(trx);
    if (rows.length === 0) break;
    let length = 0;
    for (const row of rows) {
      yield columns.map((column) => {
        const value = row[column] ?? null;
        length += typeof value === 'string' ? value.length : 8;
        return typeof value === 'number' ? BigInt(value) : value;
      });
    }
    const fitting = Math.floor((rows.length * BYTES_AT_ONCE) / length);
    atOnce = Math.min(Math.max(fitting, ROWS_AT_ONCE.least), ROWS_AT_ONCE.most);
  }
  await sql`close backup_rows`.execute(trx);
}

// --- SQLite ---

/** It may be long, since no request waits for this process. */
const BUSY_MS = 15_000;

const sqliteTransfer = (raw: Sqlite.Database, db: Db, notice: Notice = () => {}): Filling =>
  transferOf(db, notice, {
    engine: 'sqlite',
    async server() {
      const version = raw.prepare('select sqlite_version()').pluck().get();
      return { version: `SQLite ${version}`, isSupported: true, nowMs: null };
    },
    async *rows(table, columns) {
      const { sql: text } = sql`select ${namesOf(columns)} from ${sql.table(table)}`.compile(db);
      const all = raw.prepare<[], Value[]>(text);
      yield* all.raw().safeIntegers().iterate();
    },
    // The file has one writer, so no table needs a lock.
    async lock() {},
    async insert(table, columns, rows) {
      const values = sql.raw(columns.map(() => '?').join());
      const insertion = sql`insert into ${sql.table(table)} (${namesOf(columns)}) values (${values})`;
      const statement = raw.prepare(insertion.compile(db).sql);
      for (const row of rows) statement.run(row);
    },
  });

/** Runs work on a dedicated connection, which reads one snapshot while the server continues. */
const sqliteSnapshot = async <Result>(file: string, work: (reading: Reading) => Promise<Result>) => {
  if (!existsSync(file)) throw new ConfigError(`there is no database in ${file} (DATA_DIR)`);
  const raw = new Sqlite(file, { fileMustExist: true, timeout: BUSY_MS });
  try {
    raw.pragma('query_only = ON');
    raw.exec('begin');
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) });
    return await work(sqliteTransfer(raw, db));
  } finally {
    raw.close();
  }
};

const fillSqlite = async (file: string, notice: Notice, work: (filling: Filling) => Promise<void>) => {
  const connections = new SqliteConnections(file);
  const { raw } = connections.writer;
  const dialect = sessionDialect({ connections, synchronous: 'FULL', waitMs: BUSY_MS });
  const db = new Kysely<Tables>({ dialect });
  try {
    await db.transaction().execute((trx) => work(sqliteTransfer(raw, trx, notice)));
  } finally {
    connections.close();
  }
};
