import { createHash, hash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { BACKED_UP_TABLES, type Reading, type Value } from '../db/transfer.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { CliFailure, cannot } from '../platform/start-failure.ts';
import { decrypted, encrypted, isEncrypted } from './encryption.ts';
import { OWN_MARK, removeLeftBehind, UNFINISHED_FILE } from './left-behind.ts';

// A backup is gzipped JSON lines, the same for both engines; `zcat FILE` shows them.
//
//   {"handback":"backup","format":1,"service":"0.1.0","engine":"sqlite","madeAt":"…","migrations":["0001-schema"],"keyChecks":["…"]}
//   {"table":"shops","columns":["id",…]}
//   ["019a8c1e-…",…]
//   … the other rows, the other tables …
//   {"tables":{"shops":{"rows":1,"digest":"…"},…}}
//   {"hmac":"…"}
//
// The last line is a gzip member of its own with a fixed length. Its HMAC is over every byte of the file before it, so a restore
// decompresses and writes nothing that SECRET_KEY has not signed.

const FORMAT = 1;

const Header = z.object({
  // Printed, before anything of the file is trusted.
  service: z.string().regex(/^[\w.+-]{1,40}$/),
  engine: z.enum(['sqlite', 'postgres']),
  madeAt: z.iso.datetime(),
  migrations: z.array(z.string()).min(1),
  /** Sealed texts that only the keys of the backup's secrets open. */
  keyChecks: z.array(z.string()),
});
type Header = z.infer<typeof Header>;
const FirstLine = z.object({ handback: z.literal('backup'), format: z.int() });
const TableLine = z.object({ table: z.string(), columns: z.array(z.string()).min(1) });
const Digest = z.object({ rows: z.int(), digest: z.string() });
const Trailer = z.object({ tables: z.record(z.string(), Digest) });
type Digest = z.infer<typeof Digest>;

/** No row comes near it. Without a limit 408 KB of gzip took 515 MB of memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Deflate reaches 1,032:1. Rows of one repeated letter, as large as a body may be (256 KB), reach 798:1, because each has an id. */
const MAX_RATIO = 1_000;
const BATCH = { rows: 1_000, characters: 1024 * 1024 };
/** In bytes, or in characters. */
const CHUNK = 64 * 1024;

// --- rows ---

const encode = (value: Value): unknown => {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { integer: String(value) };
  }
  if (typeof value === 'number') return { real: String(value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return value;
};

const decode = (value: unknown): Value => {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return BigInt(value);
  const { integer, real, bytes } = value as Record<string, string | undefined>;
  if (integer !== undefined) return BigInt(integer);
  return bytes === undefined ? Number(real) : Buffer.from(bytes, 'base64');
};

export const rowLine = (row: Value[]): string => JSON.stringify(row.map(encode));
export const rowFrom = (line: string): Value[] => (JSON.parse(line) as unknown[]).map(decode);

/** The rows of a table as one value, whatever their order: the sum of their hashes, and how many there are. */
export class RowsDigest {
  readonly #sum = new Uint32Array(8);
  rows = 0;

  add(line: string): void {
    const bytes = hash('sha256', line, 'buffer');
    for (let i = 0; i < 8; i++) this.#sum[i] = (this.#sum[i] ?? 0) + bytes.readUInt32LE(i * 4);
    this.rows += 1;
  }

  get value(): Digest {
    return { rows: this.rows, digest: Buffer.from(this.#sum.buffer).toString('hex') };
  }
}

// --- writing ---

/** Of the tables that a backup holds, by name with their columns. `onRow` hears how many rows of each there are so far. */
export async function* linesOf(
  header: Header,
  tables: ReadonlyMap<string, string[]>,
  rowsOf: Reading['rows'],
  onRow: (table: string, rows: number) => void = () => {},
): AsyncGenerator<string> {
  yield JSON.stringify({ handback: 'backup', format: FORMAT, ...header });
  const digests: Record<string, Digest> = {};
  for (const table of BACKED_UP_TABLES) {
    const columns = tables.get(table);
    // A later migration adds it.
    if (!columns) continue;
    yield JSON.stringify({ table, columns });
    onRow(table, 0);
    const digest = new RowsDigest();
    for await (const row of rowsOf(table, columns)) {
      const line = rowLine(row);
      digest.add(line);
      yield line;
      onRow(table, digest.rows);
    }
    digests[table] = digest.value;
  }
  yield JSON.stringify({ tables: digests });
}

const PURPOSE = 'backup';
const signatureMember = (hmac: string): Buffer => {
  const member = gzipSync(`{"hmac":"${hmac}"}\n`, { level: 0 });
  // The operating system, left open: the bytes are the same on all.
  member[9] = 255;
  return member;
};
const SIGNATURE_BYTES = signatureMember('-'.repeat(43)).length;
const SIGNATURE_LINE = /\{"hmac":"([\w-]{43})"\}\n/;

/** One by one, lines take longer to pass on than to build. */
async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let waiting = '';
  for await (const line of lines) {
    // Cheaper than counting the bytes of each: no character takes more than three per unit of length.
    if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES)
      throw new CliFailure('a row is larger than 16 MB: it could not be restored');
    waiting += `${line}\n`;
    if (waiting.length < CHUNK) continue;
    yield Buffer.from(waiting);
    waiting = '';
  }
  yield Buffer.from(waiting);
}

async function* signed(compressed: AsyncIterable<Buffer>, box: SecretBox | null): AsyncGenerator<Buffer> {
  const sha256 = createHash('sha256');
  for await (const chunk of compressed) {
    sha256.update(chunk);
    yield chunk;
  }
  const [hmac] = box?.signatures(PURPOSE, sha256.digest('hex')) ?? [];
  if (hmac) yield signatureMember(hmac);
}

/** Without a box the file is not signed. */
export const writeBackup = (
  file: FileHandle,
  lines: AsyncIterable<string>,
  box: SecretBox | null,
  recipients: readonly string[] = [],
  signal?: AbortSignal,
): Promise<void> =>
  pipeline(
    chunksOf(lines),
    createGzip(),
    (compressed: AsyncIterable<Buffer>) => encrypted(signed(compressed, box), recipients),
    (bytes: AsyncIterable<Uint8Array>) => file.writeFile(bytes),
    { ...(signal && { signal }) },
  );

/** `hint`: what else the command offers. */
export const refuseExisting = (path: string, hint = ''): void => {
  if (existsSync(path)) throw new CliFailure(`${path} already exists: choose another name${hint}`);
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Removes what work leaves behind however it ends, also by one of these signals. */
export const cleaningUp = async <Result>(
  remove: () => void,
  work: () => Promise<Result>,
  signals = SIGNALS,
): Promise<Result> => {
  const end = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, end);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, end);
    remove();
  }
};

