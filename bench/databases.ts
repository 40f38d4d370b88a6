import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { Engine } from './engines.ts';

// Databases to measure on, any number of an engine: on PostgreSQL all on one server that writes to disk as a real one
// does, on SQLite a folder each.

const SECRET_KEY = 'a secret key for benchmarks that is long enough';

export interface TestDatabase {
  engine: Engine;
  /** The settings that lead the service to it. */
  env: Record<string, string>;
  /** What a baseline opens it by: an address or a file. */
  address: string;
  /** Runs one statement, however long it takes, and gives back its rows. */
  run(text: string): Promise<Record<string, unknown>[]>;
}

export interface Databases {
  version: string;
  create(name: string): Promise<TestDatabase>;
  close(): Promise<void>;
}

const openPostgres = async (): Promise<Databases> => {
  const server = await startPostgres({ durable: true });
  const run = async (address: string, text: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      return (await client.query(text)).rows ?? [];
    } finally {
      await client.end();
    }
  };
  const [about] = await run(server.url, 'show server_version');
  return {
    version: `PostgreSQL ${about?.['server_version']}`,
    async create(name) {
      await run(server.url, `create database ${name}`);
      const address = server.url.replace(/[^/]*$/, name);
      return {
        engine: 'postgres',
        env: { DATABASE_URL: address, SECRET_KEY },
        address,
        run: (text) => run(address, text),
      };
    },
    close: server.stop,
  };
};

const SQLITE_FILE = 'handback.sqlite';

const openSqlite = async (): Promise<Databases> => {
  const home = mkdtempSync(join(tmpdir(), 'handback-bench-'));
  const memory = new Sqlite(':memory:');
  const version = memory.prepare('select sqlite_version()').pluck().get();
  memory.close();
  return {
    version: `SQLite ${version}`,
    async create(name) {
      const folder = mkdtempSync(join(home, `${name}-`));
      const address = join(folder, SQLITE_FILE);
      return {
        engine: 'sqlite',
        env: { DATA_DIR: folder, SECRET_KEY },
        address,
        async run(text) {
          const connection = new Sqlite(address, { timeout: 60_000 });
          connection.pragma('journal_mode = WAL');
          try {
            const statement = connection.prepare(text);
            if (statement.reader) return statement.all() as Record<string, unknown>[];
            statement.run();
            return [];
          } finally {
            connection.close();
          }
        },
      };
    },
    close: async () => rmSync(home, { recursive: true }),
  };
};

export const openDatabases = (engine: Engine): Promise<Databases> =>
  engine === 'postgres' ? openPostgres() : openSqlite();
