import { closest, distance } from 'fastest-levenshtein';

/** The known name that was probably meant: by its spelling, or because it has the same words in it. */
export const nearest = (name: string, known: string[]): string | null =>
  nearestBySpelling(name, known) ?? nearestByWords(name, known);

/** At most a third of its letters away. */
const nearestBySpelling = (name: string, known: string[]): string | null => {
  if (known.length === 0) return null;
  const guess = closest(name, known);
  return distance(name.toLowerCase(), guess.toLowerCase()) <= Math.max(2, Math.floor(guess.length / 3))
    ? guess
    : null;
};

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** `email` means `customerEmail`: one holds all words of the other. The name that has fewest words beyond comes first. */
const nearestByWords = (name: string, known: string[]): string | null => {
  const asked = wordsOf(name);
  const guesses = known
    .map((each) => ({ each, words: wordsOf(each) }))
    .filter(({ words }) => {
      const [short, long] = words.length < asked.length ? [words, asked] : [asked, words];
      return short.length > 0 && short.every((word) => long.includes(word));
    })
    .sort(
      (one, other) => Math.abs(one.words.length - asked.length) - Math.abs(other.words.length - asked.length),
    );
  return guesses[0]?.each ?? null;
};
