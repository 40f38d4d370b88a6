import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../../src/db/types.ts';
import type { Harness } from './harness.ts';

/** Every table of a database, with its rows. */
export const tablesOf = async (db: Db): Promise<[name: string, rows: Record<string, unknown>[]][]> => {
  const tables: [string, Record<string, unknown>[]][] = [];
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    tables.push([name, rows]);
  }
  return tables;
};

/** What any request may write, whatever becomes of it. */
const COUNTED_ANYWAY: Record<string, readonly string[] | 'all'> = {
  rate_limits: 'all',
  api_clients: ['last_used_at'],
};

/** The whole database, table by table and row by row, but for rate limits and the last use of a key. */
export const dump = async ({ ctx: { db } }: Harness): Promise<Record<string, string[]>> => {
  const dumped: Record<string, string[]> = {};
  for (const [name, rows] of await tablesOf(db)) {
    const ignored = COUNTED_ANYWAY[name] ?? [];
    if (ignored === 'all') continue;
    dumped[name] = rows
      .map((row) => JSON.stringify(Object.entries(row).filter(([column]) => !ignored.includes(column))))
      .sort();
  }
  return dumped;
};

export const withoutTrace = async <Result>(t: Harness, work: () => Promise<Result>): Promise<Result> => {
  const before = await dump(t);
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['offline_repairs', 'shop_counters', 'events']));
  const result = await work();
  expect(await dump(t)).toEqual(before);
  return result;
};
