import { existsSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { ConfigError } from '../../service/config.ts';
import type { Db } from '../database.ts';
import type { Notice } from '../migrate.ts';
import type { Tables } from '../schema.ts';
import { type FillAtOnce, type Filling, transferOf, type Value, type WithSnapshot } from '../transfer.ts';
import { SqliteConnections, sessionDialect } from './driver.ts';

/** No request waits for this process. */
const BUSY_MS = 15_000;

const id = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const list = (names: readonly string[]): string => names.map(id).join();

const transfer = (raw: Sqlite.Database, db: Db, notice: Notice): Filling =>
  transferOf(db, notice, {
    engine: 'sqlite',
    server: async () => ({
      version: `SQLite ${raw.prepare('select sqlite_version()').pluck().get()}`,
      isSupported: true,
      nowMs: null,
    }),
    async *rows(table, columns) {
      const all = raw.prepare<[], Value[]>(`select ${list(columns)} from ${id(table)}`);
      yield* all.raw().safeIntegers().iterate();
    },
    // The file has one writer: no table needs a lock.
    async lock() {},
    async insert(table, columns, rows) {
      const marks = columns.map(() => '?').join();
      const statement = raw.prepare(`insert into ${id(table)} (${list(columns)}) values (${marks})`);
      for (const row of rows) statement.run(row);
    },
  });

/** On a connection of its own: it reads one moment while the server goes on. */
export const sqliteSnapshot =
  (file: string): WithSnapshot =>
  async (work) => {
    if (!existsSync(file)) throw new ConfigError(`there is no database in ${file} (DATA_DIR)`);
    const raw = new Sqlite(file, { fileMustExist: true, timeout: BUSY_MS });
    try {
      raw.pragma('query_only = ON');
      raw.exec('begin');
      const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) });
      return await work(transfer(raw, db, () => {}));
    } finally {
      raw.close();
    }
  };

export const fillSqlite =
  (file: string, notice: Notice): FillAtOnce =>
  async (work) => {
    const connections = new SqliteConnections(file);
    const { raw } = connections.writer;
    const db = new Kysely<Tables>({
      dialect: sessionDialect({ connections, synchronous: 'FULL', waitMs: BUSY_MS }),
    });
    try {
      return await db.transaction().execute((trx) => work(transfer(raw, trx, notice)));
    } finally {
      connections.close();
    }
  };
