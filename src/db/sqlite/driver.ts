import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import { ensurePrivateFile, restrictPermissions } from '../../lib/private-files.ts';
import { cached } from '../statements.ts';
import type { HeavyReads } from './heavy-reads.ts';

/** Opening waits inside SQLite for others that open at the same time: no request runs yet. */
const OPEN_TIMEOUT_MS = 2000;

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
    return cached(this.#statements, sql, () => this.raw.prepare<unknown[]>(sql));
  }
}

/** How long a writer waits for its turn and for other programs (the command line, a backup) before it gives up (ADR 0017). */
const BUSY_WAIT_MS = 2000;
export const LONGEST_PAUSE_MS = 20;

/** More than this cannot be written within the time that each of them may wait. */
const WAITING_WRITERS = 2000;

/** One connection writes; the other reads, also while the first waits for another program or is inside a transaction. */
export class SqliteConnections {
  readonly #file: string;
  readonly writer: PreparedConnection;
  readonly writerTurns = new BoundedQueue({
    atOnce: 1,
    waiting: WAITING_WRITERS,
    withinMs: BUSY_WAIT_MS,
    refusal: () => new Sqlite.SqliteError('database is locked', 'SQLITE_BUSY'),
  });
  reader: PreparedConnection;
  #synchronous: Synchronous | null = null;

  constructor(file: string) {
    this.#file = file;
    ensurePrivateFile(file);
    for (const suffix of ['-wal', '-shm']) restrictPermissions(file + suffix);
    this.writer = new PreparedConnection(file, [
      'journal_mode = WAL',
      'foreign_keys = ON',
      // What is deleted or overwritten is erased from the file too.
      'secure_delete = ON',
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

export const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');

/** Tries again while another program holds the lock, until the deadline. The event loop runs on in between. */
const retryWhileBusy = async <Result>(
  work: () => Result,
  deadline = performance.now() + BUSY_WAIT_MS,
): Promise<Awaited<Result>> => {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      // Not awaited: reads in the thread have waited long enough when they fail.
      return work() as Awaited<Result>;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(pauseMs);
  }
};

interface SessionSettings {
  connections: SqliteConnections;
  synchronous: Synchronous;
  waitMs?: number;
  heavyReads?: HeavyReads;
}

/** A read outside a transaction goes to the reading connection, or thread, at once; anything else waits for its turn to write. */
class Session implements DatabaseConnection {
  readonly #settings: SessionSettings;
  /** While a transaction is open. */
  #endTurn: (() => void) | null = null;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { writer } = this.#settings.connections;
    if (this.#endTurn) return run<Row>(writer.prepare(sql), parameters);
    // Asked of the writer: the reader may not have heard yet of a table that was just changed.
    const isRead = () => writer.prepare(sql).readonly;
    const read = await retryWhileBusy(() => (isRead() ? this.#read<Row>(sql, parameters) : null));
    if (read) return read;
    const { deadline, release } = await this.#takeTurn();
    try {
      return await retryWhileBusy(() => run<Row>(writer.prepare(sql), parameters), deadline);
    } finally {
      release();
    }
  }

  /** At once the write lock, so that a transaction never fails half-way because another program wrote first. */
  async begin(): Promise<void> {
    const { deadline, release } = await this.#takeTurn();
    this.#endTurn = release;
    try {
      await retryWhileBusy(() => this.#settings.connections.writer.raw.exec('begin immediate'), deadline);
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await retryWhileBusy(() => this.#settings.connections.writer.raw.exec('commit'));
    this.#giveBack();
  }

  /** On a full disk SQLite rolls back by itself; to ask again would fail and hide the reason. */
  async rollback(): Promise<void> {
    const { raw } = this.#settings.connections.writer;
    try {
      if (raw.inTransaction) raw.exec('rollback');
    } finally {
      this.#giveBack();
    }
  }

  // biome-ignore lint/correctness/useYield: never called, and Kysely wants the method
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('not supported: rows are read at once');
  }

  #read<Row>(sql: string, parameters: readonly unknown[]): QueryResult<Row> | Promise<QueryResult<Row>> {
    const { connections, heavyReads } = this.#settings;
    if (!heavyReads) return run<Row>(connections.reader.prepare(sql), parameters);
    return heavyReads.run({ sql, parameters }).then((rows) => ({ rows: rows as Row[] }));
  }

  async #takeTurn(): Promise<{ deadline: number; release: () => void }> {
    const { connections, synchronous, waitMs = BUSY_WAIT_MS } = this.#settings;
    const deadline = performance.now() + waitMs;
    const release = await connections.writerTurns.take();
    connections.syncCommits(synchronous);
    return { deadline, release };
  }

  #giveBack(): void {
    this.#endTurn?.();
    this.#endTurn = null;
  }
}

const run = <Row>(
  statement: Sqlite.Statement<unknown[]>,
  parameters: readonly unknown[],
): QueryResult<Row> => {
  if (statement.reader) return { rows: statement.all(parameters) as Row[] };
  const { changes, lastInsertRowid } = statement.run(parameters);
  return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
};

class SessionDriver implements Driver {
  readonly #settings: SessionSettings;
  readonly #idle: Session[] = [];

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<Session> {
    return this.#idle.pop() ?? new Session(this.#settings);
  }
  async releaseConnection(session: Session): Promise<void> {
    this.#idle.push(session);
  }
  beginTransaction = (session: Session): Promise<void> => session.begin();
  commitTransaction = (session: Session): Promise<void> => session.commit();
  rollbackTransaction = (session: Session): Promise<void> => session.rollback();
  /** `openSqlite` closes the connections, which several of these share. */
  async destroy(): Promise<void> {}
}

export const sessionDialect = (settings: SessionSettings): Dialect => ({
  createDriver: () => new SessionDriver(settings),
  createQueryCompiler: () => new Compiler(),
  createAdapter: () => new Adapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});

/** `for update skip locked` has no word here and needs none: the transaction holds the whole file. */
class Compiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }
}

class Adapter extends SqliteAdapter {
  /** SQLite's schema changes are transactional, and the immediate transaction around them is the migrations' lock. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
  /** Sessions wait for each other only where they write. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
