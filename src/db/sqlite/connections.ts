import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ensurePrivateFile, restrictPermissions } from '../../lib/private-files.ts';
import { ConfigError } from '../../service/config.ts';

/** Opening waits inside SQLite for others that open at the same time: no request runs yet. */
const OPEN_TIMEOUT_MS = 2000;
const CACHED_STATEMENTS = 500;

/** A connection with its prepared statements: Kysely prepares anew for every query, which costs more than most queries. */
interface Connection {
  readonly raw: Sqlite.Database;
  prepare(sql: string): Sqlite.Statement<unknown[]>;
}

/** One connection writes; the other reads, also while the first waits for another program or is inside a transaction. */
export interface Connections {
  writer: Connection;
  reader: Connection;
  syncCommits(mode: Synchronous): void;
  /** A connection reads the planner's statistics when it is opened, and then never again. */
  reopenReader(): void;
  close(): void;
}

/** FULL: a commit is on disk when it returns. NORMAL: it is there with the next one that is FULL. */
export type Synchronous = 'FULL' | 'NORMAL';

export const openConnections = (file: string): Connections => {
  ensurePrivateFile(file);
  for (const suffix of ['-wal', '-shm']) restrictPermissions(file + suffix);
  const writer = new Sqlite(file, { timeout: OPEN_TIMEOUT_MS });
  writer.pragma('journal_mode = WAL');
  writer.pragma('foreign_keys = ON');
  writer.pragma('wal_autocheckpoint = 4000');
  const openReader = (): Connection => {
    const reader = new Sqlite(file, { timeout: OPEN_TIMEOUT_MS });
    reader.pragma('query_only = ON');
    return withStatements(reader);
  };
  let synchronous: Synchronous | null = null;
  const syncCommits = (mode: Synchronous): void => {
    if (mode !== synchronous) writer.pragma(`synchronous = ${mode}`);
    synchronous = mode;
  };
  syncCommits('FULL');
  return {
    writer: withStatements(writer),
    reader: openReader(),
    syncCommits,
    reopenReader() {
      this.reader.raw.close();
      this.reader = openReader();
    },
    close() {
      this.reader.raw.close();
      writer.close();
    },
  };
};

const withStatements = (raw: Sqlite.Database): Connection => {
  raw.pragma('cache_size = -16384');
  // From here on SQLite never waits: it would stop the event loop. The driver waits instead.
  raw.pragma('busy_timeout = 0');
  const statements = new Map<string, Sqlite.Statement<unknown[]>>();
  return {
    raw,
    prepare(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        if (statements.size >= CACHED_STATEMENTS) statements.clear();
        statement = raw.prepare<unknown[]>(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
  };
};

/** A process that was just killed may need a moment until the system has let go of its locks. */
const LOCK_TIMEOUT_MS = 1000;

/** A connection that nothing refers to would be closed, and its lock with it. */
const held = new Set<Sqlite.Database>();

/** Rate limits are counted in memory, and two processes would count twice (ADR 0001). The lock ends with the process, however it ends. */
export const lockFolder = (folder: string): (() => void) => {
  const file = join(folder, 'handback.lock');
  ensurePrivateFile(file);
  const lock = new Sqlite(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    // Nothing is ever written, so no journal is needed beside it.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!(error instanceof Sqlite.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
    throw new ConfigError(
      `another Handback serves from ${folder} already: SQLite is for one process (DATA_DIR, or DATABASE_URL for many)`,
    );
  }
  held.add(lock);
  return () => {
    held.delete(lock);
    lock.close();
  };
};
