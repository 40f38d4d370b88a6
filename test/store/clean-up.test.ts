// engines: sqlite, postgres

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { Context } from '../../src/api/context.ts';
import { startJanitor, sweep } from '../../src/app/janitor.ts';
import { newId } from '../../src/lib/ids.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { repeatedly } from '../support/responses.ts';
import { until } from '../support/until.ts';

const it = itWith(harness);

const OLD_ROWS = 10_000;

const numbers = (count: number) =>
  ENGINE === 'sqlite'
    ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`
    : sql`generate_series(1, ${sql.lit(count)}) as n(i)`;

/** In portions that PostgreSQL can insert within its time limit. */
const addOldKeys = async ({ ctx }: Harness, count: number, atOnce: number, bytes: number): Promise<void> => {
  for (let from = 0; from < count; from += atOnce)
    await sql`insert into idempotency_keys (owner_id, key, body_hash, response, created_at)
      select ${sql.lit(UNKNOWN_ID)}, 'key-' || (n.i + ${sql.lit(from)}), 'hash', ${sql.lit('x'.repeat(bytes))}, n.i
      from ${numbers(atOnce)}`.execute(ctx.db);
};

const addOldEvents = async ({ ctx }: Harness, count: number, atOnce: number): Promise<void> => {
  for (let from = 0; from < count; from += atOnce) {
    const place = sql`n.i + ${sql.lit(from)}`;
    const digits = sql`substr('' || (1000000000000 + ${place}), 2)`;
    await sql`insert into events (shop_id, position, id, rma_id, event, at, body)
      select ${sql.lit(UNKNOWN_ID)}, ${place}, ${ENGINE === 'postgres' ? sql`('00000000-0000-7000-8000-' || ${digits})::uuid` : sql`'00000000-0000-7000-8000-' || ${digits}`},
        ${sql.lit(UNKNOWN_ID)}, 'offline_repair.closed', 1, '{}'
      from ${numbers(atOnce)}`.execute(ctx.db);
  }
};
const eventsLeft = ({ ctx }: Harness) => ctx.db.selectFrom('events').select('id').limit(3).execute();

/** A few rows are enough for the assertion. */
const keysLeft = ({ ctx }: Harness) => ctx.db.selectFrom('idempotency_keys').select('key').limit(3).execute();

/** Sweeps, and counts how often other work could run meanwhile. */
const watchedSweep = async (t: Harness): Promise<number> => {
  let turns = 0;
  const endWatch = repeatedly(1, async () => {
    await nextTurn();
    turns += 1;
  });
  await sweep(t.ctx);
  await endWatch();
  return turns;
};

describe('clean-up', () => {
  it('runs within half a minute of a start, and every ten minutes from then on', async ({ t }) => {
    await addOldKeys(t, 10, 10, 10);
    // Timers are recorded from here on: connections to PostgreSQL have timers, too.
    const waits = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => waits.mockRestore());
    onTestFinished(startJanitor(t.ctx));
    const [first, firstMs] = waits.mock.calls[0] ?? [];
    expect(firstMs).toBeLessThanOrEqual(30_000);
    (first as () => void)();
    await until('it waits for the next time', () => waits.mock.calls.some(([, ms]) => ms === 600_000));
    expect(await keysLeft(t)).toEqual([]);
  });

  it('runs in small batches, with requests served in between', async ({ t }) => {
    await addOldKeys(t, OLD_ROWS, 10_000, 10);
    let answered = 0;
    const endReader = repeatedly(1, async () => {
      expect(await t.get('/offline-repairs')).toHaveStatus(200);
      answered += 1;
    });
    const turns = await watchedSweep(t);
    await endReader();
    expect(turns).toBeGreaterThanOrEqual(OLD_ROWS / 100);
    expect(answered).toBeGreaterThan(1);
    expect(await keysLeft(t)).toEqual([]);
  });

  it('is as fast if the query plans were made when the table was empty', async ({ t }) => {
    if (ENGINE === 'postgres') await sql`analyze`.execute(t.ctx.db);
    await sweep(t.ctx);
    await addOldKeys(t, OLD_ROWS, 10_000, 10);
    await addOldEvents(t, OLD_ROWS, 10_000);
    expect(await watchedSweep(t)).toBeGreaterThanOrEqual((2 * OLD_ROWS) / 100);
    expect([await keysLeft(t), await eventsLeft(t)]).toEqual([[], []]);
  });

  it('keeps its batches short even if each row has the maximum size', async ({ t }) => {
    await addOldKeys(t, 300, 50, 250_000);
    expect(await watchedSweep(t)).toBeGreaterThanOrEqual(3);
  });
});

const ROWS = 3_000;

/** All in one store and one status, each with an order of its own. */
const fill = async (t: Harness): Promise<void> => {
  await t.post('/offline-repairs', repairBody());
  const row = await t.ctx.db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
  const copy = (i: number) => ({ ...row, id: newId(i), number: row.number + 1 + i, order_number: `SO-${i}` });
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => copy(from + i));
    await t.ctx.db.insertInto('offline_repairs').values(rows).execute();
  }
};

/** How often the service analysed the table; autovacuum is counted separately. */
const ANALYZED = {
  sqlite: sql<{ count: number }>`
    select count(*) > 0 as count from sqlite_stat1 where idx = 'offline_repairs_order'`,
  postgres: sql<{ count: number }>`
    select analyze_count as count from pg_stat_user_tables where relname = 'offline_repairs'`,
}[ENGINE];
const timesAnalyzed = async ({ db }: Context): Promise<number> => {
  const { rows } = await ANALYZED.execute(db).catch(() => ({ rows: [] }));
  return Number(rows[0]?.count ?? 0);
};

it('the clean-up analyses a table that grew, once', async ({ t }) => {
  // Otherwise the server would analyse it before the service does.
  if (ENGINE === 'postgres')
    await sql`alter table offline_repairs set (autovacuum_enabled = false)`.execute(t.ctx.db);
  await fill(t);
  expect(await timesAnalyzed(t.ctx)).toBe(0);
  // PostgreSQL learns of new rows a moment after their commit.
  await until('the table was analysed', async () => {
    await sweep(t.ctx);
    return (await timesAnalyzed(t.ctx)) > 0;
  });
  // Statistics are not renewed without a reason.
  if (ENGINE === 'sqlite')
    await sql`delete from sqlite_stat1 where idx = 'offline_repairs_order'`.execute(t.ctx.db);
  await sweep(t.ctx);
  expect(await timesAnalyzed(t.ctx)).toBe(ENGINE === 'sqlite' ? 0 : 1);
  expect(t.logs.filter((line) => line.includes('failed'))).toEqual([]);
});

it('every connection uses the new statistics', ONLY_SQLITE, async ({ t }) => {
  await fill(t);
  const explain = sql<{ detail: string }>`explain query plan
      select id from offline_repairs where shop_id = 'a' and order_number = 'b' and store_id = 'c'`;
  const planOn = async (db: Context['db']): Promise<string> =>
    (await explain.execute(db)).rows.map(({ detail }) => detail).join();
  const plans = () => Promise.all([t.ctx.reads, t.ctx.scans].map(planOn));
  expect(await plans()).toEqual(Array(2).fill(expect.stringContaining('offline_repairs_store')));
  await sweep(t.ctx);
  expect(await plans()).toEqual(Array(2).fill(expect.stringContaining('offline_repairs_order')));
});
