import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { batched } from '../../lib/batch.ts';
import type { Settlement } from './settle.ts';

const BATCH = 256;
const AGAIN_AFTER_MS = 500;

/**
 * Writes settlements in batches. While the database is away it keeps trying; the leases decide whether that was still in time.
 * What waits here is bounded by what may be in flight.
 */
export const createSettler = (
  write: (batch: Settlement[]) => Promise<void>,
  { log }: Pick<Context, 'log'>,
) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let waiting = 0;

  const writeAll = async (batch: Settlement[]): Promise<boolean[]> => {
    while (!signal.aborted)
      try {
        await write(batch);
        return batch.map(() => true);
      } catch (error) {
        log.warn({ fault: describeError(error), waiting }, 'webhook results could not be written yet');
        // An abort only ends the pause; the loop sees it.
        await pause(AGAIN_AFTER_MS, undefined, { signal }).catch(() => {});
      }
    return batch.map(() => false);
  };
  const settle = batched(writeAll, { most: BATCH, timeoutMs: Number.POSITIVE_INFINITY });

  return {
    /** True once it is written down; false where that was given up. */
    async add(settlement: Settlement): Promise<boolean> {
      waiting += 1;
      try {
        return await settle(settlement);
      } finally {
        waiting -= 1;
      }
    },
    /** What is not written yet stays unwritten: these attempts are made again by another process (decision 37). */
    giveUp(): void {
      if (waiting > 0) log.warn({ waiting }, 'webhook results were not written before the stop');
      stopping.abort();
    },
  };
};
