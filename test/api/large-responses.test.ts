// engines: sqlite, postgres

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { listEnvelope } from '../../contract/common.ts';
import { sendPage } from '../../src/http/route.ts';
import { newId } from '../../src/lib/ids.ts';
import { newPerson } from '../support/admin.ts';
import { leftOut, newRepair, newTradeReturn } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, harness } from '../support/harness.ts';
import { copyReturn, itemsOf, openUnread, readToEnd } from '../support/large.ts';
import { pluck } from '../support/responses.ts';
import { until } from '../support/until.ts';

const it = itWith(harness);

/** So many trade returns of so many kilobytes each. */
const manyReturns = async (t: Harness, count: number, kilobytes: number): Promise<string[]> =>
  copyReturn(t.ctx.db, (await newTradeReturn(t, { items: itemsOf(kilobytes) })).id, count);
const openPage = (t: Harness) => openUnread(t.url, t.client.apiKey, '/trade-returns?limit=100');
/** All but one of the large responses that a shop may have. */
const hold99 = (t: Harness) => Array.from({ length: 99 }, () => t.ctx.pageResponses.begin(t.shop.id));
const roomAgain = (t: Harness) => expect.poll(() => t.get('/trade-returns?limit=100')).toHaveStatus(200);
const idsIn = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
const spoil = (t: Harness, table: 'offline_repairs' | 'trade_returns', column: string, id: string) =>
  sql`update ${sql.table(table)} set ${sql.ref(column)} = '[{"sku":"Ada Pereira"' where id = ${id}`.execute(
    t.ctx.db,
  );

