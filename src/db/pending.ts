import { isConflict, isUnavailable, QueueTimeout } from './errors.ts';

// What waits for its turn in a batch.

/** Beyond this many the next caller is turned away: a queue that long cannot be answered in time. */
const MOST_WAITING = 5_000;
/** A caller that has waited this long is turned away. Together with one round trip that is below the 5 s of an answer. */
export const PATIENCE_MS = 2_500;
const MOST_TRIES = 3;

export interface Pending<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
  /** By `performance.now()`. */
  overdueAt: number;
  tries: number;
  /** Its batch failed, and it is tried once more by itself. */
  alone: boolean;
}

/** In an item's place among the results may also be its own refusal, or a promise where it takes longer than its batch. */
export type Results<Result> = (Result | Promise<Result> | Error)[];

export const handOut = <Item, Result>(batch: Pending<Item, Result>[], results: Results<Result>): void =>
  batch.forEach(({ resolve, reject }, i) => {
    const result = results[i];
    if (result instanceof Error) reject(result);
    else resolve(result as Result);
  });

/** Puts an item behind those that wait and returns the promise of its result. */
export const waitIn = <Item, Result>(
  waiting: Pending<Item, Result>[],
  item: Item,
  patienceMs: number,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    if (waiting.length >= MOST_WAITING) reject(new QueueTimeout('the queue is full'));
    else
      waiting.push({
        item,
        resolve,
        reject,
        overdueAt: performance.now() + patienceMs,
        tries: 0,
        alone: false,
      });
  });

/** Turns away those that have waited too long, and returns the others. */
export const withoutOverdue = <Item, Result>(waiting: Pending<Item, Result>[]): Pending<Item, Result>[] => {
  const now = performance.now();
  // They stand in the order of their coming.
  if (waiting[0] === undefined || waiting[0].overdueAt > now) return waiting;
  return waiting.filter(({ overdueAt, reject }) => {
    if (overdueAt > now) return true;
    reject(new QueueTimeout('waited too long for its turn'));
    return false;
  });
};

/**
 * A batch has failed: returns the items to try again one by one, so that one that cannot be had fails by itself. A deadlock is
 * nobody's fault and is tried again; a database that is away would only take longer.
 */
export const toRetryAlone = <Item, Result>(
  batch: Pending<Item, Result>[],
  error: unknown,
): Pending<Item, Result>[] => {
  const again = batch.map((each) => ({ ...each, alone: true, tries: each.tries + 1 }));
  if (isConflict(error)) {
    for (const { reject } of again.filter(({ tries }) => tries >= MOST_TRIES)) reject(error);
    return again.filter(({ tries }) => tries < MOST_TRIES);
  }
  if (batch.length > 1 && !isUnavailable(error)) return again;
  for (const { reject } of batch) reject(error);
  return [];
};
