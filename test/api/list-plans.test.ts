// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { AdminOfflineRepairQuery, AdminTradeReturnQuery } from '../../contract/admin-returns.ts';
import { OfflineRepairQuery } from '../../contract/offline-repair.ts';
import { TradeReturnQuery } from '../../contract/trade-return.ts';
import type { Context } from '../../src/api/context.ts';
import { newId } from '../../src/lib/ids.ts';
import { offlineRepairs, tradeReturns } from '../../src/returns/actions.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { KINDS, type Kind, newRma } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { planOf, readsIn, type Watched, watched } from '../support/plans.ts';

const ROWS = 5_000;
const TABLE = { 'offline-repairs': 'offline_repairs', 'trade-returns': 'trade_returns' } as const;

/** Filters that name few rows, and what may stand beside them. */
const LOOK_UPS: Record<Kind, Record<string, string>[]> = {
  'offline-repairs': [
    { rmaNumber: '000123' },
    { rmaNumber: '000123', serialNumber: 'SN-7' },
    { rmaNumber: '000123', status: 'OFFLINE_REPAIR' },
    { serialNumber: 'SN-7' },
    { serialNumber: 'SN-7', status: 'OFFLINE_REPAIR', storeId: 'store-7' },
    { serialNumber: 'SN-7', externalRef: 'E7', orderNumber: 'O7' },
    { externalRef: 'E7', status: 'OFFLINE_REPAIR' },
    { orderNumber: 'O7', status: 'OFFLINE_REPAIR' },
  ],
  'trade-returns': [
    { rmaNumber: '000123' },
    { rmaNumber: '000123', status: 'TRADE_SUBMITTED', companyId: 'company-118' },
    { externalRef: 'E7', status: 'TRADE_SUBMITTED', companyId: 'company-118' },
    { tradeOrderNumber: 'O7', status: 'TRADE_SUBMITTED', companyId: 'company-118' },
  ],
};
const BESIDE: Record<string, string>[] = [
  {},
  { updatedSince: '2020-01-01T00:00:00.000Z' },
  { q: 'ada' },
  { page: '50' },
  { sort: 'updatedAt', order: 'asc' },
  { sort: 'status' },
];

const fill = async (t: Harness, kind: Kind) => {
  await newRma(t, kind, { externalRef: 'E' });
  const table = TABLE[kind] as 'offline_repairs';
  const { id: _, ...row } = await t.ctx.db.selectFrom(table).selectAll().executeTakeFirstOrThrow();
  const status = (n: number) => (n % 2 === 0 ? row.status : 'OFFLINE_REPAIR');
  const own = (n: number): object =>
    kind === 'offline-repairs'
      ? { status: status(n), serial_number: `SN-${n % 2_000}`, order_number: `O${n % 2_000}` }
      : { trade_order_number: `O${n % 2_000}`, company_id: `company-${n % 2_000}` };
  const copy = (n: number) => {
    const common = {
      id: newId(n),
      number: n + 10,
      external_ref: `E${n % 2_000}`,
      customer_email: `${n % 2_000}@example.com`,
    };
    return { ...row, ...common, updated_at: row.updated_at + n, ...own(n) };
  };
  for (let from = 0; from < ROWS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => copy(from + i));
    await t.ctx.db.insertInto(table).values(rows).execute();
  }
};

const list = (ctx: Context, caller: Caller, kind: Kind, query: object) =>
  kind === 'offline-repairs'
    ? offlineRepairs.list(ctx, caller, AdminOfflineRepairQuery.parse(query))
    : tradeReturns.list(ctx, caller, AdminTradeReturnQuery.parse(query));

/**
 * An index whose first two columns, or all of which, have one value each. All repairs here are of one store, so PostgreSQL 18 may also
 * skip to their numbers in the index of stores, which costs it the same.
 */
