import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
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

const CHECKSUM_BYTES = 73;

interface Content {
  /** Its two lines for people. */
  head: string;
  lines: string[];
}

export const contentOf = (file: string): Content => {
  const bytes = readFileSync(file);
  const start = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
  const rows = gunzipSync(bytes.subarray(start, bytes.length - CHECKSUM_BYTES));
  return {
    head: bytes.subarray(0, start).toString('utf8'),
    lines: rows.toString('utf8').trimEnd().split('\n'),
  };
};

/** The same backup but for what was changed by hand, with the checksum that it then has. */
export const altered = (
  file: string,
  copy: string,
  change: (content: Content) => Partial<Content>,
): string => {
  const content = contentOf(file);
  const { head, lines } = { ...content, ...change(content) };
  const body = Buffer.concat([Buffer.from(head), gzipSync(`${lines.join('\n')}\n`)]);
  const sha256 = createHash('sha256').update(body).digest('hex');
  writeFileSync(copy, Buffer.concat([body, Buffer.from(`\nsha256 ${sha256}\n`)]));
  return copy;
};
