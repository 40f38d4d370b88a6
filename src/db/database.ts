import type { Kysely, Transaction } from 'kysely';
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

/** What an engine gives the rest of the house; only this folder knows which engine it is. */
export interface Database {
  db: Db;
  /** Brings the schema up to date, once, however many processes ask at the same time. */
  migrate(): Promise<void>;
  rateLimiter(window: RateWindow): RateLimiterAbstract;
  /** Takes a lock by name until the transaction ends, or says at once that somebody else holds it. */
  tryLock(trx: Trx, name: string): Promise<boolean>;
  close(): Promise<void>;
}

export type OnQuery = (durationMs: number, failed: boolean) => void;
