import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import type { Settlement } from './settle.ts';

const BATCH = 256;
const AGAIN_AFTER_MS = 500;
/** Between two writes, unless so many wait already: nobody waits for what they tell, and each costs the same. */
const REST_MS = 5;
const ENOUGH = 64;

/**
 * Batches settlements: what ends while a write runs, and a little longer, is written in one statement. No delay when idle,
 * few round trips under load. While the database is away it keeps trying; the leases decide whether that was still in
 * time. What waits here is bounded by what may be under way.
 */
export const createSettler = (
  write: (batch: Settlement[]) => Promise<void>,
  { log }: Pick<Context, 'log'>,
) => {
  let waiting: { settlement: Settlement; done: (written: boolean) => void }[] = [];
  let writing = false;
  let givenUp = false;

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0 && !givenUp) {
      const batch = waiting.slice(0, BATCH);
      try {
        await write(batch.map(({ settlement }) => settlement));
        waiting = waiting.slice(batch.length);
        for (const { done } of batch) done(true);
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
    /** True once it is written down; false where that was given up. */
    add: (settlement: Settlement): Promise<boolean> =>
      new Promise((done) => {
        if (givenUp) return done(false);
        waiting.push({ settlement, done });
        if (writing) return;
        writing = true;
        // Those that end in the same turn of the event loop are written together.
        setImmediate(writeAll);
      }),
    /** What is not written yet stays unwritten: these attempts are made again by another process (decision 37). */
    giveUp(): void {
      givenUp = true;
      if (waiting.length > 0)
        log.warn({ waiting: waiting.length }, 'webhook results were not written before the stop');
      for (const { done } of waiting) done(false);
      waiting = [];
    },
  };
};