/** The file gets its name once all of it is on disk; until then a failure removes it, and for a command a signal. Returns its size. */
export const writeWhole = async (
  path: string,
  overwrite: boolean,
  write: (file: FileHandle) => Promise<void>,
  isCommand = true,
): Promise<number> => {
  const draft = `${path}.${OWN_MARK}.part`;
  const writeAll = async (): Promise<number> => {
    await removeLeftBehind(dirname(path), UNFINISHED_FILE);
    const file = await open(draft, 'wx', 0o600);
    await write(file)
      .then(() => file.sync())
      .finally(() => file.close());
    if (!overwrite) refuseExisting(path);
    await rename(draft, path);
    const folder = await open(dirname(path), 'r');
    // So that the new name survives a power cut. File systems that cannot sync a folder refuse.
    await folder.sync().catch(() => {});
    await folder.close();
    return (await stat(path)).size;
  };
  const removeDraft = () => rmSync(draft, { force: true });
  return cleaningUp(removeDraft, writeAll, isCommand ? SIGNALS : []).catch((error) =>
    cannot('write', path, error),
  );
};

export const writeNew = (path: string, chunks: AsyncIterable<string | Buffer>): Promise<number> => {
  refuseExisting(path);
  return writeWhole(path, false, (file) => file.writeFile(chunks));
};

// --- reading ---

type Batch = z.infer<typeof TableLine> & { lines: string[] };
export type BackupTable = z.infer<typeof TableLine> & { digest: RowsDigest };

interface Source {
  path: string;
  file: FileHandle;
  /** Without the signature. */
  size: number;
  hmac: string | null;
}

export class BackupFile {
  /** Known once it is opened, and trusted once it is checked. */
  readonly header: Header;
  readonly #source: Source;
  #trailer: Record<string, Digest> | null = null;

  private constructor(source: Source, header: Header) {
    this.#source = source;
    this.header = header;
  }

  /** An encrypted one with the file of an age identity. */
  static async open(path: string, identity?: string): Promise<BackupFile> {
    let file = await open(path, 'r').catch((error) => cannot('read', path, error));
    try {
      if (await isEncrypted(file)) {
        const sealed = file;
        file = await decrypted(bytesOf(sealed), path, identity);
        await sealed.close();
      }
      const { size } = await file.stat();
      const hmac = await signatureIn(file, size);
      const signedSize = size - (hmac === null ? 0 : SIGNATURE_BYTES);
      return new BackupFile({ path, file, size: signedSize, hmac }, await headerIn(file, path));
    } catch (error) {
      await file.close();
      return cannot('read', path, error);
    }
  }

