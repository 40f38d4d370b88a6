// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { revokeClient } from '../../src/api-clients/actions.ts';
import { purgeExpired } from '../../src/app/janitor.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { leftOut, newStaffRma, newTradeReturn } from '../support/api.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, sharedHarness } from '../support/harness.ts';
import { sendingTo } from '../support/sending-to.ts';
import { scaled, until } from '../support/until.ts';

const harness = sharedHarness();
const it = itWith(harness);

const DAY_MS = 24 * 60 * 60 * 1000;

const page = async (t: Harness, query = '', options = {}) => {
  const response = await t.get(`/events${query}`, options);
  expect(response).toHaveStatus(200);
  return response.body as {
    items: { id: string; event: string; data: { id: string } }[];
    cursor: string;
    hasMore: boolean;
  };
};
const create = async (t: Harness, more = {}): Promise<string> =>
  (await t.post('/offline-repairs', repairBody(more))).body.id;
const idsIn = ({ items }: { items: { data: { id: string } }[] }) => items.map(({ data }) => data.id);
const errorOf = async (t: Harness, query: string, status: number, code?: string) =>
  expect(await t.get(`/events${query}`)).toFailWith(status, code);

describe('the event feed', () => {
  it('contains each event as the webhook sent it, under the id of its delivery', async () => {
    const { t, receiver, client } = await sendingTo();
    const repair = await t.create(client);
    await t.post(`/offline-repairs/${repair.id}/close`, undefined, { key: client.apiKey });
    await receiver.got(2);
    const { items, hasMore } = await page(t, '', { key: client.apiKey });
    const told = receiver.received.map(({ headers, body }) => ({ id: headers['x-webhook-id'], ...body }));
    const inOrder = told.sort((one, other) => one.timestamp.localeCompare(other.timestamp));
    expect(items).toEqual(inOrder);
    expect(hasMore).toBe(false);
  });

  it('contains the events of all clients, also undeliverable ones, but none of RMAs made by staff', async ({
    t,
    erp,
  }) => {
    const first = await create(t);
    const { body } = await t.post('/trade-returns', tradeBody(), { key: erp.apiKey });
    await newStaffRma(t, 'offline-repairs');
    const { items } = await page(t);
    expect(items.map(({ event, data }) => [event, data.id])).toEqual([
      ['offline_repair.created', first],
      ['trade_return.created', body.id],
    ]);
    expect(await page(t, '', { key: erp.apiKey })).toEqual(await page(t));
  });

  it('is read in pages, each event once', async ({ t }) => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(await create(t));
    const first = await page(t, '?limit=2');
    expect(first).toMatchObject({ hasMore: true });
    const second = await page(t, `?limit=2&after=${first.cursor}`);
    const third = await page(t, `?limit=2&after=${second.cursor}`);
    expect(third.hasMore).toBe(false);
    expect([first, second, third].flatMap(idsIn)).toEqual(made);
    const { cursor } = third;
    expect(await page(t, `?after=${cursor}`)).toEqual({ items: [], cursor, hasMore: false });
  });

  it('returns fewer events if they are large, and says that there are more', async ({ t }) => {
    const item = { sku: 'S'.repeat(100), productName: 'P'.repeat(250), quantity: 1, price: 1 };
    for (let i = 0; i < 5; i++) await newTradeReturn(t, { items: Array(250).fill(item) });
    const pages = [await page(t, '?limit=100')];
    for (let last = pages[0]; last?.hasMore; last = pages.at(-1))
      pages.push(await page(t, `?limit=100&after=${last.cursor}`));
    const counts = pages.map(({ items }) => items.length);
    expect(Math.max(...counts)).toBeLessThan(5);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(pages.flatMap(idsIn)).toHaveLength(5);
  });

  it('returns only the newest cursor for after=latest, and continues from there', async ({ t }) => {
    await create(t);
    const { items, cursor } = await page(t, '?after=latest&wait=5');
    expect(items).toEqual([]);
    const next = await create(t);
    expect(idsIn(await page(t, `?after=${cursor}`))).toEqual([next]);
  });

  it('refuses unknown cursors', async ({ t }) => {
    await create(t);
    const { cursor } = await page(t);
    const other = await t.addShop();
    expect(await t.get(`/events?after=${cursor}`, { key: other.client.apiKey })).toFailWith(400);
    const wrong = ['', 'x', `${cursor}A`, cursor.slice(0, -1), 'MS5hYmNkZWZnaA', '%00', 'a'.repeat(101)];
    for (const after of wrong) await errorOf(t, `?after=${after}`, 400);
    for (const query of ['?limit=0', '?limit=101', '?wait=26', '?wait=x', '?before=1'])
      await errorOf(t, query, 400);
    // Of a later time than a backup that was restored.
    await sql`update shop_counters set last_position = 0`.execute(t.ctx.db);
    await errorOf(t, `?after=${cursor}`, 400);
  });

  it('deletes events after 30 days, and refuses cursors before them', async ({ t }) => {
    const { cursor: beginning } = await page(t);
    await create(t);
    const { cursor } = await page(t);
    t.clock.advance(31 * DAY_MS);
    await errorOf(t, `?after=${beginning}`, 410, 'CURSOR_EXPIRED');
    expect((await page(t)).items).toEqual([]);
    await purgeExpired('events')(t.ctx, t.ctx.clock.now());
    expect(await t.ctx.db.selectFrom('events').select('id').execute()).toEqual([]);
    await errorOf(t, `?after=${beginning}`, 410, 'CURSOR_EXPIRED');
    // A program that has read everything has missed nothing.
    expect((await page(t, `?after=${cursor}`)).items).toEqual([]);
    const next = await create(t);
    expect(idsIn(await page(t, `?after=${cursor}`))).toEqual([next]);
    expect(idsIn(await page(t))).toEqual([next]);
  });

  it('starts with the oldest event that is kept, however many have expired', async ({ t }) => {
    const kept: string[] = [];
    for (let day = 0; day < 7; day++) {
      const made = await create(t);
      if (day >= 3) kept.push(made);
      t.clock.advance(DAY_MS);
    }
    t.clock.advance(25.5 * DAY_MS);
    expect(idsIn(await page(t))).toEqual(kept);
    t.clock.advance(4 * DAY_MS);
    expect((await page(t)).items).toEqual([]);
    const next = await create(t);
    expect(idsIn(await page(t))).toEqual([next]);
  });

  it('has cursors that stay valid in a copy of the database', async () => {
    const t = await harness({ own: true });
    for (let i = 0; i < 3; i++) await create(t);
    const { cursor, items } = await page(t, '?limit=1');
    const restored = await harness();
    for (const table of ['shops', 'shop_counters', 'api_clients', 'events'] as const)
      for (const row of await t.ctx.db.selectFrom(table).selectAll().execute())
        await restored.ctx.db
          .insertInto(table)
          .values(row as never)
          .execute();
    const rest = await page(restored, `?after=${cursor}`, { key: t.client.apiKey });
    expect(rest).toEqual(await page(t, `?after=${cursor}`));
    expect([...items, ...rest.items]).toEqual((await page(t)).items);
  });

  const CLOSED = '{"event":"offline_repair.closed"';
  const DAMAGED = [
    ...['{"damaged', '', '{}', '[]', '["Ada"]', '"Ada"', 'null', '1', 'true', `${CLOSED}}`],
    ...['null', '["Ada"]'].map((data) => `${CLOSED},"timestamp":"2026-11-01T12:00:00.000Z","data":${data}}`),
    ` ${CLOSED},"timestamp":"2026-11-01T12:00:00.000Z","data":{"id":"Ada"}}`,
  ];

  it.for(DAMAGED)('skips an event whose body is %s', async (body, { t }) => {
    for (let i = 0; i < 3; i++) await create(t);
    const whole = await page(t);
    const [first, second, third] = whole.items;
    const spoil = (position: number) =>
      sql`update events set body = ${body} where shop_id = ${t.shop.id} and position = ${position}`.execute(
        t.ctx.db,
      );
    await spoil(2);
    expect(await page(t)).toEqual({ ...whole, items: [first, third] });
    expect(leftOut(t)).toMatchObject([{ list: 'events', key: second?.id }]);
    expect(t.logs.join('')).not.toContain('Ada');
    for (const position of [1, 3]) await spoil(position);
    expect(await page(t)).toEqual({ ...whole, items: [] });
  });
});

