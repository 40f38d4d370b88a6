import { timeLimit } from './time-limits.ts';

/** The error of an item that waited too long in a queue of this process, or found it full. */
export class QueueTimeout extends Error {}

/** A result that sends the item back to the end of the queue, until its deadline. */
export const AGAIN: unique symbol = Symbol('again');

/** For each item: its result, its own error, a promise if it takes longer than its batch, or AGAIN. */
export type Results<Result> = (Result | Promise<Result> | Error | typeof AGAIN)[];

interface BatchOptions<Item> {
  most: number;
  atOnce?: number;
  /** A caller is refused if this many wait, since they could not be served in time. */
  capacity?: number;
  /** By `performance.now()`. */
  deadlineOf?: (item: Item) => number;
  /** What to do after a whole batch failed: run each item alone, retry the batch, or fail all items. */
  afterFailure?: (error: unknown) => 'split' | 'retry' | 'fail';
}

/** `work` may call `sent` as soon as its writes are sent, so that the next batch begins. */
type Work<Item, Result> = (items: Item[], sent: () => void) => Promise<Results<Result>>;

interface Pending<Item, Result> {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
  /** By `performance.now()`. */
  overdueAt: number;
  /** The number of failed batches with this item. After the first one it runs alone. */
  failures: number;
}

/** Together with one round trip this is below 5 s, the time limit of every request. */
const QUEUE_TIMEOUT_MS = 2_500;
export const queueDeadline = (): number => performance.now() + timeLimit(QUEUE_TIMEOUT_MS);
const MOST_TRIES = 3;
const RETRY_PAUSE_MS = 50;

/** Batches calls: those of one iteration of the event loop, or during earlier batches, share the next batch. */
class Batcher<Item, Result> {
  readonly #work: Work<Item, Result>;
  readonly #options: Required<BatchOptions<Item>>;
  #waiting: Pending<Item, Result>[] = [];
  #isStarting = false;
  /** Batches that have neither called `sent` nor ended. */
  readonly #unsent = new Set<Pending<Item, Result>[]>();

  constructor(work: Work<Item, Result>, options: BatchOptions<Item>) {
    this.#work = work;
    this.#options = {
      atOnce: 1,
      capacity: 5_000,
      deadlineOf: queueDeadline,
      afterFailure: () => 'split',
      ...options,
    };
  }

  readonly ask = (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (this.#waiting.length >= this.#options.capacity)
        return reject(new QueueTimeout('the queue is full'));
      const overdueAt = this.#options.deadlineOf(item);
      this.#enqueue({ item, resolve, reject, overdueAt, failures: 0 });
    });

  #enqueue(pending: Pending<Item, Result>): void {
    this.#waiting.push(pending);
    this.#startSoon();
  }

  #startSoon(): void {
    if (this.#isStarting || this.#unsent.size >= this.#options.atOnce || this.#waiting.length === 0) return;
    this.#isStarting = true;
    setImmediate(() => this.#start());
  }

  #start(): void {
    this.#isStarting = false;
    while (this.#unsent.size < this.#options.atOnce && this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      if (batch.length > 0) void this.#run(batch);
    }
  }

  #nextBatch(): Pending<Item, Result>[] {
    const now = performance.now();
    this.#waiting = this.#waiting.filter(({ overdueAt, reject }) => {
      if (overdueAt <= now) reject(new QueueTimeout('waited too long in the queue'));
      return overdueAt > now;
    });
    const { most } = this.#options;
    const alone = this.#waiting.findIndex(({ failures }) => failures > 0);
    const size = alone === 0 ? 1 : Math.min(most, alone === -1 ? most : alone);
    return this.#waiting.splice(0, size);
  }

  async #run(batch: Pending<Item, Result>[]): Promise<void> {
    const sent = (): void => {
      if (this.#unsent.delete(batch)) this.#start();
    };
    this.#unsent.add(batch);
    try {
      const items = batch.map(({ item }) => item);
      this.#settle(batch, await this.#work(items, sent));
    } catch (error) {
      this.#waiting.unshift(...this.#toRunAlone(batch, error));
    }
    this.#unsent.delete(batch);
    this.#startSoon();
  }

  #settle(batch: Pending<Item, Result>[], results: Results<Result>): void {
    batch.forEach((each, i) => {
      const result = results[i];
      if (result === AGAIN) setTimeout(() => this.#enqueue(each), RETRY_PAUSE_MS);
      else if (result instanceof Error) each.reject(result);
      else each.resolve(result as Result);
    });
  }

  /** Returns the items that run alone next, so that one that cannot succeed fails alone. */
  #toRunAlone(batch: Pending<Item, Result>[], error: unknown): Pending<Item, Result>[] {
    const next = this.#options.afterFailure(error);
    const isSplit = next === 'split' && batch.length > 1;
    return batch.filter((each) => {
      each.failures += 1;
      const mayTry = isSplit || (next === 'retry' && each.failures < MOST_TRIES);
      if (!mayTry) each.reject(error);
      return mayTry;
    });
  }
}

/** Turns work on many items into a function for one item. It adds no delay when idle. */
export const batched = <Item, Result>(
  work: Work<Item, Result>,
  options: BatchOptions<Item>,
): ((item: Item) => Promise<Result>) => new Batcher(work, options).ask;
