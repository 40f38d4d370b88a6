import type { Clock } from '../../clock.ts';
import type { Observer } from '../database.ts';
import type { CheckedPool } from './checked-pool.ts';

// What processes compare with each other (due times, leases, rate windows) must come from one clock: the database's. Each
// process knows how far its own clock is from it, and corrects for that.

const COMPARE_EVERY_MS = 5_000;
const FIRST_SAMPLES = 3;
/** How far two clocks may drift apart in a second. */
const DRIFT_MS_PER_S = 0.5;

interface Comparison {
  /** How far the database's clock is ahead. */
  aheadMs: number;
  /** How far from the truth that may be: half of the time the question took. */
  errorMs: number;
  at: number;
}

/** The better of two: the one that can be further from the truth now gives way, and so does one that contradicts the other. */
const better = (known: Comparison | null, fresh: Comparison): Comparison => {
  if (!known) return fresh;
  const knownErrorMs = known.errorMs + ((fresh.at - known.at) / 1000) * DRIFT_MS_PER_S;
  const contradicts = Math.abs(fresh.aheadMs - known.aheadMs) > fresh.errorMs + knownErrorMs;
  return contradicts || fresh.errorMs <= knownErrorMs ? fresh : known;
};

export interface DatabaseClock {
  clock: Clock;
  /** Compares once more; must have been called before the clock is asked. */
  compare(): Promise<void>;
  /** Compares once more, if it has been started. */
  compareSoon(): void;
  /** Compares every few seconds from now on. */
  start(): void;
  stop(): void;
}

/** `own` is this process's clock, in milliseconds: it may be wrong, but must not jump. */
export const databaseClock = (
  reads: Pick<CheckedPool, 'query'>,
  onFault: Observer['onFault'],
  own: () => number = () => performance.timeOrigin + performance.now(),
): DatabaseClock => {
  let known: Comparison | null = null;
  let timer: NodeJS.Timeout | null = null;

  const compareOnce = async (): Promise<void> => {
    const askedAt = own();
    const { rows } = await reads.query<{ now: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
    );
    const heardAt = own();
    const between = (askedAt + heardAt) / 2;
    known = better(known, {
      aheadMs: (rows[0]?.now ?? between) - between,
      errorMs: (heardAt - askedAt) / 2,
      at: heardAt,
    });
  };

  const compareSoon = (): void => {
    compareOnce().catch((error) => onFault('clock comparison failed', error));
  };

  return {
    clock: { now: () => Math.floor(own() + (known?.aheadMs ?? 0)) },
    async compare() {
      for (let i = 0; i < FIRST_SAMPLES; i++) await compareOnce();
    },
    compareSoon() {
      if (timer) compareSoon();
    },
    start() {
      timer ??= setInterval(compareSoon, COMPARE_EVERY_MS).unref();
    },
    stop() {
      if (timer) clearInterval(timer);
      timer = null;
    },
  };
};
