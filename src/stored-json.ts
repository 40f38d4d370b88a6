/** Reads JSON that a column keeps as text. V8's own message would quote the text, which may be a customer's, into the log. */
export const fromStored = (column: string, text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the column ${column} does not hold JSON`);
  }
};
