import { isUnavailable } from './errors.ts';

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
 * Turns work on many items into a function for one. What is asked for in one turn of the event loop, or while earlier
 * batches are under way, shares the next batch: no added wait when idle, few round trips under load. In an item's place among
 * the results may also be its own refusal, an `Error`, or a promise where it takes longer than its batch. Where a whole batch
 * fails, each of its items is tried alone, so that one that cannot be had fails by itself; unless the database is away,
 * which is nobody's fault and would only take longer.
 */
export const gather = <Item, Result>(
  work: (items: Item[]) => Promise<(Result | Promise<Result> | Error)[]>,
  { most, sideBySide }: GatherOptions,
): ((item: Item) => Promise<Result>) => {
  interface Asked {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  let waiting: Asked[] = [];
  let running = 0;
  let called = false;

  const attempt = async (batch: Asked[]): Promise<void> => {
    try {
      const results = await work(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const result = results[i];
        if (result instanceof Error) reject(result);
        else resolve(result as Result);
      });
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const asked of batch) await attempt([asked]);
    }
  };

  const start = (): void => {
    called = false;
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

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      callSoon();
    });
};
