import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { RowsDigest } from '../../src/cli/backup-file.ts';
import { secretBox } from '../../src/service/secrets.ts';
import { ENGINE } from './harness.ts';
import { type Env, emptyDatabase, SECRET_KEY, temporaryFolder } from './process.ts';
import { openWithoutLimits } from './without-limits.ts';

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
/** Entries of the audit log that backups and restores write themselves. */
const OWN_TRACE = /"(BACKED_UP|RESTORED)"/;

/** Everything that a backup must hold, table by table, row by row, as one engine or the other gives it. */
export const everyRow = async (env: Env): Promise<Record<string, string[]>> => {
  const database = openWithoutLimits(env);
  try {
    const found: Record<string, string[]> = {};
    const tables = await database.db.introspection.getTables();
    for (const { name } of tables.filter((table) => !LEFT_OUT.includes(table.name))) {
      const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
        database.db,
      );
      found[name] = rows
        .map((row) => JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))
        .filter((row) => name !== 'audit_log' || !OWN_TRACE.test(row))
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
