/** Of all random choices of a run. `TEST_SEED=<number>` sets another one, and `TEST_SEED=random` draws one: see vitest.config.ts. */
export const SEED = Number(process.env['TEST_SEED'] ?? 1);

/** Choices that look random and are the same for the same seed: a xorshift generator of 32 bits. */
export const randomOf = (seed: number) => {
  let state = Math.imul(seed + 1, 0x9e3779b1) || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    /** A whole number from 0 to below this one. */
    below,
    /** True in so many cases of a hundred. */
    percent: (cases: number) => next() * 100 < cases,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
  };
};
export type Random = ReturnType<typeof randomOf>;
