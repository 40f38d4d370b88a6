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
 * no delay when idle. A batch that fails as a whole is tried again item by item. When a batch calls `sent`, the next one begins.
 */
export const batched = <Item, Result>(
  work: Work<Item, Result>,
  { most, atOnce = 1, patienceMs = PATIENCE_MS }: BatchOptions,
): ((item: Item) => Promise<Result>) => {
  type Asked = Pending<Item, Result>;
  let waiting: Asked[] = [];
  let isCalled = false;
  /** Batches that have neither called `sent` nor ended. */
  const unsent = new Set<Asked[]>();

  const nextBatch = (): Asked[] => {
    waiting = withoutOverdue(waiting);
    const alone = waiting.findIndex((each) => each.alone);
    const size = alone === 0 ? 1 : Math.min(most, alone === -1 ? most : alone);
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return batch;
  };
  const run = async (batch: Asked[]): Promise<void> => {
    const items = batch.map(({ item }) => item);
    const sent = (): void => {
      if (unsent.delete(batch)) start();
    };
    unsent.add(batch);
    try {
      handOut(batch, await work(items, sent));
    } catch (error) {
      waiting = [...toRetryAlone(batch, error), ...waiting];
    }
    unsent.delete(batch);
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