const STRAIGHT =
  ENGINE === 'sqlite'
    ? /INDEX \w+_(number|search|serial|external_ref|order|company) \(shop_id=\? AND \w+=\?|^SCAN json_each/
    : /using \w+_(number|serial|external_ref|order|company|open) on .*shop_id = .* AND \(\w+ = |using \w+_(status|company) on .*(status|company_id) = .*number = |Index Cond: \(\(shop_id = [^)]*\) AND \(number = /;

/** How a program's list reads its tables, in every statement of it. */
const readsOf = async (t: Harness, kind: Kind, query: object): Promise<string[]> => {
  const caller: Caller = { shop: t.shop, actor: { type: 'API_CLIENT', id: t.client.id, name: 'Till' } };
  const { ctx, statements } = watched(t.ctx);
  await list(ctx, caller, kind, query);
  const plans = await Promise.all(statements.map((each) => planOf(t.ctx[each.on], each)));
  for (const plan of plans) expect(readsIn(plan), plan.join('\n')).not.toEqual([]);
  return plans.flatMap(readsIn);
};

/** A value for every filter that an API client may send; the compiler does not know a new one, the test below does. */
const VALUES: Record<string, string> = {
  rmaNumber: '000123',
  status: 'by kind',
  externalRef: 'E7',
  externalSource: 'POS',
  orderNumber: 'O7',
  storeId: 'store-7',
  serialNumber: 'SN-7',
  tradeOrderNumber: 'O7',
  companyId: 'company-118',
  customerEmail: 'Buying@Northwind.example',
  updatedSince: '2020-01-01T00:00:00.000Z',
  waitingFor: 'any',
};
const QUERIES = { 'offline-repairs': OfflineRepairQuery, 'trade-returns': TradeReturnQuery };

describe.each(KINDS)('every filter of /%s, alone and on a deep page', (kind) => {
  it('uses an index with a limit, or runs apart from all other requests', async () => {
    const t = await harness();
    await fill(t, kind);
    await t.ctx.analyze();
    const caller: Caller = { shop: t.shop, actor: { type: 'API_CLIENT', id: t.client.id, name: 'POS' } };
    const { ctx, statements } = watched(t.ctx);
    const ran = async (query: object): Promise<Watched[]> => {
      statements.length = 0;
      await list(ctx, caller, kind, query);
      return [...statements];
    };
    const filters = Object.keys(QUERIES[kind].shape).filter((name) => name !== 'page' && name !== 'limit');
    expect(Object.keys(VALUES)).toEqual(expect.arrayContaining(filters));
    const status = kind === 'offline-repairs' ? 'OFFLINE_REPAIR' : 'TRADE_SUBMITTED';
    const beside: string[] = [];
    for (const name of filters) {
      const query = { [name]: name === 'status' ? status : VALUES[name] };
      const [first, ...others] = await ran(query);
      if (first?.on === 'scans') beside.push(name);
      else {
        const plan = readsIn(await planOf(t.ctx.lists, first as Watched)).join('\n');
        expect(plan, name).toMatch(/_(number|status|external_ref|order|serial|customer)\b/);
        expect(first?.sql, name).toMatch(/limit/);
        expect(others, name).toEqual([]);
      }
      // Deep pages pass over all rows before them, but not those of a reference, of which few are read at all. The rows of a page
      // are then read by their numbers.
      for (const each of await ran({ ...query, page: '30', limit: '100' }))
        if (name !== 'rmaNumber' && !/number (= any|in \(select)|limit 51$/.test(each.sql))
          expect(each.on, `${name}: ${each.sql}`).toBe('scans');
    }
    expect(beside.toSorted()).toEqual(
      ['companyId', 'externalSource', 'storeId', 'updatedSince', 'waitingFor'].filter((name) =>
        filters.includes(name),
      ),
    );
    expect((await ran({ page: '30', limit: '100' }))[0]?.on).toBe('scans');
    expect((await ran({})).map(({ on }) => on)).toEqual(['shortLists']);
  });
});

describe.each(KINDS)('with many returns at /%s that staff created', (kind) => {
  it('a list of an API client runs apart from all other requests, a reference of few returns does not', async () => {
    const t = await harness();
    await fill(t, kind);
    const table = TABLE[kind];
    const total = { shop_id: t.shop.id, kind: table, origin: 'STAFF' as const, count: ROWS };
    const status = kind === 'offline-repairs' ? 'OFFLINE_REPAIR' : 'TRADE_SUBMITTED';
    await t.ctx.db
      .insertInto('rma_totals')
      .values({ ...total, status })
      .execute();
    await sql`update ${sql.table(table)} set receiver_id = null where number > 20`.execute(t.ctx.db);
    await sql`update ${sql.table(table)} set external_ref = 'COMMON' where number > 4000`.execute(t.ctx.db);
    const order = kind === 'offline-repairs' ? 'orderNumber' : 'tradeOrderNumber';
    const caller: Caller = { shop: t.shop, actor: { type: 'API_CLIENT', id: t.client.id, name: 'POS' } };
    const { ctx, statements } = watched(t.ctx);
    const ran = async (query: object): Promise<string[]> => {
      statements.length = 0;
      await list(ctx, caller, kind, query);
      return [...new Set(statements.map(({ on }) => on))];
    };
    for (const query of [{}, { status }, { externalRef: 'E7', [order]: 'O8' }])
      expect(await ran(query), JSON.stringify(query)).toEqual(['scans']);
    const other = kind === 'offline-repairs' ? 'OFFLINE_DIAGNOSTICS' : 'TRADE_REJECTED';
    for (const query of [
      { externalRef: 'E7' },
      { [order]: 'O7' },
      { status: other },
      { rmaNumber: '000123' },
    ])
      expect(await ran(query), JSON.stringify(query)).toEqual(['shortLists']);
    // More returns have this reference than are read for a page.
    expect(await ran({ externalRef: 'COMMON' })).toEqual(['shortLists', 'scans']);
  });
});

describe.each(KINDS)('with statistics and generic plans, at /%s', (kind) => {
  const filled = async () => {
    const t = await harness();
    await fill(t, kind);
    await t.ctx.analyze();
    return t;
  };

  it('number, serial number and reference lead directly to the rows, whatever the other filters', async () => {
    const t = await filled();
    for (const lookUp of LOOK_UPS[kind])
      for (const beside of BESIDE) {
        const query = { ...lookUp, ...beside };
        for (const read of await readsOf(t, kind, query))
          expect(read, JSON.stringify(query)).toMatch(STRAIGHT);
      }
  });

  it('a poll for recent changes reads only those', async () => {
    const t = await filled();
    const newest = t.ctx.db.selectFrom(TABLE[kind] as 'offline_repairs').orderBy('updated_at', 'desc');
    const { updated_at } = await newest.select('updated_at').offset(150).limit(1).executeTakeFirstOrThrow();
    const updatedSince = new Date(updated_at).toISOString();
    for (const more of [{}, { page: '3' }, { limit: '100' }]) {
      const [count, page] = await readsOf(t, kind, { updatedSince, ...more });
      for (const read of [count, page]) expect(read).toMatch(/_updated\b.*updated_at ?>/);
    }
  });

  it('due and waiting returns are counted and sorted by a covering index', ONLY_SQLITE, async () => {
    const t = await filled();
    const status = kind === 'offline-repairs' ? 'OFFLINE_DIAGNOSTICS' : 'TRADE_SUBMITTED';
    await t.ctx.db.insertInto('target_days').values({ shop_id: t.shop.id, status, days: 1 }).execute();
    const caller: Caller = { shop: t.shop, actor: { type: 'USER', id: t.client.id, name: 'Ana' } };
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
    for (const query of [
      { open: 'true', sort: 'dueAt', order: 'asc' },
      { overdue: 'true' },
      { dueTo: soon },
      { dueFrom: soon, sort: 'dueAt' },
      { waitingFor: 'any' },
      { waitingFor: 'PART', sort: 'dueAt' },
    ]) {
      const { ctx, statements } = watched(t.ctx);
      await list(ctx, caller, kind, query);
      const ofReturns = statements.filter((each) => each.sql.includes(`"${TABLE[kind]}" where`));
      const [plan = []] = await Promise.all(ofReturns.map((each) => planOf(t.ctx.scans, each)));
      expect(readsIn(plan).join(), JSON.stringify(query)).toMatch(/COVERING INDEX \w+_waiting/);
    }
  });
});
