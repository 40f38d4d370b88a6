import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';

const REST_AFTER_FAULT_MS = 1_000;

export interface Loop {
  /** Ends its rest; a call that comes while it works is not lost. */
  wake(): void;
  /** Resolves when the step under way is over. */
  stop(): Promise<void>;
}

/** Does a step again and again, resting in between as long as the step says or until it is woken. A fault ends no loop. */
export const startLoop = (
  { log }: Pick<Context, 'log'>,
  step: () => Promise<number>,
  afterFault: () => void = () => {},
): Loop => {
  let stopped = false;
  let called = false;
  let endRest: (() => void) | null = null;

  const wake = (): void => {
    called = true;
    endRest?.();
  };
  const rest = async (ms: number): Promise<void> => {
    if (!called)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        endRest = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    endRest = null;
    called = false;
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        // What happens in one turn of the event loop is taken together.
        await nextTurn();
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
  };

  const running = run();
  return {
    wake,
    stop() {
      stopped = true;
      wake();
      return running;
    },
  };
};
