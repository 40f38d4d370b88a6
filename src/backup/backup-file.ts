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
import { decryptToFile, encryptForRecipients, isEncrypted } from './encryption.ts';
import { OWN_MARK, removeLeftBehind, UNFINISHED_FILE } from './left-behind.ts';

// A backup consists of gzipped JSON lines, the same for both engines; `zcat FILE` shows them.
//
//
// The last line is a separate gzip member with a fixed length. Its HMAC covers every byte of the file before it, so a restore
// decompresses and writes nothing that SECRET_KEY has not signed.

const FORMAT = 1;

const Header = z.object({
  // The pattern is strict, since the value is printed before the file is trusted.
  service: z.string().regex(/^[\w.+-]{1,40}$/),
  engine: z.enum(['sqlite', 'postgres']),
  madeAt: z.iso.datetime(),
  migrations: z.array(z.string()).min(1),
  /** Sealed texts that only the keys of the secrets in the backup can open. */
  keyChecks: z.array(z.string()),
});
type Header = z.infer<typeof Header>;
const FirstLine = z.object({ handback: z.literal('backup'), format: z.int() });
const TableLine = z.object({ table: z.string(), columns: z.array(z.string()).min(1) });
const Digest = z.object({ rows: z.int(), digest: z.string() });
const Trailer = z.object({ tables: z.record(z.string(), Digest) });
type Digest = z.infer<typeof Digest>;

/** No row comes near this limit. Without it 408 KB of gzip took 515 MB of memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Deflate reaches 1,032:1. Rows of one repeated letter with the largest body (256 KB) reach 798:1, because each has an id. */
const MAX_RATIO = 1_000;
const BATCH_LIMITS = { rows: 1_000, characters: 1024 * 1024 };
/** The size of a chunk, in bytes for reads and in characters for writes. */
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

export const encodeRow = (row: Value[]): string => JSON.stringify(row.map(encode));
export const decodeRow = (line: string): Value[] => (JSON.parse(line) as unknown[]).map(decode);

/** A digest of a table's rows that does not depend on their order: the sum of their hashes, and their number. */
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

