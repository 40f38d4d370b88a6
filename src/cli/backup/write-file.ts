import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { fileFault } from '../../start-failure.ts';
import { CliFailure } from '../output.ts';
import { checksumLine, firstLine, type Header } from './format.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** Lines are handed on in chunks: one by one they would take longer to pass on than to make. */
async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let waiting: string[] = [];
  let length = 0;
  for await (const line of lines) {
    waiting.push(line, '\n');
    length += line.length;
    if (length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    length = 0;
  }
  yield Buffer.from(waiting.join(''));
}

export const refuseExisting = (path: string, overwrite: boolean | undefined): void => {
  if (!overwrite && existsSync(path))
    throw new CliFailure(`${path} is there already: give another name, or --overwrite`);
};

/** Has its name only once all of it is on disk; until then it is beside it under another. Returns its size. */
export const writeFile = async (
  path: string,
  overwrite: boolean | undefined,
  write: (file: FileHandle) => Promise<number>,
): Promise<number> => {
  const draft = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    const file = await open(draft, 'wx', 0o600);
    return await forgetUnlessDone(draft, async () => {
      const bytes = await write(file).finally(() => file.close());
      refuseExisting(path, overwrite);
      await rename(draft, path);
      await syncFolder(dirname(path));
      return bytes;
    });
  } catch (error) {
    const fault = fileFault(error, 'there is no such folder');
    throw fault ? new CliFailure(`cannot write ${path}: ${fault}`) : error;
  }
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Removes the file where the work fails or is broken off. */
const forgetUnlessDone = async <Result>(file: string, work: () => Promise<Result>): Promise<Result> => {
  const forget = () => rmSync(file, { force: true });
  const end = (signal: NodeJS.Signals) => {
    forget();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work();
  } catch (error) {
    forget();
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
};

/** So that the name is on disk, too. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  // Some file systems cannot; then there is nothing to be done about it.
  await folder.sync().catch(() => {});
  await folder.close();
};

export const writeBackup = async (
  file: FileHandle,
  header: Header,
  lines: AsyncIterable<string>,
): Promise<number> => {
  const sha256 = createHash('sha256');
  let size = 0;
  const add = async (bytes: Buffer) => {
    size += bytes.length;
    await file.writeFile(bytes);
  };
  const addSummed = (bytes: Buffer) => {
    sha256.update(bytes);
    return add(bytes);
  };
  await addSummed(Buffer.from(`${firstLine}${JSON.stringify(header)}\n`));
  await pipeline(chunksOf(lines), createGzip(), async (compressed) => {
    for await (const chunk of compressed) await addSummed(chunk);
  });
  await add(Buffer.from(checksumLine(sha256.digest('hex'))));
  await file.sync();
  return size;
};
