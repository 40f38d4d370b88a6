/** Of this run's random choices; it is in the names of the tests that make them. `FAULT_SEED=…` makes the same choices again. */
export const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000);

export interface Random {
  next(): number;
  /** A whole number from 0 to below this one. */
  below(count: number): number;
  /** True in so many cases of a hundred. */
  percent(cases: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Choices that look random and are the same for the same seed: a xorshift generator of 32 bits. */
export const randomOf = (seed: number): Random => {
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
    below,
    percent: (cases) => next() * 100 < cases,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
  };
};