/** Yields the lines of a backup of these tables with these columns. `onRow` gets the number of rows of a table so far. */
export async function* backupLines(
  header: Header,
  tables: ReadonlyMap<string, string[]>,
  rowsOf: Reading['rows'],
  onRow: (table: string, rows: number) => void = () => {},
): AsyncGenerator<string> {
  yield JSON.stringify({ handback: 'backup', format: FORMAT, ...header });
  const digests: Record<string, Digest> = {};
  for (const table of BACKED_UP_TABLES) {
    const columns = tables.get(table);
    // A later migration adds this table.
    if (!columns) continue;
    yield JSON.stringify({ table, columns });
    onRow(table, 0);
    const digest = new RowsDigest();
    for await (const row of rowsOf(table, columns)) {
      const line = encodeRow(row);
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
  // The operating system is set to "unknown", so that the bytes are the same on all systems.
  member[9] = 255;
  return member;
};
const SIGNATURE_BYTES = signatureMember('-'.repeat(43)).length;
const SIGNATURE_PATTERN = /\{"hmac":"([\w-]{43})"\}\n/;

/** Joins lines into chunks, since passing on single lines takes longer than building them. */
async function* joinLines(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let buffered = '';
  for await (const line of lines) {
    // The first condition is cheap and avoids counting bytes: no unit of length takes more than three of them.
    if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES)
      throw new CliFailure('a row is larger than 16 MB and could not be restored');
    buffered += `${line}\n`;
    if (buffered.length < CHUNK) continue;
    yield Buffer.from(buffered);
    buffered = '';
  }
  yield Buffer.from(buffered);
}

async function* withSignature(
  compressed: AsyncIterable<Buffer>,
  box: SecretBox | null,
): AsyncGenerator<Buffer> {
  const sha256 = createHash('sha256');
  for await (const chunk of compressed) {
    sha256.update(chunk);
    yield chunk;
  }
  const [hmac] = box?.signatures(PURPOSE, sha256.digest('hex')) ?? [];
  if (hmac) yield signatureMember(hmac);
}

/** Writes and compresses the lines. Without a box the file is not signed. */
export const writeBackup = (
  file: FileHandle,
  lines: AsyncIterable<string>,
  box: SecretBox | null,
  recipients: readonly string[] = [],
  signal?: AbortSignal,
): Promise<void> =>
  pipeline(
    joinLines(lines),
    createGzip(),
    (compressed: AsyncIterable<Buffer>) => encryptForRecipients(withSignature(compressed, box), recipients),
    (bytes: AsyncIterable<Uint8Array>) => file.writeFile(bytes),
    { ...(signal && { signal }) },
  );

/** Refuses a path that exists. `hint` is appended to the message and names another option. */
export const refuseExisting = (path: string, hint = ''): void => {
  if (existsSync(path)) throw new CliFailure(`${path} already exists: choose another name${hint}`);
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs `remove` after the work, however it ends, including by one of these signals. */
export const withCleanUp = async <Result>(
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

/** Renames the file once it is complete on disk, and returns its size. A failure, or in a command a signal, removes the draft. */
export const writeAtomically = async (
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
    // The sync makes the new name survive a power cut. Some file systems refuse to sync a folder.
    await folder.sync().catch(() => {});
    await folder.close();
    return (await stat(path)).size;
  };
  const removeDraft = () => rmSync(draft, { force: true });
  return withCleanUp(removeDraft, writeAll, isCommand ? SIGNALS : []).catch((error) =>
    cannot('write', path, error),
  );
};

export const writeNewFile = (path: string, chunks: AsyncIterable<string | Buffer>): Promise<number> => {
  refuseExisting(path);
  return writeAtomically(path, false, (file) => file.writeFile(chunks));
};

// --- reading ---

type Batch = z.infer<typeof TableLine> & { lines: string[] };
export type BackupTable = z.infer<typeof TableLine> & { digest: RowsDigest };

interface Source {
  path: string;
  file: FileHandle;
  /** The size without the signature. */
  size: number;
  hmac: string | null;
}

export class BackupFile {
  /** The header is known once the file is open, and trusted after `check`. */
  readonly header: Header;
  readonly #source: Source;
  #trailer: Record<string, Digest> | null = null;

  private constructor(source: Source, header: Header) {
    this.#source = source;
    this.header = header;
  }

  /** Opens a backup. An encrypted one needs the file of an age identity. */
  static async open(path: string, identity?: string): Promise<BackupFile> {
    let file = await open(path, 'r').catch((error) => cannot('read', path, error));
    try {
      if (await isEncrypted(file)) {
        const sealed = file;
        file = await decryptToFile(readChunks(sealed), path, identity);
        await sealed.close();
      }
      const { size } = await file.stat();
      const hmac = await readSignature(file, size);
      const signedSize = size - (hmac === null ? 0 : SIGNATURE_BYTES);
      return new BackupFile({ path, file, size: signedSize, hmac }, await readHeader(file, path));
    } catch (error) {
      await file.close();
      return cannot('read', path, error);
    }
  }

  /** Reads the whole file before anything is written. It checks the signature first, then the rows against the trailer. */
  async check(keys: () => SecretBox, unsigned = false): Promise<BackupTable[]> {
    const { path, file, size, hmac } = this.#source;
    if (hmac === null && !unsigned)
      throw new CliFailure(
        `${path} has no signature: it was cut off, or written without SECRET_KEY. Nothing was restored; pass --unsigned to restore it anyway, but only if you know who wrote it`,
      );
    if (hmac !== null) {
      const sha256 = createHash('sha256');
      for await (const chunk of readChunks(file, size)) sha256.update(chunk);
      if (!keys().isSigned(PURPOSE, sha256.digest('hex'), hmac))
        throw damageFailure(path, 'its signature does not match: it was changed after it was written');
    }
    const tables: BackupTable[] = [];
    for await (const { table, columns, lines } of this.batches()) {
      // A new list of columns comes from a new table line, even if the table is repeated.
      if (tables.at(-1)?.columns !== columns) tables.push({ table, columns, digest: new RowsDigest() });
      for (const line of lines) tables.at(-1)?.digest.add(line);
    }
    const digests = tables.map(({ table, digest }) => [table, digest.value]);
    if (!isDeepStrictEqual(digests, Object.entries(this.#trailer ?? {})))
      throw damageFailure(path, 'its rows do not match its trailer');
    return tables;
  }

  /** Yields rows as lines, table by table. Each batch is one round trip to the database. The last of a table may be empty. */
  async *batches(): AsyncGenerator<Batch> {
    const { path, file, size } = this.#source;
    let batch = null as Batch | null;
    let characters = 0;
    this.#trailer = null;
    try {
      const lines = readLines(readChunks(file, size));
      // The first line is the header, which was read by `open`.
      await lines.next();
      for await (const line of lines) {
        const isRow = line.startsWith('[');
        const content: object = isRow ? [] : JSON.parse(line);
        if (this.#trailer) throw new Damage('it continues after its trailer');
        if (isRow) {
          if (!batch) throw new Damage('it has rows without a table');
          batch.lines.push(line);
          characters += line.length;
          if (batch.lines.length < BATCH_LIMITS.rows && characters < BATCH_LIMITS.characters) continue;
        }
        if (batch) yield batch;
        if (batch && isRow) batch = { ...batch, lines: [] };
        else if ('table' in content) batch = { ...TableLine.parse(content), lines: [] };
        else this.#trailer = Trailer.parse(content).tables;
        characters = 0;
      }
      if (!this.#trailer) throw new Damage('it has no trailer: it was cut off');
    } catch (error) {
      // The message of a parser is not shown, since it quotes the file.
      throw damageFailure(path, error instanceof Damage ? error.message : 'it cannot be read');
    }
  }

  close(): Promise<void> {
    return this.#source.file.close();
  }
}

const damageFailure = (path: string, what: string): CliFailure =>
  new CliFailure(`${path} is damaged (${what}): nothing was restored; use another copy`);

const readSignature = async (file: FileHandle, size: number): Promise<string | null> => {
  const last = Buffer.alloc(SIGNATURE_BYTES);
  await file.read(last, 0, SIGNATURE_BYTES, Math.max(size - SIGNATURE_BYTES, 0));
  const hmac = SIGNATURE_PATTERN.exec(last.toString('latin1'))?.[1] ?? null;
  return hmac !== null && signatureMember(hmac).equals(last) ? hmac : null;
};

/** Reads the header, which is not trusted yet, so that a message can name the release and the key that are needed. */
const readHeader = async (file: FileHandle, path: string): Promise<Header> => {
  let first: unknown = null;
  try {
    for await (const line of readLines(readChunks(file))) {
      first = JSON.parse(line);
      break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) throw error;
    // The file has neither gzip nor JSON lines, so it is not a backup.
  }
  const { data } = FirstLine.safeParse(first);
  if (!data) throw new CliFailure(`${path} is not a backup of Handback, or it is damaged at the start`);
  if (data.format > FORMAT)
    throw new CliFailure(
      `${path} has format ${data.format}, which belongs to a newer release of Handback: use that release`,
    );
  const header = Header.safeParse(first);
  if (!header.success) throw damageFailure(path, 'its header cannot be read');
  return header.data;
};

/** Damage of a file. Its message never quotes the file. */
class Damage extends Error {}

/** Reads chunks itself, because a stream of the file handle would close the handle if it is not read to its end. */
async function* readChunks(file: FileHandle, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  for (let at = 0; at < end; ) {
    const length = Math.min(CHUNK, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function* readLines(compressed: AsyncIterable<Buffer>): AsyncGenerator<string> {
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
  if (rest.length > 0) throw new Error('the last line is incomplete');
}
