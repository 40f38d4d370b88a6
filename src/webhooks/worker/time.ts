import type { Clock } from '../../clock.ts';

/** This process's own time: a clock that only runs forward, and timers. Tests simulate it. */
export interface OwnTime {
  now(): number;
  /** Returns how to cancel it. */
  after(ms: number, run: () => void): () => void;
  every(ms: number, run: () => void): () => void;
  nextTurn(): Promise<void>;
}

export const systemTime: OwnTime = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms);
    return () => clearInterval(timer);
  },
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

export const pause = (time: OwnTime, ms: number): Promise<void> =>
  new Promise((resolve) => void time.after(ms, resolve));

/** A moment by the shared clock, which may step, and by the process's own. */
export interface Moment {
  clockMs: number;
  ownMs: number;
}

/** Follows the clock that is further ahead: a shared clock that steps back delays nothing, one that is moved forward counts at once. */
export class Stopwatch {
  readonly #clock: Clock;
  readonly #own: OwnTime;

  constructor(clock: Clock, own: OwnTime) {
    this.#clock = clock;
    this.#own = own;
  }
  in(ms: number): Moment {
    return { clockMs: this.#clock.now() + ms, ownMs: this.#own.now() + ms };
  }
  /** Below zero once it has passed. */
  msUntil({ clockMs, ownMs }: Moment): number {
    return Math.min(clockMs - this.#clock.now(), ownMs - this.#own.now());
  }
}
