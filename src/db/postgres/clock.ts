import type { Clock } from '../../lib/time.ts';
import type { CheckedPool } from './pools.ts';

// Times that processes compare (due times, leases, rate windows) must come from one clock, the database's (ADR 0010).

const COMPARE_EVERY_MS = 5_000;
const FIRST_SAMPLES = 3;
const DRIFT_MS_PER_S = 0.5;

interface Comparison {
  aheadMs: number;
  /** The maximum error: half of the round trip. */
  errorMs: number;
  at: number;
}

/** Returns the new comparison, unless it agrees with the known one and is less exact. */
const moreExact = (known: Comparison | null, fresh: Comparison): Comparison => {
  if (!known) return fresh;
  const knownErrorMs = known.errorMs + ((fresh.at - known.at) / 1000) * DRIFT_MS_PER_S;
  const contradicts = Math.abs(fresh.aheadMs - known.aheadMs) > fresh.errorMs + knownErrorMs;
  return contradicts || fresh.errorMs <= knownErrorMs ? fresh : known;
};

/** The database's clock, estimated in this process. `own` is the process's clock in milliseconds: it may be wrong, but must not jump. */
export class DatabaseClock implements Clock {
  readonly #pool: CheckedPool;
  readonly #own: () => number;
  #known: Comparison | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: CheckedPool, own = () => performance.timeOrigin + performance.now()) {
    this.#pool = pool;
    this.#own = own;
  }

  now(): number {
    return Math.floor(this.#own() + (this.#known?.aheadMs ?? 0));
  }

  /** Must end before the clock is used. From then on it compares every few seconds. */
  async start(): Promise<void> {
    for (let i = 0; i < FIRST_SAMPLES; i++) await this.#compare();
    this.#timer ??= setInterval(() => this.compareSoon(), COMPARE_EVERY_MS).unref();
  }

  compareSoon(): void {
    const { onDatabaseError } = this.#pool.observer;
    if (this.#timer) this.#compare().catch((error) => onDatabaseError('clock comparison failed', error));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #compare(): Promise<void> {
    const askedAt = this.#own();
    const { rows } = await this.#pool.query<{ now: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
    );
    const heardAt = this.#own();
    const between = (askedAt + heardAt) / 2;
    this.#known = moreExact(this.#known, {
      aheadMs: (rows[0]?.now ?? between) - between,
      errorMs: (heardAt - askedAt) / 2,
      at: heardAt,
    });
  }
}
