import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  handOut,
  PATIENCE_MS,
  type Pending,
  type Results,
  toRetryAlone,
  waitIn,
  withoutOverdue,
} from './pending.ts';

interface BatchOptions {
  /** Items in one batch. */
  most: number;
  /** Batches that run at the same time. */
  atOnce?: number;
  /** An item that has waited this long is turned away. */
  patienceMs?: number;
}

/** `work` may call `sent` as soon as its changes are on their way. */
type Work<Item, Result> = (items: Item[], sent: () => void) => Promise<Results<Result>>;

/**
 * Batches calls: everything requested in the same event-loop turn, or while earlier batches run, goes into the next batch. Adds
 * no delay when idle. A batch that fails as a whole is tried again item by item.
 *
 * When a batch calls `sent`, the next one begins, and the results of the first are handed out once the next one has called `sent`
 * too: so the database writes one batch while this process answers the one before.
 */
export const batched = <Item, Result>(
  work: Work<Item, Result>,
  { most, atOnce = 1, patienceMs = PATIENCE_MS }: BatchOptions,
): ((item: Item) => Promise<Result>) => {
  type Asked = Pending<Item, Result>;
  let waiting: Asked[] = [];
  let isCalled = false;
  /** Batches that have not called `sent` yet, each until it does or ends. */
  const unsent = new Set<Promise<void>>();

  const nextBatch = (): Asked[] => {
    waiting = withoutOverdue(waiting);
    const alone = waiting.findIndex((each) => each.alone);
    const size = alone === 0 ? 1 : Math.min(most, alone === -1 ? most : alone);
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return batch;
  };

  const run = async (batch: Asked[]): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    unsent.add(promise);
    const letNextBegin = (): void => {
      if (unsent.delete(promise)) resolve();
    };
    try {
      const items = batch.map(({ item }) => item);
      const results = await work(items, () => {
        letNextBegin();
        start();
      });
      // Where this one has sent its changes and the next is under way, the next one's changes go first. They leave at the end of
      // that turn of the event loop.
      const [next] = unsent;
      if (!unsent.has(promise) && next) await next.then(() => nextTurn());
      letNextBegin();
      handOut(batch, results);
    } catch (error) {
      letNextBegin();
      waiting = [...toRetryAlone(batch, error), ...waiting];
    }
    callSoon();
  };

  const start = (): void => {
    isCalled = false;
    while (unsent.size < atOnce && waiting.length > 0) {
      const batch = nextBatch();
      if (batch.length > 0) void run(batch);
    }
  };
  const callSoon = (): void => {
    if (isCalled || unsent.size >= atOnce || waiting.length === 0) return;
    isCalled = true;
    setImmediate(start);
  };

  return (item) => {
    const result = waitIn(waiting, item, patienceMs);
    callSoon();
    return result;
  };
};
