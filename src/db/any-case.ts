/** A pattern for a text in upper and lower case: a class of both for each letter, and for the rest what `escaped` makes of it. */
export const anyCase = (text: string, escaped: (character: string) => string): string =>
  [...text]
    .map((character) => {
      const cases = new Set([character, character.toLowerCase(), character.toUpperCase()].filter(isOne));
      return cases.size > 1 ? `[${[...cases].join('')}]` : escaped(character);
    })
    .join('');

/** Some letters become two in the other case. */
const isOne = (text: string): boolean => [...text].length === 1;
