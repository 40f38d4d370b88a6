import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { fileFault } from '../../start-failure.ts';
import { CliFailure } from '../output.ts';
import {
  CHECKSUM_BYTES,
  CHECKSUM_LINE,
  EndLine,
  FORMAT,
  Header,
  LastLine,
  MAGIC,
  TableLine,
} from './format.ts';

/** The two lines before the rows are far shorter. */
const HEAD_BYTES = 64 * 1024;
const LINES_AT_ONCE = { count: 1_000, characters: 1024 * 1024 };
const NEWLINE = 0x0a;

export interface BackupFile {
  header: Header;
  size: number;
  /** Reads what it holds, from the beginning. */
  parts(): AsyncGenerator<Part>;
  close(): Promise<void>;
}

/** A table begins, some of its rows, and what it holds in all. */
type Part =
  | { kind: 'table'; table: string; columns: string[] }
  | { kind: 'rows'; lines: string[] }
  | { kind: 'end'; rows: number; digest: string };

/** Opens a backup that is whole, to the bit; anything else is refused before anything is done with it. */
export const openBackup = async (path: string): Promise<BackupFile> => {
  const file = await open(path, 'r').catch((error) => cannotRead(path, error));
  try {
    const { size } = await file.stat();
    const { header, length } = await readHead(file, path);
    await checkSum(file, size, path);
    const end = size - CHECKSUM_BYTES - 1;
    return { header, size, parts: () => partsOf(file, length, end, path), close: () => file.close() };
  } catch (error) {
    await file.close();
    return cannotRead(path, error);
  }
};

const cannotRead = (path: string, error: unknown): never => {
  const fault = fileFault(error, 'there is no such file');
  throw fault ? new CliFailure(`cannot read ${path}: ${fault}`) : error;
};

const damaged = (path: string, what: string): CliFailure =>
  new CliFailure(`${path} is damaged (${what}): nothing was restored; take another copy`);

const readHead = async (file: FileHandle, path: string): Promise<{ header: Header; length: number }> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  const firstEnd = head.indexOf(NEWLINE);
  const secondEnd = head.indexOf(NEWLINE, firstEnd + 1);
  const [, format] = MAGIC.exec(head.toString('latin1', 0, Math.max(firstEnd, 0))) ?? [];
  if (!format) throw new CliFailure(`${path} is not a backup of Handback`);
  if (Number(format) > FORMAT)
    throw new CliFailure(
      `${path} has format ${format}, which a newer release of Handback wrote: use that one`,
    );
  try {
    const header = Header.parse(JSON.parse(head.toString('utf8', firstEnd + 1, Math.max(secondEnd, 0))));
    return { header, length: secondEnd + 1 };
  } catch {
    throw damaged(path, 'its header cannot be read');
  }
};

const checkSum = async (file: FileHandle, size: number, path: string): Promise<void> => {
  const last = Buffer.alloc(CHECKSUM_BYTES);
  const start = Math.max(size - CHECKSUM_BYTES, 0);
  await file.read(last, 0, CHECKSUM_BYTES, start);
  const [, expected] = CHECKSUM_LINE.exec(last.toString('latin1')) ?? [];
  if (!expected)
    throw damaged(path, 'it does not end with a checksum: it was cut off, or something was added');
  const sha256 = createHash('sha256');
  const stream = file.createReadStream({ start: 0, end: start - 1, autoClose: false });
  for await (const chunk of stream) sha256.update(chunk);
  if (sha256.digest('hex') !== expected) throw damaged(path, 'its checksum does not fit');
};

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = chunk.subarray(start, end);
      yield rest.length === 0 ? line.toString('utf8') : Buffer.concat([...rest, line]).toString('utf8');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) throw new Error('the last line has no end');
}

/** Rows in batches: each is one round trip to the database. */
async function* batched(lines: AsyncIterable<string>): AsyncGenerator<string[] | string> {
  let batch: string[] = [];
  let characters = 0;
  for await (const line of lines) {
    const isRow = line.startsWith('[');
    if (isRow) {
      batch.push(line);
      characters += line.length;
    }
    const isFull = batch.length >= LINES_AT_ONCE.count || characters >= LINES_AT_ONCE.characters;
    if (batch.length > 0 && (isFull || !isRow)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    if (!isRow) yield line;
  }
}

/** What it says and what is in it must fit, also where the checksum does: somebody may have made it by hand. */
async function* partsOf(file: FileHandle, start: number, end: number, path: string): AsyncGenerator<Part> {
  const compressed = file.createReadStream({ start, end, autoClose: false });
  const decompressed = createGunzip();
  compressed.once('error', (error) => decompressed.destroy(error)).pipe(decompressed);
  const counted = { tables: 0, rows: 0 };
  let last: z.infer<typeof LastLine> | null = null;
  try {
    for await (const found of batched(linesOf(decompressed))) {
      const part = typeof found === 'string' ? partFrom(found) : { kind: 'rows' as const, lines: found };
      if (part.kind === 'last') last = part;
      else {
        if (part.kind === 'table') counted.tables += 1;
        if (part.kind === 'rows') counted.rows += part.lines.length;
        yield part;
      }
    }
  } catch {
    // Messages of parsers quote what they read.
    throw damaged(path, 'its rows cannot be read');
  }
  if (last?.tables !== counted.tables || last.rows !== counted.rows)
    throw damaged(path, 'it does not hold all of its rows');
}

const partFrom = (line: string): Part | ({ kind: 'last' } & z.infer<typeof LastLine>) => {
  const content: object = JSON.parse(line);
  if ('table' in content) return { kind: 'table', ...TableLine.parse(content) };
  if ('digest' in content) return { kind: 'end', ...EndLine.parse(content) };
  return { kind: 'last', ...LastLine.parse(content) };
};
