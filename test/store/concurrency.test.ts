// engines: sqlite, postgres

import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CreateOfflineRepair, OfflineRepairActionBody } from '../../contract/offline-repair.ts';
import type { Context } from '../../src/api/context.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { openContext } from '../../src/app/context.ts';
import { purgeExpired } from '../../src/app/janitor.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { readConfig } from '../../src/platform/config.ts';
import { offlineRepairs } from '../../src/returns/actions.ts';
import { createShop } from '../../src/shops/actions.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { ENGINE, harness } from '../support/harness.ts';
import { HistoryNotes } from '../support/history/history.ts';
import { type Env, migratedDatabase } from '../support/process.ts';
import { atOnce, pluck } from '../support/responses.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 10, 15, 12);

const contextAt = async (env: Env, nowMs: number): Promise<Context> => {
  const log = pino({ level: 'silent' });
  const ctx = await openContext(readConfig(env), { clock: { now: () => nowMs }, log });
  onTestFinished(() => ctx.close());
  return ctx;
};

const newCaller = async (ctx: Context): Promise<Caller> => {
  const shop = await createShop(ctx, OPERATOR, { name: 'Shop', plan: 'SCALE' });
  const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'Till', webhookUrl: null });
  const actor = { type: 'API_CLIENT', id: client.id, name: client.name } as const;
  return { shop, actor, receiverId: client.receiverId };
};

it('the times of one repair strictly increase, also for moves in one millisecond and by a process whose clock lags', async () => {
  const env = await migratedDatabase();
  const ctx = await contextAt(env, NOON);
  // On SQLite there is one process only; its clock may still be set back.
  const lagging: Context =
    ENGINE === 'postgres'
      ? await contextAt(env, NOON - HOUR_MS)
      : { ...ctx, clock: { now: () => NOON - HOUR_MS } };
  const caller = await newCaller(ctx);
  const { body } = await offlineRepairs.create(ctx, caller, CreateOfflineRepair.parse(repairBody()));
  const tracking = (i: number) =>
    OfflineRepairActionBody.tracking.parse({ trackingNumber: `T-${i}`, carrierName: 'DHL' });
  const moved = await atOnce(24, (i) =>
    offlineRepairs.move(i % 2 ? lagging : ctx, caller, body.id, 'tracking', tracking(i)),
  );
  const entries = await ctx.db.selectFrom('timeline').select('at').orderBy('at').execute();
  expect(entries.map(({ at }) => at)).toEqual(Array.from({ length: 25 }, (_, i) => NOON + i));
  expect(new Set(moved.map((repair) => repair.updatedAt)).size).toBe(24);
  // The repair has the state of its last timeline entry.
  const last = moved.find((repair) => Date.parse(repair.updatedAt) === entries.at(-1)?.at);
  const row = await ctx.db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
  expect(last).toMatchObject({ trackingNumber: row.tracking_number });
  expect(row.updated_at).toBe(NOON + 24);
});

describe('idempotency keys', () => {
  const DAY_MS = 24 * HOUR_MS;
  const insert = async (ctx: Context, keys: Record<string, number>) => {
    for (const [key, createdAt] of Object.entries(keys))
      await sql`insert into idempotency_keys (owner_id, key, body_hash, response, created_at)
        values (${UNKNOWN_ID}, ${key}, 'h', '{}', ${createdAt})`.execute(ctx.db);
  };
  const left = async (ctx: Context) =>
    pluck(await ctx.db.selectFrom('idempotency_keys').select('key').orderBy('key').execute(), 'key');
  /** On SQLite it waits for its turn as soon as it is called. */
  const untilItWaits = (ctx: Context) =>
    ENGINE === 'sqlite' ||
    until('the clean-up waits', async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(ctx.db);
      return rows.length > 0;
    });

  it('are deleted when they are 24 hours old, and not a millisecond earlier', async () => {
    const ctx = await contextAt(await migratedDatabase(), NOON);
    const old = { ancient: NOON - 30 * DAY_MS, 'just-over': NOON - DAY_MS - 1 };
    await insert(ctx, { ...old, 'just-under': NOON - DAY_MS + 1, new: NOON, ahead: NOON + HOUR_MS });
    expect(await purgeExpired('idempotency_keys')(ctx, NOON)).toBe(false);
    expect(await left(ctx)).toEqual(['ahead', 'just-under', 'new']);
    expect(await purgeExpired('idempotency_keys')(ctx, NOON)).toBe(false);
  });

  it('survive if they are used again while they are being deleted', async () => {
    const ctx = await contextAt(await migratedDatabase(), NOON);
    await insert(ctx, { 'used again': NOON - 2 * DAY_MS });
    const { deleting } = await ctx.db.transaction().execute(async (trx) => {
      await sql`update idempotency_keys set created_at = ${NOON}`.execute(trx);
      const started = purgeExpired('idempotency_keys')(ctx, NOON);
      await untilItWaits(ctx);
      return { deleting: started };
    });
    await deleting;
    expect(await left(ctx)).toEqual(['used again']);
  });
});

it('stored totals match the rows after concurrent creations, moves, replays and refusals', async () => {
  const t = await harness();
  const { client: other } = await t.addShop({ allowance: 3 });
  const moves = ['begin-diagnostics', 'begin-repair', 'close', 'close', 'tracking'];
  const bodies: Record<string, object> = { tracking: { trackingNumber: 'T', carrierName: 'C' } };
  await atOnce(25, async (i) => {
    const headers: Record<string, string> = i % 5 === 0 ? { 'idempotency-key': `key-${i % 10}` } : {};
    const { status, body } = await t.post('/offline-repairs', repairBody(), { headers });
    if (status !== 201) return;
    const move = moves[i % moves.length] as string;
    await t.post(`/offline-repairs/${body.id}/${move}`, bodies[move] ?? {});
    await t.post('/trade-returns', tradeBody());
  });
  const refused = await atOnce(5, () => t.post('/offline-repairs', repairBody(), { key: other.apiKey }));
  expect(refused).toHaveStatuses({ 201: 3, 403: 2 });
  for (const response of refused)
    if (response.status === 403) expect(response).toFailWith(403, 'LIMIT_EXCEEDED');

  // One of the rules of every history.
  const { totals, rmas } = await new HistoryNotes().judged(t.ctx.db);
  expect(totals.filter(({ count }) => count > 0).length).toBeGreaterThan(4);
  const list = await t.get('/offline-repairs?status=OFFLINE_CLOSED&limit=1');
  expect(list.body.total).toBe(rmas.filter(({ status }) => status === 'OFFLINE_CLOSED').length);
});
