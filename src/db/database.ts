import type { Insertable, Kysely, Transaction } from 'kysely';
import type { Clock } from '../clock.ts';
import type { Notice } from './schema-change.ts';
import type { Change, Dialect, Fill } from './statements.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
export type Trx = Transaction<Tables>;

/** So many requests in so many seconds, counted under a name of its own. */
export interface RateWindow {
  name: string;
  points: number;
  seconds: number;
}

/** The short one of two comes first. What one of them turns away spends nothing of the other. */
export type RateWindows = readonly [RateWindow] | readonly [RateWindow, RateWindow];

/** How a key stands after a call: in the window that turned it away, or in the last one. */
export interface RateState {
  window: RateWindow;
  remaining: number;
  /** Until a place is free: for a call that passed, until the oldest one leaves the window. */
  msBeforeNext: number;
  refused: boolean;
}

/** At once where nobody need be asked: for a key that is turned away anyway. */
export type RateGate = (key: string) => RateState | Promise<RateState>;

/** Rows for a table, all with the same columns, or any other change. */
export type Write = Insertion | Change;
export type Insertion = {
  [Name in keyof Tables]: { table: Name; rows: Insertable<Tables[Name]>[] };
}[keyof Tables];

/** What is to be written, and what comes of it. */
interface Decided<Result> {
  writes: Write[];
  result: Result;
}

/**
 * A transaction that first reads, and then writes what follows from that. The changes must not look at each other's effects: they
 * are made in one round trip with the commit. `work` may run more than once, so it changes nothing but what it returns. `sent`
 * is called when the changes are on their way.
 */
export type ReadThenWrite = <Result>(
  work: (trx: Trx) => Promise<Decided<Result>>,
  sent?: () => void,
) => Promise<Result>;

/** Who hears of what happens down here. */
export interface Observer {
  onQuery: OnQuery;
  /** Something went wrong that no caller is told of. `what` is one of a few fixed phrases: it is also the label of a metric. */
  onFault(what: string, error: unknown): void;
}

/** What an engine gives the rest of the house; only this folder knows which engine it is. */
export interface Database extends Dialect {
  /** The clock that all processes share. */
  clock: Clock;
  db: Db;
  /** For pages of lists. Statements here have one plan, whatever their values are: it is made once and kept. */
  lists: Db;
  /** The same for short reads, which share a few connections. */
  reads: Db;
  /**
   * For reads of staff that may look at all rows of a shop: searches, counts, figures. On PostgreSQL the connections of `db`; on
   * SQLite a thread of its own, so that no other request waits for them.
   */
  scans: Db;
  /**
   * For work whose loss in a power cut does no harm: it does not wait for the disk. What it writes is seen by everybody at once
   * and is on disk with the next commit that does wait.
   */
  withoutFsync: Db;
  /** A statement with its values, ready to run. */
  fill: Fill;
  /** Brings the schema up to date, once, however many processes ask at the same time, and sets the clock. */
  migrate(notice?: Notice): Promise<void>;
  /** Brings the planner's statistics up to date for tables that have about ten times the rows they were made from. */
  analyze(): Promise<void>;
  rateGate(windows: RateWindows, clock: Clock): RateGate;
  /** Takes locks by name until the transaction ends; gives back those names that somebody else holds. */
  tryLocks(trx: Trx, names: string[]): Promise<Set<string>>;
  /** A change of one record, or of one shop's. Waits briefly for locks, then where nobody else needs the connection; tried again after a conflict. */
  atomically: ReadThenWrite;
  /** For such transactions one after another: the next may be asked for as soon as one calls `sent`. They wait for no lock. */
  pipelinedTransactions(): ReadThenWrite;
  /** How many creations are best made in one of them at most, where more wait. */
  batchSize: number;
  /** Tells every process that waits on this database that there is something new, and for whom; null: for somebody. */
  wake(topic: WakeTopic, id: string | null): void;
  onWake(topic: WakeTopic, listener: WakeListener): Promise<Unlisten>;
  /** Throws unless the database answers and takes a write: one that only answers reads, or whose disk is full, is not ready. */
  checkReady(): Promise<void>;
  close(): Promise<void>;
}

/** Deliveries for a client, or events of a shop. */
export const WAKE_TOPICS = ['deliveries', 'events'] as const;
export type WakeTopic = (typeof WAKE_TOPICS)[number];
/** Called with whom there is something for, or null where that got lost and one must look. */
export type WakeListener = (id: string | null) => void;
type Unlisten = () => Promise<void>;

export type OnQuery = (durationMs: number, failed: boolean) => void;
