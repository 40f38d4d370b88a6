import { closest, distance } from 'fastest-levenshtein';

/**
 * The known name that was probably meant: one that is spelt alike, one of the same name at another level, or one made of the
 * same words.
 */
export const nearest = (name: string, known: string[], allPaths: () => string[]): string | null =>
  nearestBySpelling(name, known) ?? sameElsewhere(name, allPaths()) ?? nearestByWords(name, known);

/** At most a third of the letters differ. */
const nearestBySpelling = (name: string, known: string[]): string | null => {
  if (known.length === 0) return null;
  const guess = closest(name, known);
  return distance(name.toLowerCase(), guess.toLowerCase()) <= Math.max(2, Math.floor(guess.length / 3))
    ? guess
    : null;
};

/** `sku` beside `faultyItem` means `faultyItem.sku`. */
const sameElsewhere = (name: string, paths: string[]): string | null => {
  const joined = (each: string): string => wordsOf(each).join();
  const path = paths.find((each) => joined(each.slice(each.lastIndexOf('.') + 1)) === joined(name));
  if (path === undefined) return null;
  return path.includes('.') ? path : `${path} at the top level`;
};

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** `email` means `customerEmail`: one contains all words of the other. Prefers the name with the fewest other words. */
const nearestByWords = (name: string, known: string[]): string | null => {
  const given = wordsOf(name);
  const guesses = known
    .map((each) => ({ each, words: wordsOf(each) }))
    .filter(({ words }) => {
      const [short, long] = words.length < given.length ? [words, given] : [given, words];
      return short.length > 0 && short.every((word) => long.includes(word));
    })
    .sort(
      (one, other) => Math.abs(one.words.length - given.length) - Math.abs(other.words.length - given.length),
    );
  return guesses[0]?.each ?? null;
};
