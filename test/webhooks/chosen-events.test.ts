// engines: sqlite, postgres

import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { ALL_TYPES } from '../../contract/event-feed.ts';
import { SPECIFIED_EVENTS, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient, createClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { bodyOf } from '../../src/events/event.ts';
import { newId } from '../../src/lib/ids.ts';
import { deliveryOf } from '../../src/webhooks/outbox.ts';
import { newRepair, newTradeReturn, rulesOf, UNKNOWN_ID } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { deliveriesOf } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { moveThrough } from '../support/trade-moves.ts';

const harness = sharedHarness();
const it = itWith(harness);

const URL = 'https://1.1.1.1/hook';
const add = (t: Harness, events: (typeof SPECIFIED_EVENTS)[number][] | null = null) => {
  t.clock.advance(1);
  return createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: URL, events });
};
const toldTo = async (t: Harness) =>
  (await deliveriesOf(t)).map(({ receiver_id, event }) => [receiver_id, event]);

/** Of a later release: not one that a client is sent, or a reader meets, without asking. */
const LATER = 'offline_repair.painted' as WebhookEventName;

describe('the chosen events of a client', () => {
  it('are sent to it, and others are not sent to anyone', async ({ t }) => {
    const other = await add(t);
    const client = await add(t, ['offline_repair.closed', 'trade_return.resolved']);
    const key = client.apiKey;
    const { id } = await newRepair(t, {}, { key });
    await t.post(`/offline-repairs/${id}/close`, undefined, { key });
    const trade = await newTradeReturn(t, {}, { key });
    await moveThrough(t, trade.id, ['approve', 'receive', 'resolve']);
    expect(await toldTo(t)).toEqual([
      [client.id, 'offline_repair.closed'],
      [client.id, 'trade_return.resolved'],
    ]);
    // Another client receives a trade return's events only in place of one that cannot be reached.
    await revokeClient(t.ctx, OPERATOR, client);
    await newTradeReturn(t);
    expect((await toldTo(t)).at(-1)).toEqual([other.id, 'trade_return.created']);
  });

  it('apply from the next change on', async ({ t }) => {
    const client = await add(t);
    const key = client.apiKey;
    const { id } = await newRepair(t, {}, { key });
    await changeClient(t.ctx, OPERATOR, client.id, { events: ['offline_repair.closed'] });
    await t.post(`/offline-repairs/${id}/begin-repair`, undefined, { key });
    await t.post(`/offline-repairs/${id}/close`, undefined, { key });
    expect(await toldTo(t)).toEqual([
      [client.id, 'offline_repair.created'],
      [client.id, 'offline_repair.closed'],
    ]);
  });

  it('also apply if the client stands in for one without a URL', async ({ t }) => {
    const instead = await add(t, ['trade_return.resolved']);
    await add(t);
    const { id } = await newTradeReturn(t);
    await moveThrough(t, id, ['approve', 'receive', 'resolve']);
    expect(await toldTo(t)).toEqual([[instead.id, 'trade_return.resolved']]);
  });

  it('do not hold back a test event', ONLY_SQLITE, async () => {
    const { webhookHarness } = await import('../support/webhooks.ts');
    const { newPerson } = await import('../support/admin.ts');
    const t = await webhookHarness();
    const receiver = await startReceiver();
    const client = await t.addReceiver(receiver.url);
    await changeClient(t.ctx, OPERATOR, client.id, { events: ['offline_repair.closed'] });
    const admin = await newPerson(t);
    expect(await admin.post(`/clients/${client.id}/test-event`)).toHaveStatus(201);
    const [got] = await receiver.got(1);
    expect(got?.body.event).toBe('webhook.test');
  });

  it('are the nine of the specification by default, even if a release adds more', ({ t }) => {
    const receivesWith = (events: string | null, event: WebhookEventName) =>
      deliveryOf(
        t.shop,
        t.client.id,
        { shop_id: t.shop.id, position: 1, id: UNKNOWN_ID, rma_id: UNKNOWN_ID, event, at: 1, body: '' },
        [{ id: t.client.id, shop_id: t.shop.id, events }],
      ) !== null;
    expect(SPECIFIED_EVENTS).toHaveLength(9);
    for (const event of SPECIFIED_EVENTS) expect(receivesWith(null, event)).toBe(true);
    expect(receivesWith(null, LATER)).toBe(false);
    expect(receivesWith(`${LATER},offline_repair.closed`, LATER)).toBe(true);
  });
});

interface Page {
  items: { event: string; data: { id: string } }[];
  cursor: string;
  hasMore: boolean;
}

const read = async (t: Harness, query: string): Promise<Page> => {
  const response = await t.get(`/events?${query}`, { unchecked: true });
  expect(response).toHaveStatus(200);
  return response.body;
};
const eventsIn = ({ items }: Page) => items.map(({ event }) => event);

