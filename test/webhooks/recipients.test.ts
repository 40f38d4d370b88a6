import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import {
  changeClient,
  createClient,
  type NewApiClient,
  replaceClient,
  revokeClient,
} from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { selectReachable } from '../../src/webhooks/outbox.ts';
import { newRepair, newTradeReturn } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { deliveriesOf } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';
import { moveThrough } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

const URL = 'https://1.1.1.1/hook';
const TO_THE_END: TradeReturnAction[] = ['approve', 'receive', 'request-credit', 'resolve'];
const add = (t: Harness, name: string, webhookUrl: string | null = URL, shopId = t.shop.id) => {
  t.clock.advance(1);
  return createClient(t.ctx, OPERATOR, { shopId, name, webhookUrl });
};
const NONE = { creatorIds: [], repairIds: [], tradeReturnIds: [] };
const reachable = async (
  t: Harness,
  shopIds: string[],
  creators: { [Ids in keyof typeof NONE]?: string[] },
) => (await t.ctx.db.executeQuery(t.ctx.fill(selectReachable, { shopIds, ...NONE, ...creators }))).rows;

it('active clients with a URL can be reached, of the shops asked about, oldest first', async ({ t }) => {
  const { shop, client } = await t.addShop();
  const [first, second] = [await add(t, 'first'), await add(t, 'second')];
  const other = await add(t, 'other', URL, shop.id);
  await revokeClient(t.ctx, OPERATOR, await add(t, 'revoked'));
  await add(t, 'without a URL', null);
  const found = await reachable(t, [t.shop.id], { creatorIds: [first.id, client.id] });
  expect(found).toEqual([
    { id: first.id, shop_id: t.shop.id, replaces: null, events: null },
    { id: second.id, shop_id: t.shop.id, replaces: null, events: null },
  ]);
  const both = await reachable(t, [t.shop.id, shop.id], {});
  expect(both.map(({ id }) => id)).toEqual([first.id, second.id, other.id]);
  expect(await reachable(t, [], { creatorIds: [first.id] })).toEqual([]);
});

it('a replacement has the age of the first one it replaces, and names it', async ({ t }) => {
  const [first, second] = [await add(t, 'first'), await add(t, 'second')];
  t.clock.advance(1);
  const next = await replaceClient(t.ctx, OPERATOR, first, {});
  t.clock.advance(1);
  const last = await replaceClient(t.ctx, OPERATOR, next, {});
  const ids = async (creators: string[]) => {
    const found = await reachable(t, [t.shop.id], { creatorIds: creators });
    return found.map(({ id, replaces }) => [id, replaces]);
  };
  expect(await ids([first.id])).toEqual([
    [last.id, first.id],
    [second.id, null],
  ]);
  expect(await ids([next.id, second.id])).toEqual([
    [last.id, next.id],
    [second.id, null],
  ]);
  // Without a URL or revoked it cannot be reached, and those before it cannot either.
  await revokeClient(t.ctx, OPERATOR, last);
  expect(await ids([first.id])).toEqual([[second.id, null]]);
});

it('the creator of an RMA of either kind is found by the RMA', async ({ t }) => {
  const erp = await add(t, 'ERP');
  const repair = await newRepair(t, {}, { key: erp.apiKey });
  const trade = await newTradeReturn(t, {}, { key: erp.apiKey });
  t.clock.advance(1);
  const next = await replaceClient(t.ctx, OPERATOR, erp, {});
  const expected = [{ id: next.id, shop_id: t.shop.id, replaces: erp.id, events: null }];
  expect(await reachable(t, [t.shop.id], { repairIds: [repair.id] })).toEqual(expected);
  expect(await reachable(t, [t.shop.id], { tradeReturnIds: [trade.id] })).toEqual(expected);
  expect(await reachable(t, [t.shop.id], { repairIds: [trade.id] })).toEqual([
    { ...expected[0], replaces: null, events: null },
  ]);
});

describe('who receives the events of a trade return', () => {
  /** Clients whose ages differ, oldest first; the harness's own client is older than all of them and has no URL. */
  const receivers = async (t: Harness, urls: string[]): Promise<NewApiClient[]> => {
    const made: NewApiClient[] = [];
    for (const url of urls) made.push(await add(t, 'Receiver', url));
    t.clock.advance(1);
    return made;
  };
  const create = (t: Harness, client: NewApiClient) => newTradeReturn(t, {}, { key: client.apiKey });
  const signed = (bytes: Buffer, { webhookSecret }: NewApiClient): string =>
    createHmac('sha256', webhookSecret).update(bytes).digest('hex');

  it('is, where the creator has no URL, the oldest client that has one', async ({ sending: t }) => {
    const [fallback, younger, gone] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const urls = [gone, gone, fallback, younger, younger].map(({ url }) => url);
    const [revoked, silenced, oldest] = await receivers(t, urls);
    await revokeClient(t.ctx, OPERATOR, revoked as NewApiClient);
    await changeClient(t.ctx, OPERATOR, (silenced as NewApiClient).id, { webhookUrl: null });
    const made = await create(t, t.client);
    await moveThrough(t, made.id, TO_THE_END);
    await fallback.got(5);
    await t.drained();
    for (const { bytes, headers } of fallback.received)
      expect(headers['x-webhook-signature']).toBe(signed(bytes, oldest as NewApiClient));
    const created = fallback.received.find(({ body }) => body.event === 'trade_return.created');
    expect(created?.body.data).toEqual(made);
    expect(fallback.received).toHaveLength(5);
    expect([younger.received, gone.received]).toEqual([[], []]);
  });

  it('follows the URLs as they are at each change', async ({ t }) => {
    const [oldest, younger, maker] = await receivers(t, [URL, URL, URL]);
    const ids = [oldest, younger, maker].map((client) => client?.id as string);
    const { id } = await create(t, maker as NewApiClient);
    await changeClient(t.ctx, OPERATOR, ids[2] as string, { webhookUrl: null });
    await moveThrough(t, id, ['approve']);
    await revokeClient(t.ctx, OPERATOR, oldest as NewApiClient);
    await moveThrough(t, id, ['receive']);
    await changeClient(t.ctx, OPERATOR, ids[2] as string, { webhookUrl: URL });
    await moveThrough(t, id, ['request-credit']);
    await revokeClient(t.ctx, OPERATOR, maker as NewApiClient);
    await moveThrough(t, id, ['resolve']);
    expect((await deliveriesOf(t)).map(({ client_id, event }) => [client_id, event])).toEqual([
      [ids[2], 'trade_return.created'],
      [ids[0], 'trade_return.status_changed'],
      [ids[1], 'trade_return.status_changed'],
      [ids[2], 'trade_return.credit_requested'],
      [ids[1], 'trade_return.resolved'],
    ]);
  });

  it("is none where no client of the shop has a URL, though another shop's has", async ({ t }) => {
    const other = await t.addShop();
    await add(t, 'theirs', URL, other.shop.id);
    const [revoked] = await receivers(t, [URL]);
    await revokeClient(t.ctx, OPERATOR, revoked as NewApiClient);
    const ways: TradeReturnAction[][] = [
      TO_THE_END,
      ['approve', 'receive', 'resolve'],
      ['approve', 'reject'],
    ];
    for (const way of [...ways, ['reject' as const]])
      await moveThrough(t, (await create(t, t.client)).id, way);
    expect(await deliveriesOf(t)).toEqual([]);
    expect((await t.get('/trade-returns?status=TRADE_RESOLVED')).body.total).toBe(2);
  });
});
