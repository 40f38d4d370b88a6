export interface Outcome<Item> {
  item: Item;
  /** Null if it worked. */
  error: unknown;
}

interface Options {
  concurrency: number;
  signal: AbortSignal;
  onProgress(done: number): void;
}

/** Runs the work for every item, a few at a time. A failure does not stop the others. */
export const runForEach = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  { concurrency, signal, onProgress }: Options,
): Promise<Outcome<Item>[]> => {
  const outcomes: Outcome<Item>[] = [];
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) {
      const error = await work(item).then(
        () => null,
        (reason: unknown) => reason ?? new Error('failed'),
      );
      outcomes.push({ item, error });
      onProgress(outcomes.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return outcomes;
};
