import { type Asked, handOut, type Results, sparedOf } from './asked.ts';

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
 * batches are under way, shares the next batch: no added wait when idle, few round trips under load.
 */
export const gather = <Item, Result>(
  work: (items: Item[]) => Promise<Results<Result>>,
  { most, sideBySide }: GatherOptions,
): ((item: Item) => Promise<Result>) => {
  type Ask = Asked<Item, Result>;
  let waiting: Ask[] = [];
  let running = 0;
  let called = false;

  const attempt = async (batch: Ask[]): Promise<void> => {
    try {
      handOut(batch, await work(batch.map(({ item }) => item)));
    } catch (error) {
      for (const asked of sparedOf(batch, error)) await attempt([asked]);
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
