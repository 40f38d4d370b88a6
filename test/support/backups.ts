import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, expect } from 'vitest';
import { RowsDigest } from '../../src/backup/backup-file.ts';
import { secretBox } from '../../src/platform/secrets.ts';
import { cliHere, runHere } from './commands-here.ts';
import { tablesOf } from './dump.ts';
import { newFolder } from './folders.ts';
import { ENGINE, freshDatabase } from './harness.ts';
import {
  type Env,
  emptyDatabase,
  openWithoutLimits,
  printed,
  SECRET_KEY,
  temporaryFolder,
} from './process.ts';
import { addPerson, makeShop } from './shops.ts';

export type EngineName = 'sqlite' | 'postgres';

/** From which engine into which; the tests on SQLite have no PostgreSQL. */
export const DIRECTIONS: [from: EngineName, to: EngineName][] =
  ENGINE === 'sqlite'
    ? [['sqlite', 'sqlite']]
    : [
        ['sqlite', 'postgres'],
        ['postgres', 'sqlite'],
        ['postgres', 'postgres'],
      ];

/** A database on either engine that has not been set up, with the one key of all these tests. */
export const emptyOn = async (engine: EngineName): Promise<Env> => ({
  ...(engine === ENGINE ? await emptyDatabase() : { DATA_DIR: join(temporaryFolder(), 'data') }),
  SECRET_KEY,
});

/** Not in a backup, or the migrator's own. */
const LEFT_OUT = ['sessions', 'access_links', 'sign_in_failures', 'webhook_leases', 'rate_limits'];
/** What backups and restores write themselves. */
const OWN_TRACE = /"(BACKED_UP|RESTORED|restored|restored-without-erasures)"/;

/** Everything that a backup must hold, table by table, row by row, as one engine or the other gives it. */
export const everyRow = async (env: Env): Promise<Record<string, string[]>> => {
  const database = openWithoutLimits(env);
  try {
    const found: Record<string, string[]> = {};
    for (const [name, rows] of await tablesOf(database.db)) {
      if (LEFT_OUT.includes(name)) continue;
      found[name] = rows
        .map((row) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
        .filter((row) => !['audit_log', 'installation'].includes(name) || !OWN_TRACE.test(row))
        .sort();
    }
    return found;
  } finally {
    await database.close();
  }
};

/** Whether there are no tables, or no rows of any shop. */
export const isUntouched = async (env: Env): Promise<boolean> => {
  const rows = await everyRow(env);
  return Object.entries(rows).every(([table, of]) => table === 'installation' || of.length === 0);
};

/** The lines of a backup, without its signature. */
export const linesOf = (file: string): string[] =>
  gunzipSync(readFileSync(file))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{"hmac"'));

/** The same backup but for what was changed: with the signature of this key, or with none. */
export const altered = (
  file: string,
  copy: string,
  change: (lines: string[]) => string[],
  key: string | null = null,
): string => {
  const bytes = gzipSync(`${change(linesOf(file)).join('\n')}\n`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const [hmac] = key === null ? [] : secretBox([key]).signatures('backup', sha256);
  const signature = gzipSync(`{"hmac":"${hmac}"}\n`, { level: 0 });
  signature[9] = 255;
  writeFileSync(copy, hmac ? Buffer.concat([bytes, signature]) : bytes);
  return copy;
};

/** Changes rows of one table, and the count and digest in the trailer with them: what a forger does who knows the format. */
export const forged =
  (table: string, change: (row: string) => string) =>
  (lines: string[]): string[] => {
    const start = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`)) + 1;
    const length = lines.slice(start).findIndex((line) => line.startsWith('{'));
    const rows = lines.slice(start, start + length).map(change);
    const digest = new RowsDigest();
    for (const row of rows) digest.add(row);
    const trailer = JSON.parse(lines.at(-1) as string);
    trailer.tables[table] = digest.value;
    return [...lines.slice(0, start), ...rows, ...lines.slice(start + length, -1), JSON.stringify(trailer)];
  };

export const backupFile = (): string => join(temporaryFolder(), 'handback.backup');

export const restore = (file: string, env: Env) => printed(runHere, ['restore', file], env);

/** Runs a command that fails; gives back its one line. */
export const failing = async (args: string[], env: Env, runs = runHere): Promise<string> => {
  const { status, stdout, stderr } = await runs([...args, '--json'], env);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  return stderr;
};

const shareOne = async () => {
  const { env: database, drop } = await freshDatabase();
  const env = { ...database, SECRET_KEY };
  const { shopId, key, webhookSecret } = await makeShop(env);
  const { password } = await addPerson(env, shopId);
  const folder = newFolder();
  const file = join(folder, 'handback.backup');
  await cliHere(['backup', file], env);
  const remove = async () => {
    rmSync(folder, { recursive: true });
    await drop();
  };
  return { env, file, key, secrets: [key, webhookSecret, password], remove };
};

/** One database for all tests of a file that leave it as it is; each gets a copy of its backup. */
export const sharedBackup = () => {
  let shared: Awaited<ReturnType<typeof shareOne>> | null = null;
  afterAll(() => shared?.remove());
  return async () => {
    shared ??= await shareOne();
    const file = backupFile();
    copyFileSync(shared.file, file);
    return { ...shared, file };
  };
};
