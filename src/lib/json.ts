declare global {
  interface JSON {
    /** Node has it; TypeScript's library does not know it yet. */
    rawJSON(text: string): number;
  }
}

/** JSON.stringify writes it with exactly these digits. Where a double would round or write them otherwise, it is no number for anything else. */
export const exactNumber = (digits: string): number =>
  String(Number(digits)) === digits ? Number(digits) : JSON.rawJSON(digits);

/** For JSON.parse: numbers keep their digits. */
export const withExactNumbers = (
  _name: string,
  value: unknown,
  { source }: { source?: string } = {},
): unknown => (typeof value === 'number' && source !== undefined ? exactNumber(source) : value);

/** An error of a row that is damaged says which row it is: the log has its id then, and an operator finds it. */
export const namingRow =
  <Row extends { id: string }, View>(view: (row: Row) => View) =>
  (row: Row): View => {
    try {
      return view(row);
    } catch (error) {
      throw Object.assign(error as Error, { row: row.id });
    }
  };

/** For text that may be damaged. */
export const jsonOr = (text: string, otherwise: unknown, reviver?: typeof withExactNumbers): unknown => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return otherwise;
  }
};

/** Reads JSON that a column keeps as text. V8's own message would quote the text, which may be a customer's, into the log. */
export const parseJsonColumn = (column: string, text: string, reviver?: typeof withExactNumbers) => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    throw new Error(`the column ${column} does not hold JSON`);
  }
};
