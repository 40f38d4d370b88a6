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

// What the features know of the database. This file imports no other of this folder but the schema, so all of them can import it.

export type Db = Kysely<Tables>;
export type Trx = Transaction<Tables>;

export interface RateWindow {
  name: string;
  points: number;
  seconds: number;
}

/** The short one of two comes first. What one of them refuses spends nothing of the other. */
export type RateWindows = readonly [RateWindow] | readonly [RateWindow, RateWindow];

/** How a key stands after a call: in the window that refused it, or in the last one. */
export interface RateState {
  window: RateWindow;
  remaining: number;
  /** Until a call is possible; for a call that passed, until the oldest one leaves the window. */
  msBeforeNext: number;
  refused: boolean;
}

export type RateGate = (key: string) => RateState | Promise<RateState>;

export type Write = Insertion | Update | Change;
/** Rows for a table, all with the same columns. */
export type Insertion = {
  [Name in keyof Tables]: { table: Name; rows: Insertable<Tables[Name]>[] };
}[keyof Tables];
export interface Update {
  updated: keyof Tables;
  /** What changes of each row, and all of it then. */
  rows: { id: string; set: object; after: object }[];
}

export type Decide<Result> = (results: object[][]) => { writes: Write[]; result: Result };

/** `begin` and all reads in one packet, then all writes and the commit. The writes must not depend on each other's effects. */
export type ReadThenWrite = <Result>(
  reads: readonly CompiledQuery[],
  decide: Decide<Result>,
  sent?: () => void,
) => Promise<Result>;

export interface ChangeTransactions {
  /** One connection for all of them: the next may be asked for as soon as one calls `sent`. Waits for no lock. */
  pipelined: ReadThenWrite;
  /** A connection for each, waits up to 0.3 s for a lock. */
  waiting: ReadThenWrite;
  /** How many of these there may be at once, so that the pipeline never lacks a connection. */
  mostWaiting: number;
  batchSize: number;
}

export interface Observer {
  onQuery(durationMs: number, failed: boolean): void;
  /** `what` is one of a few fixed phrases: it is also the label of a metric. */
  onDatabaseError(what: string, error: unknown): void;
}

/** A session of the database server whose locks others wait for, or whose transaction seems forgotten. */
export interface Blocker {
  /** 0: a prepared transaction, which has no session. */
  pid: number;
  /** The application name of the session; empty if it has none. */
  application: string;
  /** `idle in transaction` for example; null where this user may not know. */
  state: string | null;
  /** When its transaction began; null where this user may not know. */
  since: number | null;
  /** How many sessions wait for it, and how many of them are the service's. */
  blocks: number;
  blocksOwn: number;
  waitsItself: boolean;
}

// Statements that are defined once (statements.ts).

export type ColumnKind = 'id' | 'text' | 'integer';

export interface Dialect {
  /** Many rows as one parameter, to stand in a `from`: one statement, always the same text, whatever their number. */
  rows(alias: string, columns: Record<string, ColumnKind>, values: object[]): RawBuilder<unknown>;
  /** To stand after a column: it is one of these, as one parameter, whatever their number. */
  oneOf(kind: ColumnKind, values: (string | number)[]): RawBuilder<boolean>;
  /** To stand after a column: it is among what a query finds. The query runs once, also by a plan for an empty table. */
  among(query: Expression<unknown>): RawBuilder<boolean>;
  /** To stand in a `from`: the ids, as `alias.value`, that a query finds for each row of what stands before it. */
  forEachRow(alias: string, query: Expression<unknown>): RawBuilder<unknown>;
  contains(column: string, part: string): RawBuilder<boolean>;
  /** The same in any case, letter by letter: `lower` knows only A to Z on SQLite, and on PostgreSQL what its locale knows. */
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

/** What an engine gives the features; only this folder knows which engine it is. */
export interface Database extends Dialect {
  clock: Clock;
  db: Db;
  /** For pages of lists. Statements here have one plan, whatever their values are. */
  lists: Db;
  /** The same for pages of a few rows, to which an index leads: those that are asked for together share a connection and a packet. */
  shortLists: Db;
  /** The same for short reads, which share a few connections. */
  reads: Db;
  /** For reads that may look at all rows of a shop, for staff and API clients alike: on SQLite in threads, on PostgreSQL on connections of their own. */
  scans: Db;
  /** For the webhook worker: its commits do not wait for the disk, since what a power cut loses of them is done again. */
  webhooks: Db;
  /** The same for clean-up and notes of a last use, on a connection that neither webhooks nor requests share. */
  background: Db;
  /** For many transactions in a row. On SQLite, where the event loop waits for the disk too, none of them does: `scrub` does for all. */
  bulk: Db;
  fill: Fill;
  /** Brings the schema up to date, once, however many processes ask at the same time, and sets the clock. */
  migrate(notice?: Notice): Promise<void>;
  /** Updates the planner's statistics of tables that grew about tenfold since the last time. */
  analyze(): Promise<void>;
  /** After personal data were overwritten: what was written is on disk, and the old bytes are removed where no reader needs them. */
  scrub(): Promise<void>;
  rateGate(windows: RateWindows, clock: Clock): RateGate;
  changeTransactions: ChangeTransactions;
  /** Calls every process that uses this database: there is something new for this id; null: for an unknown one. */
  wake(topic: WakeTopic, id: string | null): void;
  onWake(topic: WakeTopic, listener: WakeListener): () => void;
  /** For a start: opens what requests need at least, before other processes take the server's last connections. They are kept. */
  openConnections(): Promise<void>;
  /** Throws unless the database answers and takes a write: one that only answers reads, or whose disk is full, is not ready. */
  checkReady(): Promise<void>;
  /** Empty on SQLite, whose only lock is the one on its file. */
  blockers(): Promise<Blocker[]>;
  close(): Promise<void>;
}

/** Deliveries for a client, or events of a shop. */
export const WAKE_TOPICS = ['deliveries', 'events'] as const;
export type WakeTopic = (typeof WAKE_TOPICS)[number];
/** Called with the id there is something for, or null where that got lost and the listener must look. */
export type WakeListener = (id: string | null) => void;

/** Takes what the operator should know of a migration that went well all the same. */
export type Notice = (message: string) => void;

/** How many connections each kind of work has on PostgreSQL. */
export type PoolSizes = Readonly<
  Record<'changes' | 'lists' | 'admin' | 'scans' | 'webhooks' | 'reads', number>
>;

/** What is between this process and PostgreSQL: a pooler may give each client a session, or each transaction any of them. */
export type PoolerMode = 'nothing' | 'sessions' | 'shared sessions';
