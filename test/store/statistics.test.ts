import { sql } from 'kysely';
import { expect } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import type { Context } from '../../src/service/context.ts';
import { sweep } from '../../src/service/janitor.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { until } from '../support/until.ts';

const it = itWith(harness);

const ROWS = 3_000;

/** All in one store and one status, each with an order of its own. */
const fill = async (t: Harness): Promise<void> => {
  await t.post('/offline-repairs', repairBody());
  const row = await t.ctx.db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    ...row,
    id: newId(i),
    number: row.number + 1 + i,
    order_number: `SO-${i}`,
  }));
  for (let from = 0; from < ROWS; from += 500)
    await t.ctx.db
      .insertInto('offline_repairs')
      .values(rows.slice(from, from + 500))
      .execute();
};

/** How often the table was analysed by the service: autovacuum counts for itself. */
const timesAnalyzed = async ({ db }: Context): Promise<number> => {
  const counting =
    ENGINE === 'sqlite'
      ? sql<{
          count: number;
        }>`select count(*) > 0 as count from sqlite_stat1 where idx = 'offline_repairs_order'`
      : sql<{
          count: number;
        }>`select analyze_count as count from pg_stat_user_tables where relname = 'offline_repairs'`;
  const { rows } = await counting.execute(db).catch(() => ({ rows: [] }));
  return Number(rows[0]?.count ?? 0);
};

it('the clean-up gives the planner statistics of a table that grew, once', async ({ t }) => {
  await fill(t);
  expect(await timesAnalyzed(t.ctx)).toBe(0);
  // PostgreSQL learns of new rows a moment after their commit.
  await until('the table was analysed', async () => {
    await sweep(t.ctx);
    return (await timesAnalyzed(t.ctx)) > 0;
  });
  // What is not asked for is not made again.
  if (ENGINE === 'sqlite')
    await sql`delete from sqlite_stat1 where idx = 'offline_repairs_order'`.execute(t.ctx.db);
  await sweep(t.ctx);
  expect(await timesAnalyzed(t.ctx)).toBe(ENGINE === 'sqlite' ? 0 : 1);
  expect(t.logs.filter((line) => line.includes('failed'))).toEqual([]);
});

if (ENGINE === 'sqlite')
  it('every connection plans by the new statistics', async ({ t }) => {
    await fill(t);
    const planOn = async (db: Context['db']): Promise<string> => {
      const { rows } = await sql<{ detail: string }>`explain query plan
        select id from offline_repairs where shop_id = 'a' and order_number = 'b' and store_id = 'c'`.execute(
        db,
      );
      return rows.map(({ detail }) => detail).join();
    };
    const plans = () => Promise.all([t.ctx.reads, t.ctx.scans].map(planOn));
    expect(await plans()).toEqual(Array(2).fill(expect.stringContaining('offline_repairs_store')));
    await sweep(t.ctx);
    expect(await plans()).toEqual(Array(2).fill(expect.stringContaining('offline_repairs_order')));
  });
