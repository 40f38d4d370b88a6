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
import { cached } from '../../lib/cached.ts';
import { ensurePrivateFile, restrictPermissions } from '../../lib/private-files.ts';
import { timeLimit } from '../../lib/time-limits.ts';
import type { HeavyReads } from './heavy-reads.ts';

/** The wait of a start, during which another process may open, migrate or close the database. Opening waits inside SQLite. */
export const START_WAIT_MS = 15_000;

/** With FULL a commit is on disk when it returns, with NORMAL only after the next FULL one. */
export type Synchronous = 'FULL' | 'NORMAL';

/** A connection with its prepared statements, since Kysely would prepare every query again, which costs more than most queries. */
class PreparedConnection {
  readonly raw: Sqlite.Database;
  readonly #statements = new Map<string, Sqlite.Statement<unknown[]>>();

  constructor(file: string, pragmas: string[]) {
    this.raw = new Sqlite(file, { timeout: START_WAIT_MS });
    // After the last pragma SQLite never waits, which would stop the event loop. The driver waits instead.
    for (const pragma of [...pragmas, 'cache_size = -8192', 'busy_timeout = 0']) this.raw.pragma(pragma);
  }

  prepare(sql: string): Sqlite.Statement<unknown[]> {
    return cached(this.#statements, sql, () => this.raw.prepare<unknown[]>(sql));
  }
}

/** The time limit of a writer for the queue and for other processes (the command line, a backup) (ADR 0017). */
const BUSY_WAIT_MS = 2000;
export const LONGEST_PAUSE_MS = 20;

/** More writers could not write within the time limit. */
const WAITING_WRITERS = 2000;

/** The thread runs a checkpoint when the WAL has this many pages. SQLite's own, at twice as many, then has little to do. */
const CHECKPOINT_PAGES = 2000;
/** The size of the WAL is checked after this many transactions, since a check takes 5 µs. */
const CHECK_WAL_EVERY = 8;
type LogPages = Record<'log' | 'checkpointed', number>;

/** One connection writes. The other reads, even while the first waits for another process or is inside a transaction. */
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
  #turns = 0;
  #isLogMoving = false;
  readonly #moveLog: () => Promise<void>;

  constructor(file: string, moveLog = async () => {}) {
    this.#file = file;
    this.#moveLog = moveLog;
    ensurePrivateFile(file);
    for (const suffix of ['-wal', '-shm']) restrictPermissions(file + suffix);
    this.writer = new PreparedConnection(file, [
      'journal_mode = WAL',
      'foreign_keys = ON',
      // Deleted and overwritten data is also erased from the file.
      'secure_delete = ON',
      `wal_autocheckpoint = ${2 * CHECKPOINT_PAGES}`,
    ]);
    this.syncCommits('FULL');
    this.reader = this.#openReader();
  }

  syncCommits(mode: Synchronous): void {
    if (mode !== this.#synchronous) this.writer.raw.pragma(`synchronous = ${mode}`);
    this.#synchronous = mode;
  }

  /** Runs between two transactions. In the event loop a checkpoint would wait for the disk. */
  lookAtLog(): void {
    this.#turns += 1;
    if (this.#isLogMoving || this.#turns % CHECK_WAL_EVERY !== 0) return;
    try {
      const pages = this.writer.prepare('pragma wal_checkpoint(noop)').get() as LogPages;
      if (pages.log - pages.checkpointed < CHECKPOINT_PAGES) return;
    } catch {
      // The next transaction gets the same error and reports it.
      return;
    }
    this.#isLogMoving = true;
    void this.#moveLog().finally(() => {
      this.#isLogMoving = false;
    });
  }

  /** A connection only reads the planner's statistics when it is opened. */
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

/** Retries while another process holds the lock, until the deadline. The event loop continues meanwhile. */
const retryWhileBusy = async <Result>(work: () => Result, deadline: number): Promise<Awaited<Result>> => {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      // This is deliberately not awaited: reads in the thread have their own time limit and are not retried.
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

/** Reads outside a transaction run immediately, on the reading connection or in a thread. Anything else waits in the queue of writers. */
class Session implements DatabaseConnection {
  readonly #settings: SessionSettings;
  #endTurn: (() => void) | null = null;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { writer } = this.#settings.connections;
    if (this.#endTurn) return run<Row>(writer.prepare(sql), parameters);
    // The writer prepares it, since the reader may not know yet of a table that was just changed.
    const readNow = () => (writer.prepare(sql).readonly ? this.#read<Row>(sql, parameters) : null);
    const read = await retryWhileBusy(readNow, this.#deadline());
    if (read) return read;
    const { deadline, release } = await this.#takeTurn();
    try {
      return await retryWhileBusy(() => run<Row>(writer.prepare(sql), parameters), deadline);
    } finally {
      release();
    }
  }

  /** Takes the write lock immediately, so that a transaction never fails half-way because another process wrote first. */
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
    await retryWhileBusy(() => this.#settings.connections.writer.raw.exec('commit'), this.#deadline());
    this.#giveBack();
  }

  /** On a full disk SQLite rolls back by itself. A second rollback would fail and hide the reason. */
  async rollback(): Promise<void> {
    const { raw } = this.#settings.connections.writer;
    try {
      if (raw.inTransaction) raw.exec('rollback');
    } finally {
      this.#giveBack();
    }
  }

  // biome-ignore lint/correctness/useYield: it is never called, but Kysely requires it
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('not supported: rows are read at once');
  }

  #read<Row>(sql: string, parameters: readonly unknown[]): QueryResult<Row> | Promise<QueryResult<Row>> {
    const { connections, heavyReads } = this.#settings;
    if (!heavyReads) return run<Row>(connections.reader.prepare(sql), parameters);
    return heavyReads.run({ sql, parameters }).then((rows) => ({ rows: rows as Row[] }));
  }

  async #takeTurn(): Promise<{ deadline: number; release: () => void }> {
    const { connections, synchronous } = this.#settings;
    const deadline = this.#deadline();
    const release = await connections.writerTurns.take();
    connections.syncCommits(synchronous);
    connections.lookAtLog();
    return { deadline, release };
  }

  #deadline = (): number => performance.now() + timeLimit(this.#settings.waitMs ?? BUSY_WAIT_MS);

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

const sessionDriver = (settings: SessionSettings): Driver => {
  const idle: Session[] = [];
  return {
    async init() {},
    acquireConnection: async () => idle.pop() ?? new Session(settings),
    releaseConnection: async (session: Session) => void idle.push(session),
    beginTransaction: (session: Session) => session.begin(),
    commitTransaction: (session: Session) => session.commit(),
    rollbackTransaction: (session: Session) => session.rollback(),
    // `openSqlite` closes the connections, which several drivers share.
    async destroy() {},
  };
};

export const sessionDialect = (settings: SessionSettings): Dialect => ({
  createDriver: () => sessionDriver(settings),
  createQueryCompiler: () => new Compiler(),
  createAdapter: () => new Adapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});

class Compiler extends SqliteQueryCompiler {
  /**
   * SQLite prepares a statement with a bare parameter in a range or a limit again for every run, to see its value: reading
   * the due deliveries of a receiver took 0.25 ms instead of 0.03.
   */
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
  /** SQLite has no `for update skip locked` and needs none, since a transaction locks the whole file. */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }
}

class Adapter extends SqliteAdapter {
  /** SQLite's schema changes are transactional, and the immediate transaction around them serves as the migrations' lock. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
  /** Only writing sessions wait for each other. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
