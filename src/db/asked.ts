import { isUnavailable } from './errors.ts';

// What stands in a batch and waits for its result.

export interface Asked<Item, Result> {
  item: Item;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/** In an item's place among the results may also be its own refusal, or a promise where it takes longer than its batch. */
export type Results<Result> = (Result | Promise<Result> | Error)[];

export const handOut = <Item, Result>(batch: Asked<Item, Result>[], results: Results<Result>): void =>
  batch.forEach(({ resolve, reject }, i) => {
    const result = results[i];
    if (result instanceof Error) reject(result);
    else resolve(result as Result);
  });

/**
 * Where a whole batch fails, each of its items is to be tried alone, so that one that cannot be had fails by itself; unless
 * the database is away, which is nobody's fault and would only take longer. Gives back those that are to be tried.
 */
export const sparedOf = <Ask extends { reject: (error: unknown) => void }>(
  batch: Ask[],
  error: unknown,
): Ask[] => {
  if (batch.length > 1 && !isUnavailable(error)) return batch;
  for (const { reject } of batch) reject(error);
  return [];
};
