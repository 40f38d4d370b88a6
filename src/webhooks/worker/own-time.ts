import type { Clock } from '../../lib/time.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';

// This process's own time: clock, timers, loops.

/** A clock that only runs forward, and timers. Tests simulate it. */
export interface OwnTime {
  now(): number;
  after(ms: number, run: () => void): () => void;
  nextTurn(): Promise<void>;
}

export const systemTime: OwnTime = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
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

const REST_AFTER_ERROR_MS = 1_000;

interface LoopParts {
  log: Core['log'];
  time: OwnTime;
  /** Returns how long to rest. */
  step(): Promise<number>;
  /** For the log. */
  failure: string;
  afterError?(): void;
}

/** Does a step again and again, resting in between as long as the step says or until it is woken. An error ends no loop. */
export class Loop {
  readonly #parts: LoopParts;
  readonly #running: Promise<void>;
  #isStopping = false;
  #isWoken = false;
  #endRest: () => void = () => {};

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#running = this.#run();
  }

  /** Ends its rest; a call while it works is not lost. */
  wake(): void {
    this.#isWoken = true;
    this.#endRest();
  }
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#endRest();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { log, time, step, failure, afterError } = this.#parts;
    // What happens in one turn of the event loop is taken together.
    await time.nextTurn();
    while (!this.#isStopping) {
      this.#isWoken = false;
      const restMs = await step().catch((error) => {
        warning(log, failure)(error);
        afterError?.();
        return REST_AFTER_ERROR_MS;
      });
      await this.#rest(restMs);
      await time.nextTurn();
    }
  }
  async #rest(ms: number): Promise<void> {
    if (this.#isWoken || this.#isStopping || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#parts.time.after(ms, resolve);
      this.#endRest = () => {
        cancel();
        resolve();
      };
    });
  }
}
