import type { Clock } from '../../lib/time.ts';
import type { Core } from '../../platform/core.ts';
import { warning } from '../../platform/log.ts';

// The dispatcher uses these clocks, timers and loops, which only exist in this process.

/** A clock that only runs forward, with its timers. Tests simulate it. */
export interface MonotonicClock {
  now(): number;
  after(ms: number, run: () => void): () => void;
  nextTurn(): Promise<void>;
}

export const systemMonotonicClock: MonotonicClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

export const pause = (time: MonotonicClock, ms: number): Promise<void> =>
  new Promise((resolve) => void time.after(ms, resolve));

/** A deadline by the shared clock, which may jump, and by the monotonic clock of the process. */
export interface Deadline {
  sharedMs: number;
  ownMs: number;
}

/** Follows the clock that is further ahead: a shared clock set back delays nothing, and one set forward counts at once. */
export class DeadlineClock {
  readonly #clock: Clock;
  readonly #own: MonotonicClock;

  constructor(clock: Clock, own: MonotonicClock) {
    this.#clock = clock;
    this.#own = own;
  }
  in(ms: number): Deadline {
    return { sharedMs: this.#clock.now() + ms, ownMs: this.#own.now() + ms };
  }
  /** Returns a negative number once the deadline has passed. */
  msUntil({ sharedMs, ownMs }: Deadline): number {
    return Math.min(sharedMs - this.#clock.now(), ownMs - this.#own.now());
  }
}

const REST_AFTER_ERROR_MS = 1_000;

interface LoopOptions {
  log: Core['log'];
  time: MonotonicClock;
  /** Does the work once and returns how long to rest. */
  step(): Promise<number>;
  /** The log message of an error. */
  failure: string;
  afterError?(): void;
}

/** Repeats a step and rests in between, as long as the step returns or until it is woken. An error does not end the loop. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #running: Promise<void>;
  #isStopping = false;
  #isWoken = false;
  #endRest: () => void = () => {};

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Ends the rest. A wake-up during a step is not lost. */
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
    const { log, time, step, failure, afterError } = this.#options;
    // One step handles everything that happens in the same turn of the event loop.
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
      const cancel = this.#options.time.after(ms, resolve);
      this.#endRest = () => {
        cancel();
        resolve();
      };
    });
  }
}
