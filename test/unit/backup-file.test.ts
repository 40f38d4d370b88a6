import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  BackupFile,
  backupLines,
  decodeRow,
  RowsDigest,
  writeAtomically,
  writeBackup,
} from '../../src/backup/backup-file.ts';
import type { Value } from '../../src/db/transfer.ts';
import { secretBox } from '../../src/platform/secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'handback-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADER = {
  service: '1.0.0',
  engine: 'sqlite' as const,
  madeAt: '2026-11-01T00:00:00.000Z',
  migrations: ['0001-schema'],
  keyChecks: [],
};

const box = secretBox(['a key for backups that is long enough']);

const write = async (name: string, rows: Value[][]): Promise<string> => {
  const path = join(folder, name);
  const lines = backupLines(HEADER, new Map([['shops', ['id']]]), async function* () {
    yield* rows;
  });
  await writeAtomically(path, true, (file) => writeBackup(file, lines, box));
  return path;
};

const read = async (path: string): Promise<Value[][]> => {
  const backup = await BackupFile.open(path);
  const rows: Value[][] = [];
  try {
    await backup.check(() => box);
    for await (const { lines } of backup.batches()) rows.push(...lines.map(decodeRow));
  } finally {
    await backup.close();
  }
  return rows;
};

const value = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('\n', '\r', '\u2028', '"', '\\', '[', '{') }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  // SQLite itself does not keep the sign of zero.
  fc.double({ noNaN: true }).map((real) => real + 0),
);

describe('a backup file', () => {
  it('returns every value unchanged', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.array(value, { minLength: 1 }), { maxLength: 20 }), async (rows) => {
        expect(await read(await write('values', rows))).toEqual(rows);
      }),
    ));

  it('separates rows of any size', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i): Value[] => [BigInt(i), 'é'.repeat((i * 37) % 5_000)]);
    expect(await read(await write('large', rows))).toEqual(rows);
  });

  it('is refused with any flipped bit, truncated anywhere, and with anything appended', async () => {
    const whole = readFileSync(await write('whole', [['a'], ['b'], [1n]]));
    const path = join(folder, 'damaged');
    const refused = async (bytes: Uint8Array, what: string) => {
      writeFileSync(path, bytes);
      await expect(read(path), what).rejects.toThrow(/damaged|not a backup|newer release|no signature/);
    };
    for (let bit = 0; bit < whole.length * 8; bit += 7) {
      const turned = Buffer.from(whole);
      turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7));
      await refused(turned, `bit ${bit}`);
    }
    for (let length = 0; length < whole.length; length += 5)
      await refused(whole.subarray(0, length), `${length} bytes`);
    for (const other of ['han', gzipSync('{}\n'), gzipSync('{"handback":"backup","format":1}\n')])
      await refused(Buffer.from(other), 'another file');
    for (const more of ['\n', 'x', whole.toString('latin1')])
      await refused(Buffer.concat([whole, Buffer.from(more, 'latin1')]), 'more behind it');
  });
});

const digestOf = (lines: string[]) => {
  const digest = new RowsDigest();
  for (const line of lines) digest.add(line);
  return digest.value;
};

it('the digest of rows is independent of their order, and different for other rows', () => {
  const digest = digestOf(['["a"]', '["b"]', '["b"]']);
  expect(digestOf(['["b"]', '["a"]', '["b"]'])).toEqual(digest);
  for (const other of [['["a"]', '["b"]'], ['["a"]', '["a"]', '["b"]'], ['["a"]', '["b"]', '["c"]'], []])
    expect(digestOf(other)).not.toEqual(digest);
});
