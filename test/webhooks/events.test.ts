import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { offlineRepairs } from '../../src/returns/actions.ts';
import { pluck } from '../support/answers.ts';
import { newRepair, newRma, newTradeReturn, staffOf } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS, walkThrough } from '../support/kinds.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { sendingTo } from '../support/sending-to.ts';
import { moveThrough } from '../support/trade-moves.ts';

const harness = sharedHarness();
const it = itWith(harness);

const eventsOf = async (t: Harness) =>
  (await deliveriesOf(t)).map(({ client_id, event }) => [client_id, event]);

describe.each(KINDS)('the events at $path', (row) => {
  const { kind, path, walk } = row;
  const created = `${walk[0]?.event.split('.')[0]}.created`;

  it('are fired once per change, with the data and the headers of the contract', async () => {
    const { t, receiver, client } = await sendingTo();
    const key = { key: client.apiKey };
    const common = { externalRef: 'ERP-7', externalSource: 'erp' };
    const made = await newRma(t, kind, { ...common, customerName: 'Zoë & Söhne "GmbH" 👩‍🔧\n\u2028' }, key);
    await walkThrough(t, row, made.id, key);
    await receiver.got(walk.length + 1);
    await t.drained();

    const inOrder = [...receiver.received].sort((a, b) => a.body.timestamp.localeCompare(b.body.timestamp));
    expect(inOrder.map(({ body }) => body.event)).toEqual([created, ...walk.map(({ event }) => event)]);
    const rma = { id: made.id, rmaNumber: '#RMA-000001', ...common };
    const changes = walk.map(({ to, data }) => ({ ...rma, status: to, ...data }));
    expect(inOrder.map(({ body }) => body.data)).toEqual([made, ...changes]);
    const { items } = (await t.get(`${path}/${made.id}/timeline`)).body;
    const times = pluck(items, 'at');
    expect(inOrder.map(({ body }) => body.timestamp)).toEqual(times);
    expect(new Set(times).size).toBe(walk.length + 1);
    for (const { body, bytes, headers } of inOrder) {
      expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
      // Valid, and with nothing in it that the schema does not know.
      expect(WEBHOOK_EVENT_DATA[body.event as WebhookEventName].parse(body.data)).toEqual(body.data);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Handback\/\d+\.\d+\.\d+$/),
        'x-webhook-signature': createHmac('sha256', client.webhookSecret).update(bytes).digest('hex'),
        'x-webhook-event': body.event,
        'x-webhook-attempt': '1',
        'x-webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    }
    expect(receiver.received).toHaveLength(walk.length + 1);
  });

  it('go to the client that created it, also when older ones have a URL and act', async ({ t }) => {
    const [mover] = [await addReceiver(t), await addReceiver(t)];
    const maker = await addReceiver(t);
    const { id } = await newRma(t, kind, {}, { key: maker.apiKey });
    await walkThrough(t, row, id, { key: mover.apiKey });
    expect(await eventsOf(t)).toEqual(
      [created, ...walk.map(({ event }) => event)].map((event) => [maker.id, event]),
    );
  });

  it('are not fired by creations that are refused, tried out or replayed', async ({ t }) => {
    const client = await addReceiver(t);
    const post = (query: string, body: unknown) =>
      t.post(`${path}${query}`, body, { key: client.apiKey, headers: { 'idempotency-key': 'k' } });
    expect((await post('', {})).status).toBe(400);
    expect((await post('/dry-run', row.body())).status).toBe(200);
    for (let i = 0; i < 3; i += 1) expect((await post('', row.body())).status).toBe(201);
    expect(await eventsOf(t)).toEqual([[client.id, created]]);
  });
});

// None of what staff created has events: test/api/tenancy.test.ts.

describe('the events of a repair', () => {
  const close = (t: Harness, id: string, key?: string) =>
    t.post(`/offline-repairs/${id}/close`, undefined, key ? { key } : {});

  it('tell of tracking given at creation within `created` alone', async ({ t }) => {
    const tracking = { trackingNumber: 'T1', carrierName: 'DHL' };
    await newRepair(t, { tracking }, { key: (await addReceiver(t)).apiKey });
    const deliveries = await deliveriesOf(t);
    expect(deliveries).toHaveLength(1);
    expect(JSON.parse(deliveries[0]?.body ?? '').data).toMatchObject(tracking);
  });

  it('go nowhere where the client that created it has no URL, though others have', async ({ t }) => {
    await addReceiver(t);
    const { id } = await newRepair(t);
    await close(t, id);
    expect(await deliveriesOf(t)).toEqual([]);
  });

  it('go nowhere once the client that created it is revoked, or its URL is gone', async ({ t }) => {
    const [revoked, silent] = [await addReceiver(t), await addReceiver(t)];
    const one = await newRepair(t, {}, { key: revoked.apiKey });
    const other = await newRepair(t, {}, { key: silent.apiKey });
    await revokeClient(t.ctx, OPERATOR, revoked);
    await changeClient(t.ctx, OPERATOR, silent.id, { webhookUrl: null });
    for (const { id } of [one, other]) expect((await close(t, id)).status).toBe(200);
    // Both may have been made in the same millisecond.
    expect((await eventsOf(t)).sort()).toEqual(
      [revoked.id, silent.id].sort().map((id) => [id, 'offline_repair.created']),
    );
  });
});

it.for(['STARTER', 'GROWTH'] as const)('no move fires an event while the plan is %s', async (plan, { t }) => {
  const { id, apiKey } = await addReceiver(t);
  const staff = staffOf({ shop: { ...t.shop, plan } });
  const repair = await newRepair(t, {}, { key: apiKey });
  await offlineRepairs.move(t.ctx, staff, repair.id, 'close', {});
  // Between them these make every move of a trade return.
  const ways: TradeReturnAction[][] = [
    ['approve', 'receive', 'request-credit', 'resolve'],
    ['approve', 'receive', 'resolve'],
    ['approve', 'reject'],
    ['reject'],
  ];
  for (const way of ways) await moveThrough(t, (await newTradeReturn(t, {}, { key: apiKey })).id, way, staff);
  expect((await eventsOf(t)).sort()).toEqual([
    [id, 'offline_repair.created'],
    ...ways.map(() => [id, 'trade_return.created']),
  ]);
});