  /** Reads all of it before anything is written: its signature first, then whether it holds what its trailer says. */
  async check(keys: () => SecretBox, unsigned = false): Promise<BackupTable[]> {
    const { path, file, size, hmac } = this.#source;
    if (hmac === null && !unsigned)
      throw new CliFailure(
        `${path} has no signature: it was cut off, or written without SECRET_KEY. Nothing was restored; --unsigned restores it all the same, if you know who wrote it`,
      );
    if (hmac !== null) {
      const sha256 = createHash('sha256');
      for await (const chunk of bytesOf(file, size)) sha256.update(chunk);
      if (!keys().isSigned(PURPOSE, sha256.digest('hex'), hmac))
        throw damaged(path, 'its signature does not match: it was changed after it was written');
    }
    const tables: BackupTable[] = [];
    for await (const { table, columns, lines } of this.batches()) {
      // Another list of columns is another line of a table, also of one that was there before.
      if (tables.at(-1)?.columns !== columns) tables.push({ table, columns, digest: new RowsDigest() });
      for (const line of lines) tables.at(-1)?.digest.add(line);
    }
    const digests = tables.map(({ table, digest }) => [table, digest.value]);
    if (!isDeepStrictEqual(digests, Object.entries(this.#trailer ?? {})))
      throw damaged(path, 'its rows are not those it was written with');
    return tables;
  }

  /** The rows of one table after the other, as lines: each batch is one round trip to the database. The last of a table may be empty. */
  async *batches(): AsyncGenerator<Batch> {
    const { path, file, size } = this.#source;
    let batch = null as Batch | null;
    let characters = 0;
    this.#trailer = null;
    try {
      const lines = linesIn(bytesOf(file, size));
      // The header, which is known already.
      await lines.next();
      for await (const line of lines) {
        const isRow = line.startsWith('[');
        const content: object = isRow ? [] : JSON.parse(line);
        if (this.#trailer) throw new Damage('it goes on after its trailer');
        if (isRow) {
          if (!batch) throw new Damage('it has rows of no table');
          batch.lines.push(line);
          characters += line.length;
          if (batch.lines.length < BATCH.rows && characters < BATCH.characters) continue;
        }
        if (batch) yield batch;
        if (batch && isRow) batch = { ...batch, lines: [] };
        else if ('table' in content) batch = { ...TableLine.parse(content), lines: [] };
        else this.#trailer = Trailer.parse(content).tables;
        characters = 0;
      }
      if (!this.#trailer) throw new Damage('it has no trailer: it was cut off');
    } catch (error) {
      // The message of a parser quotes what it read.
      throw damaged(path, error instanceof Damage ? error.message : 'it cannot be read');
    }
  }

  close(): Promise<void> {
    return this.#source.file.close();
  }
}

const damaged = (path: string, what: string): CliFailure =>
  new CliFailure(`${path} is damaged (${what}): nothing was restored; use another copy`);

const signatureIn = async (file: FileHandle, size: number): Promise<string | null> => {
  const last = Buffer.alloc(SIGNATURE_BYTES);
  await file.read(last, 0, SIGNATURE_BYTES, Math.max(size - SIGNATURE_BYTES, 0));
  const hmac = SIGNATURE_LINE.exec(last.toString('latin1'))?.[1] ?? null;
  return hmac !== null && signatureMember(hmac).equals(last) ? hmac : null;
};

/** Not trusted yet: from the first line alone, so that the right release and the right key can be asked for. */
const headerIn = async (file: FileHandle, path: string): Promise<Header> => {
  let first: unknown = null;
  try {
    for await (const line of linesIn(bytesOf(file))) {
      first = JSON.parse(line);
      break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error;
    // Neither gzip nor JSON lines: not a backup.
  }
  const { data } = FirstLine.safeParse(first);
  if (!data) throw new CliFailure(`${path} is not a backup of Handback, or it is damaged at the start`);
  if (data.format > FORMAT)
    throw new CliFailure(
      `${path} has format ${data.format}, which a newer release of Handback wrote: use that release`,
    );
  const header = Header.safeParse(first);
  if (!header.success) throw damaged(path, 'its header cannot be read');
  return header.data;
};

/** What is wrong with a file, in words that quote nothing of it. */
class Damage extends Error {}

/** Not a stream of the file handle: that one closes the handle when it is not read to its end. */
async function* bytesOf(file: FileHandle, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  for (let at = 0; at < end; ) {
    const length = Math.min(CHUNK, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function* linesIn(compressed: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const chunks = createGunzip();
  const source = Readable.from(compressed);
  source.once('error', (error) => chunks.destroy(error)).pipe(chunks);
  let rest: Buffer[] = [];
  let restBytes = 0;
  let bytes = 0;
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_LINE_BYTES && bytes > MAX_RATIO * chunks.bytesWritten)
      throw new Damage(`it inflates to more than ${MAX_RATIO} times its size`);
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      const line = chunk.subarray(start, end);
      yield (rest.length === 0 ? line : Buffer.concat([...rest, line])).toString('utf8');
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > MAX_LINE_BYTES) throw new Damage('it has a line of more than 16 MB');
  }
  if (rest.length > 0) throw new Error('the last line has no end');
}
