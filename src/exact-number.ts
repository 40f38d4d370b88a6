/**
 * A number that is written into JSON with exactly these digits, where a double would round them. For everything else it
 * is not a number: it exists to be written.
 */
export const exactNumber = (digits: string): number =>
  (JSON as unknown as { rawJSON(text: string): number }).rawJSON(digits);
