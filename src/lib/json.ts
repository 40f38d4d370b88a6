declare global {
  interface JSON {
    /** Node has it; TypeScript's library does not know it yet. */
    rawJSON(text: string): number;
  }
}

/** JSON.stringify writes it with exactly these digits, where a double would round them. It is not a number for anything else. */
export const exactNumber = (digits: string): number => JSON.rawJSON(digits);

/** Reads JSON that a column keeps as text. V8's own message would quote the text, which may be a customer's, into the log. */
export const parseJsonColumn = (column: string, text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the column ${column} does not hold JSON`);
  }
};
