import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
export type Trx = Transaction<Tables>;

/** So many requests in so many seconds, counted under a name of its own. */
export interface RateWindow {
  name: string;
  points: number;
  seconds: number;
}

export type ColumnKind = 'id' | 'text' | 'integer';

/** What an engine gives the rest of the house; only this folder knows which engine it is. */
export interface Database {
  db: Db;
  /** Brings the schema up to date, once, however many processes ask at the same time. */
  migrate(): Promise<void>;
  rateLimiter(window: RateWindow): RateLimiterAbstract;
  /** Takes a lock by name until the transaction ends, or says at once that somebody else holds it. */
  tryLock(trx: Trx, name: string): Promise<boolean>;
  /** Many rows as one parameter, to stand in a `from`: one statement, always the same text, whatever their number. */
  rows(alias: string, columns: Record<string, ColumnKind>, values: object[]): RawBuilder<unknown>;
  /**
   * Runs work whose loss in a power cut does no harm, without waiting for the disk. What it writes is seen by everybody at
   * once and is on disk with the next commit that does wait.
   */
  lightly<Result>(work: (db: Db) => Promise<Result>): Promise<Result>;
  /** Tells every process that waits on this database that there is something to send, and to which client. */
  wake(clientId: string): void;
  onWake(listener: WakeListener): Promise<Unlisten>;
  close(): Promise<void>;
}

/** Called with the client there is something for, or null where that got lost and one must look. */
export type WakeListener = (clientId: string | null) => void;
type Unlisten = () => Promise<void>;

export type OnQuery = (durationMs: number, failed: boolean) => void;
