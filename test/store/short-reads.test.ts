import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { searchReturns } from '../../src/returns/search.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { openEngine } from '../support/database.ts';
import { harness } from '../support/harness.ts';
import { until } from '../support/until.ts';

/** Which process of PostgreSQL answers. */
const answerer = async ({ reads }: Database, from = sql`pg_sleep(0)`): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid from ${from}`.execute(reads);
  return rows[0]?.pid as number;
};

describe('short reads', () => {
  it('do not wait for a slow one', async () => {
    const database = await openEngine();
    await database.db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const slow = answerer(database, sql`pg_advisory_lock(1)`);
      const pid = await answerer(database);
      await sql`select pg_advisory_unlock(1)`.execute(other);
      expect(pid).not.toBe(await slow);
    });
  });

  it('leave none of their connections to a search', async () => {
    const t = await harness();
    const caller: Caller = { shop: t.shop, actor: { type: 'USER', id: UNKNOWN_ID, name: 'Ada' } };
    await t.ctx.db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const busy = Array.from({ length: t.ctx.config.poolSizes.reads }, () =>
        sql`select pg_advisory_lock_shared(1)`.execute(t.ctx.reads),
      );
      expect(await searchReturns(t.ctx, caller, '000001')).toEqual({ items: [] });
      await sql`select pg_advisory_unlock(1)`.execute(other);
      await Promise.allSettled(busy);
    });
  });

  it('get a new connection after theirs broke', async () => {
    const database = await openEngine();
    const pid = await answerer(database);
    await sql`select pg_terminate_backend(${pid})`.execute(database.db);
    const later = await until('it answers again', () => answerer(database).catch(() => null));
    expect(later).not.toBe(pid);
  });
});
