import { setImmediate } from 'node:timers/promises';
import { isUnavailable } from './errors.ts';
import { nextTurn } from './gather.ts';

interface Asked<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
  /** Its batch failed: it is tried once more by itself, so that only the one that cannot be had fails. */
  alone: boolean;
}

/**
 * Like `gather`, for batches that must follow one another and take two steps: each reads, decides, and calls `sent` when its
 * changes are on their way. Then the next one begins to read, before the first is known to have succeeded, and only when
 * that one's changes are on their way too, the first's results are handed out: the database writes one batch while this
 * process answers the one before. Where nobody waits, or a batch never calls `sent`, nothing is held back.
 */
export const conveyor = <Item, Result>(
  work: (items: Item[], sent: () => void) => Promise<(Result | Promise<Result> | Error)[]>,
  { most }: { most: number },
): ((item: Item) => Promise<Result>) => {
  type Ask = Asked<Item, Result>;
  let waiting: Ask[] = [];
  let called = false;
  /** Until the batch that reads has sent its changes. */
  let reading: Promise<void> | null = null;

  const nextBatch = (): Ask[] => {
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
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result instanceof Error) reject(result);
        else resolve(result as Result);
      });
    } catch (error) {
      pass();
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else waiting = [...batch.map((asked) => ({ ...asked, alone: true })), ...waiting];
    }
    callSoon();
  };

  const start = (): void => {
    called = false;
    if (!reading && waiting.length > 0) void run(nextBatch());
  };
  const callSoon = (): void => {
    if (called || reading || waiting.length === 0) return;
    called = true;
    nextTurn(start);
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject, alone: false });
      callSoon();
    });
};
