export interface CsvColumn<Item> {
  header: string;
  value(item: Item): string | number | boolean | null;
}

/** A spreadsheet runs a cell that begins like this as a formula, unless an apostrophe stands in front. */
const FORMULA = /^[\s=+\-@＝＋－＠]/u;
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/u;

/** A time as a spreadsheet reads it, in the reader's time zone: `2026-11-16 09:30`. */
export const csvTime = (at: string): string => {
  const time = new Date(at);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace('T', ' ');
};

export const csvCell = (value: string | number | boolean | null): string => {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** RFC 4180, with the byte order mark by which spreadsheets recognise UTF-8. */
export const csvText = <Item>(columns: readonly CsvColumn<Item>[], items: readonly Item[]): string => {
  const lines = [
    columns.map(({ header }) => csvCell(header)),
    ...items.map((item) => columns.map(({ value }) => csvCell(value(item)))),
  ];
  return `\uFEFF${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`;
};
