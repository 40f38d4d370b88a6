/** The word for a value of the service. A newer service may have values that this page does not know; they are shown as they are. */
export const wordFor = (words: Readonly<Record<string, string>>, value: string): string =>
  words[value] ?? value;
