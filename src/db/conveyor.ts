import { setImmediate } from 'node:timers/promises';
import { nextTurn } from './gather.ts';
import { handOut, type Pending, type Results, toRetryAlone, waitIn, withoutOverdue } from './pending.ts';

/**
 * Like `gather`, for batches that must follow one another and take two steps: each reads, decides, and calls `sent` when its
 * changes are on their way. Then the next one begins to read, before the first is known to have succeeded, and only when
 * that one's changes are on their way too, the first's results are handed out: the database writes one batch while this
 * process answers the one before. Where nobody waits, or a batch never calls `sent`, nothing is held back.
 */
export const conveyor = <Item, Result>(
  work: (items: Item[], sent: () => void) => Promise<Results<Result>>,
  { most }: { most: number },
): ((item: Item) => Promise<Result>) => {
  type Ask = Pending<Item, Result>;
  let waiting: Ask[] = [];
  let called = false;
  /** Until the batch that reads has sent its changes. */
  let reading: Promise<void> | null = null;

  const nextBatch = (): Ask[] => {
    waiting = withoutOverdue(waiting);
    const others = waiting.findIndex(({ alone }) => alone);
    const size = others === 0 ? 1 : Math.min(most, others === -1 ? most : others);
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return batch;
  };

  const run = async (batch: Ask[]): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    reading = promise;
    const pass = (): boolean => {
      if (reading !== promise) return false;
      reading = null;
      resolve();
      return true;
    };
    try {
      const results = await work(
        batch.map(({ item }) => item),
        () => {
          if (pass()) start();
        },
      );
      // The changes of the one behind leave with the end of that turn, so these results wait for the next.
      if (!pass() && reading) await reading.then(() => setImmediate());
      handOut(batch, results);
    } catch (error) {
      pass();
      waiting = [...toRetryAlone(batch, error), ...waiting];
    }
    callSoon();
  };

  const start = (): void => {
    called = false;
    if (reading) return;
    const batch = nextBatch();
    if (batch.length > 0) void run(batch);
  };
  const callSoon = (): void => {
    if (called || reading || waiting.length === 0) return;
    called = true;
    nextTurn(start);
  };

  return (item) => {
    const result = waitIn(waiting, item);
    callSoon();
    return result;
  };
};