/** So many requests have arrived, and each of them waits. */
const waitersAre = (t: Harness, count: number): Promise<void> =>
  expect.poll(() => [t.ctx.feedWatches.size, t.ctx.metrics.openRequests]).toEqual([count, 0]);

describe('waiting for the next event', () => {
  it('ends as soon as this shop has one', async ({ t }) => {
    const other = await t.addShop();
    const { cursor } = await page(t, '?after=latest');
    const waiting = page(t, `?after=${cursor}&wait=25`);
    await t.post('/offline-repairs', repairBody(), { key: other.client.apiKey });
    const startedAt = performance.now();
    const made = await create(t);
    expect(idsIn(await waiting)).toEqual([made]);
    // The feed is also read again every 5 s; it was woken.
    expect(performance.now() - startedAt).toBeLessThan(scaled(4_000));
  });

  it('holds no connection to the database', async () => {
    const t = await harness({ env: ENGINE === 'postgres' ? { DATABASE_POOLS: 'lists=1,reads=1' } : {} });
    const polls = Array.from({ length: 20 }, () => page(t, '?wait=25'));
    await waitersAre(t, polls.length);
    expect(await t.get('/offline-repairs?page=50')).toHaveStatus(200);
    const made = await create(t);
    for (const poll of await Promise.all(polls)) expect(idsIn(poll)).toEqual([made]);
  });

  const statementsOf = async (t: Harness): Promise<number> => {
    const name = 'handback_database_query_duration_seconds';
    const text = await t.ctx.metrics.registry.getSingleMetricAsString(name);
    return Number(new RegExp(`^${name}_count (\\d+)`, 'm').exec(text)?.[1]);
  };
  const WAITERS = 40;
  const wait = async (t: Harness) => {
    const { cursor } = await page(t, '?after=latest');
    const polls = Array.from({ length: WAITERS }, () => page(t, `?after=${cursor}&wait=25`));
    await waitersAre(t, WAITERS);
    return polls;
  };

  it('polls the feed once for all that wait, and ends when the service stops', async () => {
    const t = await harness({ own: true });
    const polls = await wait(t);
    const before = await statementsOf(t);
    await until('it was looked at', async () => (await statementsOf(t)) > before);
    // At the end the keys are looked up once more, many in a statement.
    await t.ctx.feedWatches.stop();
    for (const { items } of await Promise.all(polls)) expect(items).toEqual([]);
    expect((await statementsOf(t)) - before).toBeLessThan(WAITERS / 2);
    expect((await page(t, '?wait=25')).items).toEqual([]);
  });

  it('ends for all at the same cursor with one read', async () => {
    const t = await harness({ own: true });
    const polls = await wait(t);
    const before = await statementsOf(t);
    const made = await create(t);
    for (const poll of await Promise.all(polls)) expect(idsIn(poll)).toEqual([made]);
    expect((await statementsOf(t)) - before).toBeLessThan(WAITERS / 2);
  });

  it('returns nothing when the time is up', async ({ t }) => {
    const startedAt = performance.now();
    const { items } = await page(t, '?wait=1');
    expect(items).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThan(950);
  });

  it('returns nothing to a key that was revoked in the meantime', async ({ t, erp }) => {
    const waiting = t.get('/events?wait=25', { key: erp.apiKey });
    await waitersAre(t, 1);
    await revokeClient(t.ctx, OPERATOR, erp);
    await create(t);
    expect(await waiting).toFailWith(401);
  });

  it('returns nothing to a shop that lost its plan in the meantime', async ({ t }) => {
    const waiting = t.get('/events?wait=25');
    await waitersAre(t, 1);
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER' });
    t.ctx.wake('events', t.shop.id);
    expect(await waiting).toFailWith(403, 'PLAN_REQUIRED');
  });
});
