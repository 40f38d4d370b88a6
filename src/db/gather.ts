import { handOut, type Pending, type Results, toRetryAlone, waitIn, withoutOverdue } from './pending.ts';

let starting: (() => void)[] = [];
/** All that begins in the next turn of the event loop begins together, so that what it sends to the database is one packet. */
export const nextTurn = (start: () => void): void => {
  if (starting.push(start) > 1) return;
  setImmediate(() => {
    const all = starting;
    starting = [];
    for (const each of all) each();
  });
};

interface GatherOptions {
  /** Items in one batch. */
  most: number;
  /** Batches under way at the same time. */
  sideBySide: number;
}

/**
 * Batches calls: everything requested in the same event-loop turn, or while earlier batches run, goes into the next batch.
 * Adds no delay when idle.
 */
export const gather = <Item, Result>(
  work: (items: Item[]) => Promise<Results<Result>>,
  { most, sideBySide }: GatherOptions,
): ((item: Item) => Promise<Result>) => {
  let waiting: Pending<Item, Result>[] = [];
  let running = 0;
  let called = false;

  const attempt = async (batch: Pending<Item, Result>[]): Promise<void> => {
    try {
      handOut(batch, await work(batch.map(({ item }) => item)));
    } catch (error) {
      for (const pending of toRetryAlone(batch, error)) await attempt([pending]);
    }
  };

  const start = (): void => {
    called = false;
    waiting = withoutOverdue(waiting);
    while (running < sideBySide && waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      running += 1;
      void attempt(batch).finally(() => {
        running -= 1;
        callSoon();
      });
    }
  };
  const callSoon = (): void => {
    if (called || waiting.length === 0) return;
    called = true;
    nextTurn(start);
  };

  return (item) => {
    const result = waitIn(waiting, item);
    callSoon();
    return result;
  };
};
