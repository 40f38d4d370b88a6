// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { changeClient, createClient, replaceClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { selectReceivers } from '../../src/webhooks/outbox.ts';
import { newTradeReturn } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { deliveriesOf } from '../support/outbox.ts';
import { moveThrough } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

const URL = 'https://1.1.1.1/hook';
const add = (t: Harness, name: string, shopId = t.shop.id) => {
  t.clock.advance(1);
  return createClient(t.ctx, OPERATOR, { shopId, name, webhookUrl: URL });
};

it('a receiver is as old as its first client, and gone while its present client is revoked', async ({
  t,
}) => {
  const [first, second] = [await add(t, 'first'), await add(t, 'second')];
  t.clock.advance(1);
  const next = await replaceClient(t.ctx, OPERATOR, first, {});
  t.clock.advance(1);
  const last = await replaceClient(t.ctx, OPERATOR, next, {});
  const found = async () => {
    const { rows } = await t.ctx.db.executeQuery(t.ctx.fill(selectReceivers, { shopIds: [t.shop.id] }));
    return rows.map(({ id }) => id);
  };
  expect([next.receiverId, last.receiverId]).toEqual([first.id, first.id]);
  expect(await found()).toEqual([first.id, second.id]);
  await revokeClient(t.ctx, OPERATOR, last);
  expect(await found()).toEqual([second.id]);
});

describe("the receiver of a trade return's events", () => {
  // The harness's own client is older than all others, and has no URL.

  it('is the client that created it while it has a URL, otherwise the oldest client with one', async ({
    t,
  }) => {
    const [oldest, younger] = [await add(t, 'oldest'), await add(t, 'younger')];
    const maker = await add(t, 'maker');
    t.clock.advance(1);
    const { id } = await newTradeReturn(t, {}, { key: maker.apiKey });
    await changeClient(t.ctx, OPERATOR, maker.id, { webhookUrl: null });
    await moveThrough(t, id, ['approve']);
    await revokeClient(t.ctx, OPERATOR, oldest);
    await moveThrough(t, id, ['receive']);
    await changeClient(t.ctx, OPERATOR, maker.id, { webhookUrl: URL });
    await moveThrough(t, id, ['request-credit']);
    await revokeClient(t.ctx, OPERATOR, maker);
    await moveThrough(t, id, ['resolve']);
    expect((await deliveriesOf(t)).map(({ receiver_id, event }) => [receiver_id, event])).toEqual([
      [maker.id, 'trade_return.created'],
      [oldest.id, 'trade_return.status_changed'],
      [younger.id, 'trade_return.status_changed'],
      [maker.id, 'trade_return.credit_requested'],
      [younger.id, 'trade_return.resolved'],
    ]);
  });

  it("is nobody if no client of the shop has a URL, even if another shop's has", async ({ t }) => {
    await add(t, 'theirs', (await t.addShop()).shop.id);
    await revokeClient(t.ctx, OPERATOR, await add(t, 'revoked'));
    const { id } = await newTradeReturn(t);
    await moveThrough(t, id, ['approve', 'receive', 'request-credit', 'resolve']);
    expect(await deliveriesOf(t)).toEqual([]);
  });
});