describe('a page of many large returns', () => {
  it('is the same as any other page, and is streamed', async ({ t }) => {
    const ids = await manyReturns(t, 12, 60);
    const page = await openPage(t);
    expect(page.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(page.headers['content-length']).toBeUndefined();
    const text = (await readToEnd(page)) as string;
    const items = [];
    for (const id of ids.toReversed()) items.push((await t.get(`/trade-returns/${id}`)).body);
    expect(text).toBe(JSON.stringify(listEnvelope(items, 12, { page: 1, limit: 100 })));
    // Held against the OpenAPI document.
    expect(idsIn((await t.get('/trade-returns?limit=11')).body)).toEqual(ids.toReversed().slice(0, 11));
    expect(await t.send('/trade-returns?limit=100', { method: 'HEAD' })).toHaveStatus(200);
  });

  it('is sent at once if it fits, also with one return that is large for the page', async ({ t }) => {
    for (let i = 0; i < 5; i += 1) await newTradeReturn(t);
    const large = await newTradeReturn(t, { items: itemsOf(100) });
    for (let i = 0; i < 5; i += 1) await newTradeReturn(t);
    const { body, headers } = await t.get('/trade-returns?limit=100');
    expect(headers.get('content-length')).not.toBeNull();
    expect(body.items[5]).toEqual((await t.get(`/trade-returns/${large.id}`)).body);
    expect(body.items).toHaveLength(11);
  });

  it('skips returns that were removed in the meantime, and shows changed ones as they are now', async ({
    t,
  }) => {
    const ids = await manyReturns(t, 60, 215);
    const page = await openPage(t);
    await sql`delete from trade_returns where id = ${ids[1]}`.execute(t.ctx.db);
    await sql`update trade_returns set status = 'TRADE_APPROVED' where id = ${ids[0]}`.execute(t.ctx.db);
    const body = JSON.parse((await readToEnd(page)) as string);
    expect(idsIn(body)).toEqual(ids.filter((_, i) => i !== 1).toReversed());
    expect(body.items.at(-1).status).toBe('TRADE_APPROVED');
    expect(body.total).toBe(60);
  });

  it('is aborted, not ended, if it cannot be read any further', async ({ t }) => {
    await manyReturns(t, 60, 215);
    const page = await openPage(t);
    await sql`alter table trade_returns rename to trade_returns_away`.execute(t.ctx.db);
    expect(await readToEnd(page)).toBeInstanceOf(Error);
    await sql`alter table trade_returns_away rename to trade_returns`.execute(t.ctx.db);
    expect(t.logs.some((line) => /aborted a large response/.test(line))).toBe(true);
    expect(await t.get('/trade-returns')).toHaveStatus(200);
  });

  it(
    'is refused with a 503 if the shop has too many open requests, and other shops are not affected',
    ONLY_SQLITE,
    async ({ t }) => {
      await manyReturns(t, 60, 215);
      const other = await t.addShop();
      await newTradeReturn(t, {}, { key: other.client.apiKey });
      const held = hold99(t);
      const last = await openPage(t);
      const refused = await t.get('/trade-returns?limit=100');
      expect(refused).toFailWith(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await t.get('/offline-repairs')).toHaveStatus(200);
      expect((await t.get('/trade-returns', { key: other.client.apiKey })).body.total).toBe(1);
      // A reader that hangs up makes room for the next.
      last.destroy();
      await roomAgain(t);
      for (const end of held) end();
    },
  );

  it('is cut off if its reader stalls, and makes room for the next', ONLY_SQLITE, async ({ t }) => {
    await manyReturns(t, 60, 215);
    const sockets: Socket[] = [];
    t.app.server.on('connection', (socket) => sockets.push(socket));
    const held = hold99(t);
    const unread = await openPage(t);
    // Not after 30 s, as it is otherwise; and no other connection, which a busy machine may leave idle for as long.
    sockets.at(-1)?.setTimeout(50);
    await roomAgain(t);
    expect(await readToEnd(unread)).toBeInstanceOf(Error);
    for (const end of held) end();
  });

  it('is not read for a request that has missed its deadline', ONLY_SQLITE, async () => {
    const found = Promise.withResolvers<{ body: Readable }>();
    const t = await harness({
      prepare: (app) =>
        void app.get('/late', { config: { deadlineMs: 20 } }, (_request, reply) =>
          sendPage(reply, found.promise),
        ),
    });
    expect(await fetch(`${t.url}/late`)).toHaveStatus(503);
    const body = Readable.from(['never read']);
    found.resolve({ body });
    await until('it is closed', () => body.closed);
  });
});

describe('an unreadable row', ONLY_SQLITE, () => {
  it('is missing in lists, named in the log without its content, and returns a 500 by itself', async ({
    t,
  }) => {
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push((await newRepair(t)).id);
    const [one = '', bad = '', three = ''] = ids;
    await spoil(t, 'offline_repairs', 'faulty_item', bad);
    expect(idsIn((await t.get('/offline-repairs')).body)).toEqual([three, one]);
    expect(leftOut(t)).toMatchObject([{ list: 'offline_repairs', key: bad }]);
    expect(await t.get(`/offline-repairs/${bad}`, { unchecked: true })).toFailWith(500);
    expect(t.logs.join('')).not.toContain('Ada');
  });

  it('is also missing in a page of many large returns', async ({ t }) => {
    const ids = await manyReturns(t, 8, 100);
    const bad = [0, 4, 7].map((i) => ids[i] as string);
    for (const id of bad) await spoil(t, 'trade_returns', 'items', id);
    const { body } = await t.get('/trade-returns');
    expect(idsIn(body)).toEqual(ids.toReversed().filter((id) => !bad.includes(id)));
    expect(pluck(leftOut(t), 'key').sort()).toEqual(bad.toSorted());
    expect(t.logs.join('')).not.toContain('Ada');
  });

  const withBadRow = async (table: 'timeline' | 'audit_log' | 'webhook_deliveries') => {
    const t = await harness({ env: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' } });
    const admin = await newPerson(t);
    const { body: client } = await admin.post('/clients', {
      name: 'ERP',
      webhookUrl: 'http://127.0.0.1:9/',
    });
    const { id } = await newRepair(t, {}, { key: client.apiKey });
    await t.post(`/offline-repairs/${id}/close`);
    const path = {
      timeline: `/offline-repairs/${id}/timeline`,
      audit_log: '/audit-log',
      webhook_deliveries: `/clients/${client.id}/deliveries`,
    }[table];
    const before = (await admin.get(path)).body;
    const column = table === 'webhook_deliveries' ? 'body' : 'data';
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = '{"Ada' where id = ${before.items[0].id}`.execute(
      t.ctx.db,
    );
    return { t, before, after: (await admin.get(path)).body };
  };

  it.each(['timeline', 'audit_log'] as const)('is missing in the %s', async (table) => {
    const { t, before, after } = await withBadRow(table);
    expect(idsIn(after)).toEqual(idsIn(before).slice(1));
    expect(leftOut(t)).toHaveLength(1);
    expect(t.logs.join('')).not.toContain('Ada');
  });

  it('among the deliveries is shown as raw text, so that an Admin sees what became of it', async () => {
    const { t, before, after } = await withBadRow('webhook_deliveries');
    expect(idsIn(after)).toEqual(idsIn(before));
    expect(after.items[0].payload).toBe('{"Ada');
    expect(t.logs.join('')).not.toContain('Ada');
  });
});

it('a long timeline of long notes is streamed, every entry once and in order', async ({ t }) => {
  const { id, createdAt } = await newRepair(t);
  const start = Date.parse(createdAt) + 1;
  const entries = t.ctx.db.selectFrom('timeline').selectAll().where('rma_id', '=', id);
  const entry = await entries.executeTakeFirstOrThrow();
  const rows = Array.from({ length: 520 }, (_, i) => ({
    ...entry,
    at: start + i,
    id: newId(start + i),
    note: i % 3 === 0 ? null : `${i} ${'é'.repeat(i % 2 === 0 ? 10 : 4000)}`,
  }));
  for (let i = 0; i < 520; i += 40) {
    const some = rows.slice(i, i + 40);
    await t.ctx.db.insertInto('timeline').values(some).execute();
  }
  const first = (await t.get(`/offline-repairs/${id}/timeline`)).body;
  expect(first).toMatchObject({ total: 521, page: 1, limit: 500, totalPages: 2 });
  const second = (await t.get(`/offline-repairs/${id}/timeline?page=2`)).body;
  expect(second).toMatchObject({ total: 521, page: 2 });
  const notes = [...first.items, ...second.items].slice(1).map(({ note }) => note);
  expect(notes).toEqual(rows.map(({ note }) => note));
  expect(idsIn({ items: [...first.items, ...second.items].slice(1) })).toEqual(rows.map((row) => row.id));
});
