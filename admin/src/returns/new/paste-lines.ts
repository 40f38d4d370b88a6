// Lines of a trade return, copied from a spreadsheet: cells between tabs, rows between line ends.

export const EMPTY_LINE = {
  sku: '',
  productName: '',
  quantity: '1',
  price: '',
  variantTitle: '',
  weight: '',
  tradeLineItemId: '',
};
export type Line = typeof EMPTY_LINE;
export type LineField = keyof Line;

/** In the order of the form's columns; each with the headers that spreadsheets give it. */
const HEADERS: Record<LineField, RegExp> = {
  sku: /^(sku|article|item)\b|^(art|part)\b.*\b(no|number)\b/i,
  productName: /product|description|^name$/i,
  quantity: /^(quantity|qty|pieces|pcs)\b/i,
  price: /price|cost/i,
  variantTitle: /variant|colou?r|size/i,
  weight: /weight/i,
  tradeLineItemId: /line/i,
};
const LINE_FIELDS = Object.keys(HEADERS) as LineField[];

/** Cells that hold a line end or a tab are quoted, and quotes in them doubled. */
const CELL = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/gy;

const cellsOf = (text: string): string[][] => {
  const rows: string[][] = [[]];
  for (const [cell, quoted, plain = '', end] of text.matchAll(CELL)) {
    if (cell === '') break;
    rows.at(-1)?.push((quoted === undefined ? plain : quoted.replaceAll('""', '"')).trim());
    if (end !== '\t') rows.push([]);
  }
  return rows.filter((row) => row.some((value) => value !== ''));
};

/** Whose column each cell of the first row names; null where it holds no headers. */
const fieldsNamedIn = (row: readonly string[]): (LineField | undefined)[] | null => {
  const named = row.map((cell) => LINE_FIELDS.find((field) => HEADERS[field].test(cell)));
  return new Set(named.filter(Boolean)).size >= 2 ? named : null;
};

/** null: one cell, which goes into its field as usual. Without headers the cells fill the columns from the one that was pasted into. */
export const pastedLines = (text: string, into: LineField): Partial<Line>[] | null => {
  if (!/[\t\r\n]/.test(text.trim())) return null;
  const rows = cellsOf(text);
  const named = fieldsNamedIn(rows[0] ?? []);
  const fields = named ?? LINE_FIELDS.slice(LINE_FIELDS.indexOf(into));
  return (named ? rows.slice(1) : rows).map((row) =>
    Object.fromEntries(
      row.flatMap((cell, i) => {
        const field = fields[i];
        return field ? [[field, cell]] : [];
      }),
    ),
  );
};
