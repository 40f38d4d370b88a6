export interface Outcome<Item> {
  item: Item;
  /** Null if it worked. */
  error: unknown;
}

/** Low, so that other users of the service notice nothing. */
const CONCURRENCY = 4;

/** Runs the work for every item, a few at a time, until it is aborted. A failure does not stop the others. */
export const runForEach = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal,
  onProgress?: (done: number) => void,
): Promise<Outcome<Item>[]> => {
  const outcomes: Outcome<Item>[] = [];
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal?.aborted; item = waiting.shift()) {
      const error = await work(item).then(
        () => null,
        (reason: unknown) => reason ?? new Error('failed'),
      );
      outcomes.push({ item, error });
      onProgress?.(outcomes.length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return outcomes;
};
