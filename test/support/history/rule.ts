import type { History } from './history.ts';
import type { Kept } from './kept.ts';

/** Finds what breaks one promise: a sentence for each fault. */
export type Rule = (history: History, kept: Kept) => string[];

/** The items of each name, in their order. */
export const groupBy = <Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> =>
  Map.groupBy(items, nameOf);

export const byId = <Item extends { id: string }>(items: readonly Item[]): Map<string, Item> =>
  new Map(items.map((item) => [item.id, item]));

/** The names that more than one item has. */
export const repeated = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const name of names) (seen.has(name) ? twice : seen).add(name);
  return [...twice];
};

export const isoOf = (at: number): string => new Date(at).toISOString();
