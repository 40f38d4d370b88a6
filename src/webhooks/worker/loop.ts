import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { LOOP_MOVES, type LoopState, type Move } from './states.ts';
import type { OwnTime } from './time.ts';

const REST_AFTER_FAULT_MS = 1_000;

export interface Loop {
  /** Ends its rest; a call that comes while it works is not lost. */
  wake(): void;
  /** Resolves when the step under way is over. */
  stop(): Promise<void>;
}

interface Parts {
  log: Context['log'];
  time: OwnTime;
  move: Move;
}

/** Does a step again and again, resting in between as long as the step says or until it is woken. A fault ends no loop. */
export const startLoop = (
  { log, time, move }: Parts,
  step: () => Promise<number>,
  afterFault: () => void = () => {},
): Loop => {
  const loop: { state: LoopState } = { state: 'working' };
  let endRest = (): void => {};
  const become = (state: LoopState): void => {
    if (loop.state !== state) move(LOOP_MOVES, loop, state);
  };
  const isStopping = (): boolean => loop.state === 'stopping';

  const rest = async (ms: number): Promise<void> => {
    if (loop.state !== 'working') return;
    become('resting');
    await new Promise<void>((resolve) => {
      const cancel = time.after(ms, resolve);
      endRest = () => {
        cancel();
        resolve();
      };
    });
  };
  const run = async (): Promise<void> => {
    while (!isStopping()) {
      try {
        // What happens in one turn of the event loop is taken together.
        await time.nextTurn();
        if (isStopping()) break;
        become('working');
        const restMs = await step();
        if (restMs > 0) await rest(restMs);
      } catch (error) {
        log.warn(
          { fault: describeError(error) },
          'the webhook queue could not be read; it will be tried again',
        );
        afterFault();
        await rest(REST_AFTER_FAULT_MS);
      }
    }
    become('stopped');
  };
  const running = run();

  return {
    wake() {
      if (loop.state === 'working') become('woken');
      if (loop.state === 'resting') endRest();
    },
    stop() {
      become('stopping');
      endRest();
      return running;
    },
  };
};
