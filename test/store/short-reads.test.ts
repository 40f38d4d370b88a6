import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openEngine } from '../support/database.ts';
import { ENGINE } from '../support/harness.ts';
import { until } from '../support/until.ts';

/** Which process of PostgreSQL answers, after so many seconds. */
const answerer = async ({ reads }: Database, seconds = 0): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`
    select pg_backend_pid() as pid from pg_sleep(${seconds})`.execute(reads);
  return rows[0]?.pid as number;
};

describe.runIf(ENGINE === 'postgres')('short reads', () => {
  it('do not wait for a slow one', async () => {
    const database = await openEngine();
    const slow = answerer(database, 1).then((pid) => ({ pid, at: performance.now() }));
    const pid = await answerer(database);
    const at = performance.now();
    expect(pid).not.toBe((await slow).pid);
    expect(at).toBeLessThan((await slow).at);
  });

  it('get a new connection after theirs broke', async () => {
    const database = await openEngine();
    const pid = await answerer(database);
    await sql`select pg_terminate_backend(${pid})`.execute(database.db);
    const later = await until('it answers again', () => answerer(database).catch(() => null));
    expect(later).not.toBe(pid);
  });
});
