import type Sqlite from 'better-sqlite3';
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
import { BUSY_WAIT_MS, busyError, patiently } from './busy.ts';
import type { Connections, Synchronous } from './connections.ts';

/** More than this cannot be written within the time that each of them may wait. */
const WAITING_WRITERS = 2000;

export const writerTurns = (): BoundedQueue =>
  new BoundedQueue({ atOnce: 1, waiting: WAITING_WRITERS, withinMs: BUSY_WAIT_MS, refusal: busyError });

interface Settings {
  connections: Connections;
  writers: BoundedQueue;
  synchronous: Synchronous;
  /** How long a writer waits for other programs. */
  waitMs: number;
}

/**
 * What Kysely takes for a connection. A read outside a transaction goes to the reading connection at once. Everything else
 * waits for its turn on the writing connection: a single statement for as long as it runs, a transaction until its end.
 */
class Session implements DatabaseConnection {
  readonly #settings: Settings;
  /** While a transaction is open. */
  #endTurn: (() => void) | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { writer, reader } = this.#settings.connections;
    if (this.#endTurn) return run<Row>(writer.prepare(sql), parameters);
    // Asked of the writer: the reader may not have heard yet of a table that was just changed.
    const isRead = () => writer.prepare(sql).readonly;
    const read = await patiently(() => (isRead() ? run<Row>(reader.prepare(sql), parameters) : null));
    if (read) return read;
    const { deadline, release } = await this.#takeTurn();
    try {
      return await patiently(() => run<Row>(writer.prepare(sql), parameters), deadline);
    } finally {
      release();
    }
  }

  /** At once the write lock, so that a transaction never fails half-way because somebody else wrote first. */
  async begin(): Promise<void> {
    const { deadline, release } = await this.#takeTurn();
    try {
      await patiently(() => this.#settings.connections.writer.raw.exec('begin immediate'), deadline);
      this.#endTurn = release;
    } catch (error) {
      release();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await patiently(() => this.#settings.connections.writer.raw.exec('commit'));
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

  // biome-ignore lint/correctness/useYield: nobody asks for it, and Kysely wants the method
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('not supported: rows are read at once');
  }

  async #takeTurn(): Promise<{ deadline: number; release: () => void }> {
    const { writers, connections, synchronous, waitMs } = this.#settings;
    const deadline = performance.now() + waitMs;
    const release = await writers.take();
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
  readonly #settings: Settings;
  readonly #idle: Session[] = [];

  constructor(settings: Settings) {
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
  /** The connections are everybody's; whoever opened them closes them. */
  async destroy(): Promise<void> {}
}

export const sessionDialect = (settings: Settings): Dialect => ({
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
