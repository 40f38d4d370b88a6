import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Value } from '../../db/transfer.ts';

// A backup file (decision 196): two lines that anybody can read, the rows as compressed lines, and a line with a checksum.
//
//   handback backup 1
//   {"service":"0.1.0","engine":"sqlite","madeAt":"…","migrations":["0001-initial-schema"],"keyChecks":["…"]}
//   gzip: {"table":"shops","columns":["id",…]}
//         ["019a8c1e-…",…]
//         {"rows":1,"digest":"…"}
//         … and so on for each table …
//         {"tables":21,"rows":5812}
//   sha256 …
//
// The checksum is over every byte before its line.

export const FORMAT = 1;
export const MAGIC = /^handback backup (\d+)$/;
export const firstLine = `handback backup ${FORMAT}\n`;

export const Header = z.object({
  service: z.string(),
  engine: z.enum(['sqlite', 'postgres']),
  madeAt: z.iso.datetime(),
  /** Those that the database had: its schema. */
  migrations: z.array(z.string()).min(1),
  /** Sealed texts that open with the keys of the backup's secrets, and with no others. */
  keyChecks: z.array(z.string()),
});
export type Header = z.infer<typeof Header>;

export const TableLine = z.object({ table: z.string(), columns: z.array(z.string()).min(1) });
export const EndLine = z.object({ rows: z.number(), digest: z.string() });
export const LastLine = z.object({ tables: z.number(), rows: z.number() });

/** What ends the file. */
export const checksumLine = (sha256: string): string => `\nsha256 ${sha256}\n`;
export const CHECKSUM_LINE = /^\nsha256 ([0-9a-f]{64})\n$/;
export const CHECKSUM_BYTES = checksumLine(''.padEnd(64, '0')).length;

const shown = (value: Value): unknown => {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { integer: String(value) };
  }
  if (typeof value === 'number') return { real: String(value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return value;
};

export const rowLine = (row: Value[]): string => JSON.stringify(row.map(shown));

const Shown = z.union([
  z.null(),
  z.string(),
  z.int().transform(BigInt),
  z.strictObject({ integer: z.string().regex(/^-?\d+$/) }).transform(({ integer }) => BigInt(integer)),
  z.strictObject({ real: z.string() }).transform(({ real }) => Number(real)),
  z.strictObject({ bytes: z.base64() }).transform(({ bytes }) => Buffer.from(bytes, 'base64')),
]);

const read = (value: unknown): Value => {
  if (value === null || typeof value === 'string') return value;
  return typeof value === 'number' ? BigInt(value) : Shown.parse(value);
};

export const rowFrom = (line: string): Value[] => (JSON.parse(line) as unknown[]).map(read);

/** The rows of a table as one value, whatever their order: the sum of their hashes, and how many there are. */
export class RowsDigest {
  readonly #sum = new Uint32Array(8);
  rows = 0;

  add(line: string): void {
    const bytes = hash('sha256', line, 'buffer');
    for (let i = 0; i < 8; i++) this.#sum[i] = (this.#sum[i] ?? 0) + bytes.readUInt32LE(i * 4);
    this.rows += 1;
  }

  get digest(): string {
    return Buffer.from(this.#sum.buffer).toString('hex');
  }

  isLike(other: { rows: number; digest: string }): boolean {
    return this.rows === other.rows && this.digest === other.digest;
  }
}
