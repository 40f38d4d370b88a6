/** What became of one of many. */
export interface Outcome<Item> {
  item: Item;
  error: unknown;
}

/** Does the same with every item, a few at once; one that fails stops none of the others. */
export const runForEach = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  { atOnce, signal, onDone }: { atOnce: number; signal: AbortSignal; onDone(done: number): void },
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
      onDone(outcomes.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
};
