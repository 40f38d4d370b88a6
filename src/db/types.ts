import type {
  Compilable,
  CompiledQuery,
  Expression,
  Insertable,
  Kysely,
  RawBuilder,
  Transaction,
} from 'kysely';
import type { Clock } from '../lib/time.ts';
import type { Tables } from './schema.ts';

// The features' interface of the database. This file only imports the schema, so that all others of this folder can import it.

export type Db = Kysely<Tables>;
export type Trx = Transaction<Tables>;

export interface RateWindow {
  name: string;
  points: number;
  seconds: number;
}

/** The shorter of two windows comes first. A call that one refuses does not count in the other. */
export type RateWindows = readonly [RateWindow] | readonly [RateWindow, RateWindow];

/** The state of a key after a call: of the window that refused it, or of the last one. */
export interface RateState {
  window: RateWindow;
  remaining: number;
  /** The time until a call is possible or, after an allowed call, until the oldest one leaves the window. */
  msBeforeNext: number;
  refused: boolean;
}

export type RateGate = (key: string) => RateState | Promise<RateState>;

export type Write = Insertion | Update | Change;
export type Insertion = {
  [Name in keyof Tables]: { table: Name; rows: Insertable<Tables[Name]>[] };
}[keyof Tables];
export interface Update {
  updated: keyof Tables;
  /** For each row, the columns that change and the complete row after that. */
  rows: { id: string; set: object; after: object }[];
}

export type Decide<Result> = (results: object[][]) => { writes: Write[]; result: Result };

/** Sends `begin` and all reads in one packet, then all writes and the commit. The writes must not depend on each other's effects. */
export type ReadThenWrite = <Result>(
  reads: readonly CompiledQuery[],
  decide: Decide<Result>,
  sent?: () => void,
) => Promise<Result>;

export interface ChangeTransactions {
  /** All transactions share a connection: the next may begin as soon as one calls `sent`. They do not wait for locks. */
  pipelined: ReadThenWrite;
  /** Each transaction has a connection and waits up to 0.3 s for a lock. */
  waiting: ReadThenWrite;
  /** The maximum of concurrent waiting transactions, which leaves a connection for the pipeline. */
  mostLockWaits: number;
  batchSize: number;
}

export interface Observer {
  onQuery(durationMs: number, failed: boolean): void;
  /** `what` is one of a few fixed phrases, since it is also the label of a metric. */
  onDatabaseError(what: string, error: unknown): void;
}

export interface Blocker {
  /** It is 0 for a prepared transaction, which has no session. */
  pid: number;
  /** The application name of the session; empty if it has none. */
  application: string;
  /** For example `idle in transaction`; null if this user may not see it. */
  state: string | null;
  /** When its transaction began; null if this user may not see it. */
  since: number | null;
  /** The number of sessions that wait for it, and how many of them are the service's. */
  blocks: number;
  blocksOwn: number;
  waitsItself: boolean;
}

// --- statements that are defined once (statements.ts) ---

export type ColumnKind = 'id' | 'text' | 'integer';

export interface Dialect {
  /** An item of `from` with many rows as one parameter, so that the statement does not depend on their number. */
  rows(alias: string, columns: Record<string, ColumnKind>, values: object[]): RawBuilder<unknown>;
  /** A condition after a column: it is one of these values, which are one parameter, whatever their number. */
  oneOf(kind: ColumnKind, values: (string | number)[]): RawBuilder<boolean>;
  /** A condition after a column: it is in the result of a query. The query runs once, even with a plan for an empty table. */
  among(query: Expression<unknown>): RawBuilder<boolean>;
  /** An item of `from`: the ids, as `alias.value`, that a query finds for each row of the items before it. */
  forEachRow(alias: string, query: Expression<unknown>): RawBuilder<unknown>;
  contains(column: string, part: string): RawBuilder<boolean>;
  /** The same, ignoring case, letter by letter: `lower` only knows A to Z on SQLite, and depends on the locale on PostgreSQL. */
  containsAnyCase(column: string, part: string): RawBuilder<boolean>;
}

export type Engine = Dialect & { db: Kysely<Tables> };
export type Built<Result> = Compilable<Result> | RawBuilder<Result>;

export interface Statement<Values, Result> {
  readonly id: number;
  readonly build: (engine: Engine, params: Values) => Built<Result>;
}

export interface Change {
  statement: Statement<never, unknown>;
  values: object;
}

export type Fill = <Values, Result>(what: Statement<Values, Result>, values: Values) => CompiledQuery<Result>;

/** The database for the features. Only this folder knows which engine it is. */
export interface Database extends Dialect {
  clock: Clock;
  db: Db;
  /** For pages of lists. Its statements have generic plans, which do not depend on values. */
  lists: Db;
  /** The same for pages of a few rows that an index finds: concurrent ones share a connection and a packet. */
  shortLists: Db;
  /** The same for short reads. They share a few connections. */
  reads: Db;
  /** For reads of staff and API clients that may scan all rows of a shop: SQLite runs them in threads, PostgreSQL on separate connections. */
  scans: Db;
  /** For the webhook worker: its commits do not wait for the disk, since work that a power cut loses is done again. */
  webhooks: Db;
  /** The same for clean-up and times of last use, on a connection that neither webhooks nor requests share. */
  background: Db;
  /**
   * For many successive transactions. On SQLite, where the event loop would wait for the disk, they do not; `scrub` waits for all
   * of them.
   */
  bulk: Db;
  fill: Fill;
  /** Migrates the schema, once for all processes that start at the same time, and sets the clock. */
  migrate(notice?: Notice): Promise<void>;
  /** Updates the planner's statistics of tables that grew about tenfold since the last time. */
  analyze(): Promise<void>;
  /** Makes overwritten personal data final: it syncs the writes to disk, and removes the old bytes that no reader needs. */
  scrub(): Promise<void>;
  rateGate(windows: RateWindows, clock: Clock): RateGate;
  changeTransactions: ChangeTransactions;
  /** Wakes the listeners of every process: there is something new for this id, or for an unknown one (null). */
  wake(topic: WakeTopic, id: string | null): void;
  onWake(topic: WakeTopic, listener: WakeListener): () => void;
  /** Opens the connections that requests need at least, before other processes take the server's last ones. They stay open. */
  openConnections(): Promise<void>;
  /** Throws unless the database responds and accepts a write: one that only reads, or whose disk is full, is not ready. */
  checkReady(): Promise<void>;
  /** It is empty on SQLite, whose only lock is the one on its file. */
  blockers(): Promise<Blocker[]>;
  close(): Promise<void>;
}

/** Deliveries for a client, or events of a shop. */
export const WAKE_TOPICS = ['deliveries', 'events'] as const;
export type WakeTopic = (typeof WAKE_TOPICS)[number];
/** Gets the id with something new, or null if a wake-up may have been lost and the listener must check. */
export type WakeListener = (id: string | null) => void;

/** Receives a message for the operator about a successful migration. */
export type Notice = (message: string) => void;

export type PoolSizes = Readonly<
  Record<'changes' | 'lists' | 'admin' | 'scans' | 'webhooks' | 'reads', number>
>;

/** The pooler between this process and PostgreSQL: it may give each client a session, or each transaction any session. */
export type PoolerMode = 'nothing' | 'sessions' | 'shared sessions';
