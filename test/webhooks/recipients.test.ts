import { expect, it } from 'vitest';
import { createClient, replaceClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { reachableClients } from '../../src/webhooks/recipient.ts';
import { newRepair, newTradeReturn } from '../support/api.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

const URL = 'https://1.1.1.1/hook';
const add = (t: Harness, name: string, webhookUrl: string | null = URL, shopId = t.shop.id) => {
  t.clock.advance(1);
  return createClient(t.ctx, OPERATOR, { shopId, name, webhookUrl });
};
const reachable = (t: Harness, shopIds: string[], creators: Parameters<typeof reachableClients>[3]) =>
  t.ctx.db.transaction().execute((trx) => reachableClients(t.ctx, trx, shopIds, creators));

it('clients that are active and have a URL can be reached, of the shops asked about, oldest first', async () => {
  const t = await harness();
  const { shop, client } = await t.addShop();
  const [first, second] = [await add(t, 'first'), await add(t, 'second')];
  const other = await add(t, 'other', URL, shop.id);
  await revokeClient(t.ctx, OPERATOR, await add(t, 'revoked'));
  await add(t, 'without a URL', null);
  const found = await reachable(t, [t.shop.id], { ids: [first.id, client.id] });
  expect(found).toEqual([
    { id: first.id, shop_id: t.shop.id, replaces: null },
    { id: second.id, shop_id: t.shop.id, replaces: null },
  ]);
  const both = await reachable(t, [t.shop.id, shop.id], { ids: [] });
  expect(both.map(({ id }) => id)).toEqual([first.id, second.id, other.id]);
  expect(await reachable(t, [], { ids: [first.id] })).toEqual([]);
});

it('a replacement has the age of the first whose place it has, and says whose of those asked about', async () => {
  const t = await harness();
  const [first, second] = [await add(t, 'first'), await add(t, 'second')];
  t.clock.advance(1);
  const next = await replaceClient(t.ctx, OPERATOR, first, {});
  t.clock.advance(1);
  const last = await replaceClient(t.ctx, OPERATOR, next, {});
  const ids = async (creators: string[]) => {
    const found = await reachable(t, [t.shop.id], { ids: creators });
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

it('the creator of an RMA of either kind is found by the RMA', async () => {
  const t = await harness();
  const erp = await add(t, 'ERP');
  const repair = await newRepair(t, {}, { key: erp.apiKey });
  const trade = await newTradeReturn(t, {}, { key: erp.apiKey });
  t.clock.advance(1);
  const next = await replaceClient(t.ctx, OPERATOR, erp, {});
  const expected = [{ id: next.id, shop_id: t.shop.id, replaces: erp.id }];
  const creator = (table: 'offline_repairs' | 'trade_returns', rmaId: string) =>
    reachable(t, [t.shop.id], { table, rmaId });
  expect(await creator('offline_repairs', repair.id)).toEqual(expected);
  expect(await creator('trade_returns', trade.id)).toEqual(expected);
  expect(await creator('offline_repairs', trade.id)).toEqual([{ ...expected[0], replaces: null }]);
});