/** Events of a kind that a later release brings, as many as there are positions to fill. */
const addLater = async (t: Harness, count: number) => {
  const { ctx, shop } = t;
  const { last_position } = await ctx.db
    .selectFrom('shop_counters')
    .select('last_position')
    .where('shop_id', '=', shop.id)
    .executeTakeFirstOrThrow();
  const at = ctx.clock.now();
  const rows = Array.from({ length: count }, (_, i) => ({
    shop_id: shop.id,
    position: last_position + 1 + i,
    id: newId(at),
    rma_id: UNKNOWN_ID,
    event: LATER,
    at,
    body: bodyOf(LATER, at, { id: UNKNOWN_ID }),
  }));
  for (let i = 0; i < rows.length; i += 500)
    await ctx.db
      .insertInto('events')
      .values(rows.slice(i, i + 500))
      .execute();
  await ctx.db
    .updateTable('shop_counters')
    .set({ last_position: last_position + count })
    .where('shop_id', '=', shop.id)
    .execute();
  ctx.wake('events', shop.id);
};

describe('the event feed', () => {
  it('contains the nine default types, the requested ones, or all', async ({ t }) => {
    const { id } = await newRepair(t);
    await addLater(t, 1);
    await t.post(`/offline-repairs/${id}/close`);
    const specified = ['offline_repair.created', 'offline_repair.closed'];
    expect(eventsIn(await read(t, ''))).toEqual(specified);
    expect(eventsIn(await read(t, 'types=offline_repair.closed'))).toEqual(['offline_repair.closed']);
    const both = 'types=offline_repair.closed,offline_repair.created';
    expect(eventsIn(await read(t, both))).toEqual(specified);
    expect(eventsIn(await read(t, both.replace(',', ', ')))).toEqual(eventsIn(await read(t, both)));
    const all = await read(t, `types=${ALL_TYPES}`);
    expect(eventsIn(all)).toEqual(['offline_repair.created', LATER, 'offline_repair.closed']);
    // All read the same log: their cursors are the same.
    for (const query of ['', 'types=trade_return.created', both])
      expect((await read(t, query)).cursor).toBe(all.cursor);
  });

  it('rejects unknown types', ONLY_SQLITE, async ({ t }) => {
    for (const types of [
      '',
      'nothing',
      'offline_repair.closed,',
      'all,offline_repair.closed',
      'webhook.test',
    ])
      expect(rulesOf(await t.get(`/events?types=${types}`))).toEqual({ types: 'oneOf' });
    expect(rulesOf(await t.get('/events?types=all&types=all'))).toEqual({ types: 'repeated' });
  });

  it('rejects a cursor far ahead of its newest event', async ({ t }) => {
    await newRepair(t);
    const position = '999999999999999';
    const check = createHash('sha256').update(`${t.shop.id} ${position}`).digest('hex').slice(0, 8);
    const cursor = Buffer.from(`${position}.${check}`).toString('base64url');
    expect(await t.get(`/events?after=${cursor}`)).toFailWith(400, 'VALIDATION_FAILED');
  });

  it('has a cursor that skips other types, and stays valid for them', async ({ t }) => {
    const first = await newRepair(t);
    await newTradeReturn(t);
    const { cursor, items, hasMore } = await read(t, 'types=offline_repair.closed');
    expect({ items, hasMore }).toEqual({ items: [], hasMore: false });
    await t.post(`/offline-repairs/${first.id}/close`);
    expect(eventsIn(await read(t, `after=${cursor}&types=all`))).toEqual(['offline_repair.closed']);
    const page = await read(t, 'types=offline_repair.created,offline_repair.closed&limit=1');
    expect(eventsIn(await read(t, `after=${page.cursor}&types=all`))).toEqual([
      'trade_return.created',
      'offline_repair.closed',
    ]);
  });

  it('returns each event once, in limited pages, if most are of other types', async ({ t }) => {
    const made = [(await newRepair(t)).id];
    for (let i = 0; i < 3; i++) {
      await addLater(t, 2_500);
      made.push((await newRepair(t)).id);
    }
    const found: string[] = [];
    let pages = 0;
    let page = await read(t, 'limit=100');
    for (;;) {
      pages += 1;
      found.push(...page.items.map(({ data }) => data.id));
      if (!page.hasMore) break;
      page = await read(t, `limit=100&after=${page.cursor}`);
    }
    expect(found).toEqual(made);
    expect(pages).toBe(4);
    expect((await read(t, `after=${page.cursor}&types=all`)).items).toEqual([]);
  });

  it('keeps waiting if only other types arrive, and returns a cursor past them', async ({ t }) => {
    const { cursor } = await read(t, 'after=latest');
    const waiting = read(t, `after=${cursor}&wait=10`);
    for (let i = 0; i < 5; i++) await addLater(t, 1);
    const { id } = await newRepair(t);
    expect((await waiting).items).toMatchObject([{ event: 'offline_repair.created', data: { id } }]);
    const empty = read(t, `after=${(await waiting).cursor}&wait=3`);
    await addLater(t, 3);
    const { items, hasMore, cursor: last } = await empty;
    expect({ items, hasMore }).toEqual({ items: [], hasMore: false });
    expect((await read(t, `after=${last}&types=all`)).items).toEqual([]);
  });
});
