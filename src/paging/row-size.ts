import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';

// Both engines know how long a text is without reading it. So a page is found together with the size of its rows, and
// texts that are too long for it are left where they are.

/** A page up to this size is read and answered at once, a larger one slice by slice (decision 96). */
export const SLICE_BYTES = 256 * 1024;

/** A row of a page, with the bytes of its long texts. */
export type Sized<Row> = Row & { bytes: number };

/** How many bytes each long text may have to come with the page: short enough that a full page stays small. */
export const longestText = (limit: number): number => Math.floor(SLICE_BYTES / limit);

/**
 * A number of rows to read or to pass over. SQLite prepares a statement anew for every run where a bare parameter stands as
 * its limit, and that takes as long as reading a page.
 */
export const rowCount = (count: number): RawBuilder<number> => sql<number>`cast(${count} as bigint)`;

/** The columns that a list shows. */
export interface ListColumns<Column extends string> {
  all: readonly Column[];
  /** Texts that may have thousands of characters, first the one that may have most. */
  longTexts: readonly [Column, ...Column[]];
  /**
   * Columns that are stored behind the first long text, which is never null then. SQLite comes to them only by reading its
   * way through that text, so they are left where it is left.
   */
  behindFirst?: readonly Column[];
}

type PageColumn<Column extends string> =
  | Column
  | AliasedRawBuilder<unknown, Column>
  | AliasedRawBuilder<number, 'bytes'>;

/** What a page reads: long texts are null where they are longer than that, and `bytes` is the size of all of them. */
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

/** Part of a page; rows are read again by their keys. */
export interface Slice<Row, Key> {
  keys: Key[];
  /** Rows that came with all of their texts. */
  whole: Row[];
  /** Rows that have to be read again. */
  missing: Key[];
}

/**
 * Cuts a page into slices of at most `SLICE_BYTES`, or of one row that is larger. Only the first slice keeps rows: what a
 * slow reader comes to later does not wait in memory.
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
