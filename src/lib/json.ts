declare global {
  interface JSON {
    /** Node has this function; TypeScript's library does not know it yet. */
    rawJSON(text: string): number;
  }
}

/** Returns a value that JSON.stringify writes with exactly these digits. If a double would not, it is not a number for anything else. */
export const exactNumber = (digits: string): number =>
  String(Number(digits)) === digits ? Number(digits) : JSON.rawJSON(digits);

/** A reviver for JSON.parse that keeps the digits of numbers. */
export const withExactNumbers = (
  _name: string,
  value: unknown,
  { source }: { source?: string } = {},
): unknown => (typeof value === 'number' && source !== undefined ? exactNumber(source) : value);

/** Adds the id of a damaged row to its error, so that an operator finds it in the log. */
export const namingRow =
  <Row extends { id: string }, View>(view: (row: Row) => View) =>
  (row: Row): View => {
    try {
      return view(row);
    } catch (error) {
      throw Object.assign(error as Error, { row: row.id });
    }
  };

/** Parses JSON that may be damaged. */
export const jsonOr = (text: string, otherwise: unknown, reviver?: typeof withExactNumbers): unknown => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return otherwise;
  }
};

/** Parses a column with JSON. V8's own error would quote the text, which may be a customer's, in the log. */
export const parseJsonColumn = (column: string, text: string, reviver?: typeof withExactNumbers) => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    throw new Error(`the column ${column} does not hold JSON`);
  }
};
