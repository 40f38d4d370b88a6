import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import SqliteDatabase from 'better-sqlite3';
import { Kysely } from 'kysely';
import { ConfigError } from '../../service/config.ts';
import type { Db } from '../database.ts';
import { migrateTo, SCHEMA_WORDS } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import {
  type FillAtOnce,
  type Filling,
  madeMigrations,
  type Reading,
  tablesFrom,
  type Value,
  type WithSnapshot,
} from '../transfer.ts';
import { type Connections, openConnections } from './connections.ts';
import { sessionDialect, writerTurns } from './driver.ts';

/** No request waits for this process: SQLite itself waits for another writer. */
const BUSY_MS = 15_000;

const id = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const list = (names: readonly string[]): string => names.map(id).join();

const kyselyOn = (connections: Connections): Db =>
  new Kysely<Tables>({
    dialect: sessionDialect({ connections, writers: writerTurns(), synchronous: 'FULL', waitMs: BUSY_MS }),
  });

const reading = (raw: Sqlite.Database, db: Db): Reading => {
  const tables = async () => {
    const columns = raw.prepare<[], { table: string; column: string }>(
      `select t.name as "table", c.name as "column" from sqlite_master as t, pragma_table_info(t.name) as c
       where t.type = 'table' and t.name not like 'sqlite~_%' escape '~' order by t.name, c.cid`,
    );
    return tablesFrom(columns.all());
  };
  return {
    engine: 'sqlite',
    server: async () => ({
      version: `SQLite ${raw.prepare('select sqlite_version()').pluck().get()}`,
      isSupported: true,
      nowMs: null,
    }),
    db,
    tables,
    migrations: async () => madeMigrations(db, await tables()),
    async *rows(table, columns) {
      const all = raw.prepare<[], Value[]>(`select ${list(columns)} from ${id(table)}`);
      yield* all.raw().safeIntegers().iterate();
    },
  };
};

/** On a connection of its own: it reads one moment while the server goes on. */
export const sqliteSnapshot =
  (file: string): WithSnapshot =>
  async (work) => {
    if (!existsSync(file)) throw new ConfigError(`there is no database in ${file} (DATA_DIR)`);
    const raw = new SqliteDatabase(file, { fileMustExist: true, timeout: BUSY_MS });
    try {
      raw.pragma('query_only = ON');
      raw.exec('begin');
      const connection = { raw, prepare: (sql: string) => raw.prepare<unknown[]>(sql) };
      const db = kyselyOn({
        writer: connection,
        reader: connection,
        syncCommits: () => {},
        reopenReader: () => {},
        close: () => {},
      });
      return await work(reading(raw, db));
    } finally {
      raw.close();
    }
  };

export const fillSqlite =
  (file: string): FillAtOnce =>
  async (work) => {
    const connections = openConnections(file);
    const { raw } = connections.writer;
    try {
      return await kyselyOn(connections)
        .transaction()
        .execute((trx) => work(filling(raw, trx)));
    } finally {
      connections.close();
    }
  };

const filling = (raw: Sqlite.Database, trx: Db): Filling => ({
  ...reading(raw, trx),
  // The file has one writer.
  lock: async () => {},
  hasRows: async (table) => raw.prepare(`select 1 from ${id(table)} limit 1`).get() !== undefined,
  clear: async (table) => void raw.exec(`delete from ${id(table)}`),
  migrateTo: (name) => migrateTo(trx, { ...SCHEMA_WORDS.sqlite, notice: () => {} }, name),
  async insert(table, columns, rows) {
    const marks = columns.map(() => '?').join();
    const statement = raw.prepare(`insert into ${id(table)} (${list(columns)}) values (${marks})`);
    for (const row of rows) statement.run(row);
  },
});
