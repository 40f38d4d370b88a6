import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { describeError } from '../describe-error.ts';
import type { Settlement } from './queue.ts';

const BATCH = 256;
const AGAIN_AFTER_MS = 500;
/** Between two writes, unless so many wait already: nobody waits for what they tell, and each costs the same. */
const REST_MS = 5;
const ENOUGH = 64;

/**
 * Gathers settlements while a write is under way, and a little longer, and writes what has gathered in one statement: no
 * wait when idle, few round trips under load. While the database is away it keeps trying; the leases decide whether that was still in time.
 */
export const createSettler = (
  write: (batch: Settlement[]) => Promise<void>,
  { log }: Pick<Context, 'log'>,
) => {
  let waiting: { settlement: Settlement; done: () => void }[] = [];
  let writing = false;

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      try {
        await write(batch.map(({ settlement }) => settlement));
        waiting = waiting.slice(batch.length);
        for (const { done } of batch) done();
        if (waiting.length < ENOUGH) await pause(REST_MS);
      } catch (error) {
        log.warn(
          { fault: describeError(error), waiting: waiting.length },
          'webhook results could not be written yet',
        );
        await pause(AGAIN_AFTER_MS);
      }
    }
    writing = false;
  };

  return {
    add: (settlement: Settlement): Promise<void> =>
      new Promise((done) => {
        waiting.push({ settlement, done });
        if (writing) return;
        writing = true;
        // Those that end in the same turn of the event loop are written together.
        setImmediate(writeAll);
      }),
  };
};
