import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ensurePrivateFile, restrictPermissions } from '../../lib/private-files.ts';
import { ConfigError } from '../../service/config.ts';

/** Opening waits inside SQLite for others that open at the same time: no request runs yet. */
const OPEN_TIMEOUT_MS = 2000;
const CACHED_STATEMENTS = 500;

/** FULL: a commit is on disk when it returns. NORMAL: it is there with the next one that is FULL. */
export type Synchronous = 'FULL' | 'NORMAL';

/** A connection with its prepared statements: Kysely prepares anew for every query, which costs more than most queries. */
class PreparedConnection {
  readonly raw: Sqlite.Database;
  readonly #statements = new Map<string, Sqlite.Statement<unknown[]>>();

  constructor(file: string, pragmas: string[]) {
    this.raw = new Sqlite(file, { timeout: OPEN_TIMEOUT_MS });
    // From the last one on SQLite never waits: it would stop the event loop. The driver waits instead.
    for (const pragma of [...pragmas, 'cache_size = -16384', 'busy_timeout = 0']) this.raw.pragma(pragma);
  }

  prepare(sql: string): Sqlite.Statement<unknown[]> {
    const known = this.#statements.get(sql);
    if (known) return known;
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    const statement = this.raw.prepare<unknown[]>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** One connection writes; the other reads, also while the first waits for another program or is inside a transaction. */
export class SqliteConnections {
  readonly #file: string;
  readonly writer: PreparedConnection;
  reader: PreparedConnection;
  #synchronous: Synchronous | null = null;

  constructor(file: string) {
    this.#file = file;
    ensurePrivateFile(file);
    for (const suffix of ['-wal', '-shm']) restrictPermissions(file + suffix);
    this.writer = new PreparedConnection(file, [
      'journal_mode = WAL',
      'foreign_keys = ON',
      'wal_autocheckpoint = 4000',
    ]);
    this.syncCommits('FULL');
    this.reader = this.#openReader();
  }

  syncCommits(mode: Synchronous): void {
    if (mode !== this.#synchronous) this.writer.raw.pragma(`synchronous = ${mode}`);
    this.#synchronous = mode;
  }

  /** A connection reads the planner's statistics when it is opened, and then never again. */
  reopenReader(): void {
    this.reader.raw.close();
    this.reader = this.#openReader();
  }

  close(): void {
    this.reader.raw.close();
    this.writer.raw.close();
  }

  #openReader(): PreparedConnection {
    return new PreparedConnection(this.#file, ['query_only = ON']);
  }
}

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
