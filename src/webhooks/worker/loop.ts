import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { LOOP, type LoopState, type Transition } from './states.ts';
import type { OwnTime } from './time.ts';

const REST_AFTER_FAULT_MS = 1_000;

interface Parts {
  log: Context['log'];
  time: OwnTime;
  transition: Transition;
}

/** Does a step again and again, resting in between as long as the step says or until it is woken. An error ends no loop. */
export class Loop {
  state: LoopState = 'working';
  readonly #parts: Parts;
  readonly #step: () => Promise<number>;
  readonly #afterError: () => void;
  readonly #running: Promise<void>;
  #endRest: () => void = () => {};

  constructor(parts: Parts, step: () => Promise<number>, afterError: () => void = () => {}) {
    this.#parts = parts;
    this.#step = step;
    this.#afterError = afterError;
    this.#running = this.#run();
  }

  /** Ends its rest; a call while it works is not lost. */
  wake(): void {
    if (this.state === 'working') this.#become('woken');
    else if (this.state === 'resting') this.#endRest();
  }
  /** Resolves when the current step is over. */
  stop(): Promise<void> {
    this.#become('stopping');
    this.#endRest();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { log, time } = this.#parts;
    while (!this.#isStopping()) {
      try {
        // What happens in one turn of the event loop is taken together.
        await time.nextTurn();
        if (this.#isStopping()) break;
        this.#become('working');
        const restMs = await this.#step();
        if (restMs > 0) await this.#rest(restMs);
      } catch (error) {
        log.warn(
          { fault: describeError(error) },
          'the webhook queue could not be read; it will be tried again',
        );
        this.#afterError();
        await this.#rest(REST_AFTER_FAULT_MS);
      }
    }
    this.#become('stopped');
  }
  async #rest(ms: number): Promise<void> {
    if (this.state !== 'working') return;
    this.#become('resting');
    await new Promise<void>((resolve) => {
      const cancel = this.#parts.time.after(ms, resolve);
      this.#endRest = () => {
        cancel();
        resolve();
      };
    });
  }
  #isStopping(): boolean {
    return this.state === 'stopping';
  }
  #become(state: LoopState): void {
    this.#parts.transition(LOOP, this, state);
  }
}
