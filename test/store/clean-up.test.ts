import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sweep } from '../../src/janitor.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';

const OLD_ROWS = ENGINE === 'sqlite' ? 50_000 : 20_000;

const numbers = (count: number) =>
  ENGINE === 'sqlite'
    ? sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`
    : sql`generate_series(1, ${sql.lit(count)}) as n(i)`;

/** In portions that PostgreSQL takes within its time limit. */
const addOldKeys = async ({ ctx }: Harness, count: number, atOnce: number, bytes: number): Promise<void> => {
  for (let from = 0; from < count; from += atOnce)
    await sql`insert into idempotency_keys (client_id, key, body_hash, answer, created_at)
      select ${sql.lit(UNKNOWN_ID)}, 'key-' || (n.i + ${sql.lit(from)}), 'hash', ${sql.lit('x'.repeat(bytes))}, n.i
      from ${numbers(atOnce)}`.execute(ctx.db);
};

/** A few are enough to see. */
const keysLeft = ({ ctx }: Harness) => ctx.db.selectFrom('idempotency_keys').select('key').limit(3).execute();

/** Sweeps, and tells how often other work could run meanwhile, and for how long it could not at the longest. */
const watchedSweep = async (t: Harness) => {
  const startedAt = performance.now();
  let longestMs = 0;
  let turns = 0;
  let swept = false;
  const watched = (async () => {
    for (let last = performance.now(); !swept; last = performance.now()) {
      await nextTurn();
      turns += 1;
      longestMs = Math.max(longestMs, performance.now() - last);
    }
  })();
  await sweep(t.ctx);
  swept = true;
  await watched;
  return { turns, longestMs, totalMs: performance.now() - startedAt };
};

describe('clearing away', () => {
  it('goes in small steps, and answers requests in between', async () => {
    const t = await harness();
    await addOldKeys(t, OLD_ROWS, 10_000, 10);
    let answered = 0;
    let swept = false;
    const reader = (async () => {
      while (!swept) {
        expect((await t.get('/offline-repairs')).status).toBe(200);
        answered += 1;
      }
    })();
    const { turns, longestMs, totalMs } = await watchedSweep(t);
    swept = true;
    await reader;
    expect(turns).toBeGreaterThanOrEqual(OLD_ROWS / 100);
    // Not in milliseconds: another process may take the core for a while. In one go it was all of the time.
    expect(longestMs / totalMs).toBeLessThan(0.4);
    expect(answered).toBeGreaterThan(5);
    expect(await keysLeft(t)).toEqual([]);
  });

  it('is just as quick by plans that were made while there was nothing to clear away', async () => {
    const t = await harness();
    if (ENGINE === 'postgres') await sql`analyze`.execute(t.ctx.db);
    await sweep(t.ctx);
    await addOldKeys(t, OLD_ROWS, 10_000, 10);
    await sweep(t.ctx);
    expect(await keysLeft(t)).toEqual([]);
  });

  it('takes steps that are just as small where each row is as large as can be', async () => {
    const t = await harness();
    await addOldKeys(t, 300, 50, 250_000);
    expect((await watchedSweep(t)).turns).toBeGreaterThanOrEqual(3);
  });
});
