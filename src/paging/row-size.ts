import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';

// Both engines know the length of a text without reading it. So a page is read together with the size of its rows, and
// without texts that are too long for it.

/** A page up to this size is answered at once, a larger one slice by slice (decision 96). */
export const SLICE_BYTES = 256 * 1024;

/** A row of a page, with the bytes of its long texts. */
export type Sized<Row> = Row & { bytes: number };

/** The longest text that is read with the page: short enough that a full page stays small. */
export const longestText = (limit: number): number => Math.floor(SLICE_BYTES / limit);

/**
 * A value for `limit` or `offset`. With a bare parameter there, SQLite prepares the statement again for every run, and that
 * takes as long as reading a page.
 */
export const rowCount = (count: number): RawBuilder<number> => sql<number>`cast(${count} as bigint)`;

/** The columns that a list shows. */
export interface ListColumns<Column extends string> {
  all: readonly Column[];
  /** Texts that may have thousands of characters, the longest first. */
  longTexts: readonly [Column, ...Column[]];
  /**
   * Columns that are stored after the first long text, which must never be null. SQLite has to read through that text to
   * reach them, so they are left out whenever it is.
   */
  behindFirst?: readonly Column[];
}

type PageColumn<Column extends string> =
  | Column
  | AliasedRawBuilder<unknown, Column>
  | AliasedRawBuilder<number, 'bytes'>;

/** The columns that a page reads: texts over `longest` are null, and `bytes` is the size of all long texts. */
export const sizedColumns = <Column extends string>(
  { all, longTexts, behindFirst = [] }: ListColumns<Column>,
  longest: number,
): PageColumn<Column>[] => {
  const sizeOf = (column: Column) => sql`octet_length(${sql.ref(column)})`;
  const sizes = longTexts.map((column) => sql`coalesce(${sizeOf(column)}, 0)`);
  const withText = (column: Column, text: Column) =>
    sql`case when ${sizeOf(text)} <= ${longest} then ${sql.ref(column)} end`.as(column);
  return [
    ...all.map((column) => {
      if (longTexts.includes(column)) return withText(column, column);
      return behindFirst.includes(column) ? withText(column, longTexts[0]) : column;
    }),
    sql<number>`${sql.join(sizes, sql` + `)}`.as('bytes'),
  ];
};

/** Part of a page. Its missing rows are read by their keys. */
export interface Slice<Row, Key> {
  keys: Key[];
  /** Rows that were read with all of their texts. */
  whole: Row[];
  /** Keys of the rows that must be read again. */
  missing: Key[];
}

/**
 * Cuts a page into slices of at most `SLICE_BYTES`, or of one larger row. Only the first slice keeps its rows: the others
 * do not wait in memory for a slow reader.
 */
export const slicesOf = <Row, Key>(
  rows: readonly Sized<Row>[],
  limit: number,
  keyOf: (row: Row) => Key,
): Slice<Row, Key>[] => {
  const longest = longestText(limit);
  const slices: Slice<Row, Key>[] = [{ keys: [], whole: [], missing: [] }];
  let room = SLICE_BYTES;
  for (const row of rows) {
    if (row.bytes > room && slices.at(-1)?.keys.length !== 0) {
      slices.push({ keys: [], whole: [], missing: [] });
      room = SLICE_BYTES;
    }
    const slice = slices.at(-1) as Slice<Row, Key>;
    slice.keys.push(keyOf(row));
    if (slices.length === 1 && row.bytes <= longest) slice.whole.push(row);
    else slice.missing.push(keyOf(row));
    room -= row.bytes;
  }
  return slices;
};
