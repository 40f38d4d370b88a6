// engines: sqlite, postgres

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { countForgettable } from '../../src/personal-data/erase.ts';
import { eraseEmployeeStep } from '../../src/personal-data/erasures.ts';
import { entriesOf, eventsOf, findReturns } from '../../src/personal-data/find.ts';
import { newRma } from '../support/api.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { planOf, readsIn, watched } from '../support/plans.ts';

// Finding, erasing and forgetting customers only read their own rows, however many rows there are.

const ROWS = 5_000;

/** Returns of so many customers in each of two shops, every hundredth of them corrected. */
const fill = async (t: Harness): Promise<void> => {
  const { id } = await newRma(t, 'offline-repairs');
  const { db } = t.ctx;
  const row = await db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
  const entry = await db.selectFrom('timeline').selectAll().executeTakeFirstOrThrow();
  const event = await db.selectFrom('events').selectAll().where('rma_id', '=', id).executeTakeFirstOrThrow();
  const shops = [t.shop.id, (await t.addShop()).shop.id];
  for (let first = 0; first < ROWS; first += 250) {
    const copies = shops.flatMap((shop_id) =>
      Array.from({ length: 250 }, (_, i) => {
        const n = first + i + 10;
        const at = row.created_at - n * 1_000;
        return { shop_id, n, at, rma: newId(at) };
      }),
    );
    const returns = copies.map(({ shop_id, n, at, rma }) => ({
      ...row,
      ...{ id: rma, shop_id, number: n, customer_email: `customer-${n}@example.com` },
      ...{ status: 'OFFLINE_CLOSED' as const, created_at: at, updated_at: at, status_since: at },
    }));
    const entries = copies.map(({ n, at, rma }) => {
      const data = '{"customerEmail":{"from":"old@example.com","to":"new@example.com"}}';
      const isCorrected = n % 100 === 0;
      return {
        ...entry,
        rma_id: rma,
        at,
        id: newId(at),
        ...(isCorrected ? { type: 'CORRECTED' as const, data } : {}),
      };
    });
    const events = copies.map(({ shop_id, n, at, rma }) => ({
      ...event,
      ...{ shop_id, position: n, id: newId(at), rma_id: rma, at },
    }));
    await db.insertInto('offline_repairs').values(returns).execute();
    await db.insertInto('timeline').values(entries).execute();
    await db.insertInto('events').values(events).execute();
  }
  await sql`analyze`.execute(db);
};

it("a customer's returns and events, and those due for erasure, are found by indexes", async () => {
  const t = await harness();
  await fill(t);
  const { ctx, statements } = watched(t.ctx);
  const caller = { shop: t.shop, actor: { type: 'SYSTEM', id: null, name: 'Test' } } as const;
  const readsOf = async (work: () => Promise<unknown>): Promise<string> => {
    statements.length = 0;
    await work();
    const plans = await Promise.all(statements.map((each) => planOf(t.ctx.db, each)));
    return plans.flatMap(readsIn).join('\n');
  };

  const [found] = await findReturns(t.ctx, t.shop.id, { email: 'Customer-77@example.com' });
  const byEmail = await readsOf(() => findReturns(ctx, t.shop.id, { email: 'Customer-77@example.com' }));
  expect(byEmail).toMatch(/offline_repairs_customer/);
  expect(byEmail).toMatch(/timeline_corrected/);
  const [entry] = await entriesOf(t.ctx.db, found?.id as string);
  if (!entry) throw new Error('the return has no timeline');
  expect((await eventsOf(t.ctx.db, entry)).length).toBe(1);
  const events = await readsOf(() => eventsOf(ctx.db, entry));
  expect(events).toMatch(/events_id/);
  expect(events).not.toMatch(/SCAN events|Seq Scan on events/);
  const months = { offlineRepairMonths: 12, tradeReturnMonths: null };
  expect(await readsOf(() => countForgettable(ctx, caller, months))).toMatch(/offline_repairs_forgettable/);
});

const definitionOf = async ({ ctx }: Harness, index: string): Promise<string> => {
  const { rows } =
    ENGINE === 'sqlite'
      ? await sql<{ text: string }>`select sql as text from sqlite_master where name = ${index}`.execute(
          ctx.db,
        )
      : await sql<{
          text: string;
        }>`select indexdef as text from pg_indexes where indexname = ${index}`.execute(ctx.db);
  return rows[0]?.text ?? '';
};

it("a removed user's entries are found by indexes, without reading other timelines", async () => {
  const t = await harness();
  await fill(t);
  const id = newId(Date.now());
  const erasure = { subject_id: id, shop_id: t.shop.id, kind: 'users', at: 1, progress: newId(0) } as const;
  await t.ctx.db.insertInto('erasures').values(erasure).execute();
  const { ctx, statements } = watched(t.ctx);
  expect(await eraseEmployeeStep(ctx, id)).toBe(false);
  const ofTimelines = statements.filter((each) => each.sql.includes('update timeline'));
  expect(ofTimelines).toHaveLength(2);
  for (const each of ofTimelines) {
    const reads = readsIn(await planOf(t.ctx.background, each)).join('\n');
    expect(reads).toMatch(/timeline_(person|assignee)/);
    expect(reads).not.toMatch(/SCAN timeline\b|Seq Scan/);
    // What is erased already is not in the index, so a step does not read the entries of the steps before.
    const index = /timeline_(?:person|assignee)/.exec(reads)?.[0] ?? '';
    expect(await definitionOf(t, index)).toMatch(/\[erased\]/);
  }
});
