import { timeLimit } from './time-limits.ts';

interface QueueLimits {
  atOnce: number;
  waiting: number;
  withinMs: number;
  /** The error of a caller who finds the queue full or waited too long. */
  refusal: () => Error;
}

/** Runs at most `atOnce` callers at a time. The others wait in order: at most `waiting` of them, each for at most `withinMs`. */
export class BoundedQueue {
  readonly #limits: QueueLimits;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Resolves with the function that frees the slot. */
  take(): Promise<() => void> {
    const { atOnce, waiting: most, withinMs, refusal } = this.#limits;
    if (this.#running < atOnce) {
      this.#running += 1;
      return Promise.resolve(this.#newSlot());
    }
    if (this.#waiting.size >= most) return Promise.reject(refusal());
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(deadline);
        this.#waiting.delete(start);
        resolve(this.#newSlot());
      };
      const deadline = setTimeout(() => {
        this.#waiting.delete(start);
        reject(refusal());
      }, timeLimit(withinMs));
      this.#waiting.add(start);
    });
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const release = await this.take();
    try {
      return await work();
    } finally {
      release();
    }
  }

  #newSlot(): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = this.#waiting;
      if (next) next();
      else this.#running -= 1;
    };
  }
}
