import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient, type NewApiClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { offlineRepairs } from '../../src/returns/actions.ts';
import { newRepair, newRma, newTradeReturn, staffOf } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS, walkThrough } from '../support/kinds.ts';
import { addReceiver, deliveriesOf } from '../support/outbox.ts';
import { pluck } from '../support/responses.ts';
import { sendingTo } from '../support/sending-to.ts';
import { moveThrough } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

const eventsOf = async (t: Harness) =>
  (await deliveriesOf(t)).map(({ receiver_id, event }) => [receiver_id, event]);

describe.each(KINDS)('the events at $path', (row) => {
  const { kind, path, walk } = row;
  const created = `${walk[0]?.event.split('.')[0]}.created`;

  it('are sent once per change, with the data and headers of the contract', async () => {
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

  it('go to the client that created the RMA, even if older ones have a URL and make changes', async ({
    t,
  }) => {
    const [mover] = [await addReceiver(t), await addReceiver(t)];
    const maker = await addReceiver(t);
    const { id } = await newRma(t, kind, {}, { key: maker.apiKey });
    await walkThrough(t, row, id, { key: mover.apiKey });
    expect(await eventsOf(t)).toEqual(
      [created, ...walk.map(({ event }) => event)].map((event) => [maker.id, event]),
    );
  });

  it('are not sent for creations that are refused, dry runs or replays', async ({ t }) => {
    const client = await addReceiver(t);
    const post = (query: string, body: unknown) =>
      t.post(`${path}${query}`, body, { key: client.apiKey, headers: { 'idempotency-key': 'k' } });
    expect(await post('', {})).toHaveStatus(400);
    expect(await post('/dry-run', row.body())).toHaveStatus(200);
    for (let i = 0; i < 3; i += 1) expect(await post('', row.body())).toHaveStatus(201);
    expect(await eventsOf(t)).toEqual([[client.id, created]]);
  });
});

// None of what staff created has events: test/api/tenancy.test.ts.

describe('the events of a repair', () => {
  const close = (t: Harness, id: string, key?: string) =>
    t.post(`/offline-repairs/${id}/close`, undefined, key ? { key } : {});

  it('report tracking that was given at creation only in `created`', async ({ t }) => {
    const tracking = { trackingNumber: 'T1', carrierName: 'DHL' };
    await newRepair(t, { tracking }, { key: (await addReceiver(t)).apiKey });
    const deliveries = await deliveriesOf(t);
    expect(deliveries).toHaveLength(1);
    expect(JSON.parse(deliveries[0]?.body ?? '').data).toMatchObject(tracking);
  });

  it('are not sent if the client that created it is revoked or has no URL', async ({ t }) => {
    const [revoked, silent] = [await addReceiver(t), await addReceiver(t)];
    // To no other client either, though one has a URL.
    await addReceiver(t);
    const one = await newRepair(t, {}, { key: revoked.apiKey });
    const other = await newRepair(t, {}, { key: silent.apiKey });
    await revokeClient(t.ctx, OPERATOR, revoked);
    await changeClient(t.ctx, OPERATOR, silent.id, { webhookUrl: null });
    const never = await newRepair(t);
    for (const { id } of [one, other, never]) expect(await close(t, id)).toHaveStatus(200);
    // Both may have been made in the same millisecond.
    expect((await eventsOf(t)).sort()).toEqual(
      [revoked.id, silent.id].sort().map((id) => [id, 'offline_repair.created']),
    );
  });
});

it.for(['STARTER', 'GROWTH'] as const)('moves send no events while the plan is %s', async (plan, { t }) => {
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

describe('the credit amount of a trade return', () => {
  /** The digits of the amount, as they stand in the bytes of the event. */
  const amountIn = (body: string): string => /"creditAmount":([^,}]*)[,}]/.exec(body)?.[1] ?? '';
  /** Asks for the credit of a return with these items, each price and quantity as its digits. */
  const amountOf = async (t: Harness, client: NewApiClient, items: string[]) => {
    const text = items.map((item) => {
      const [price, quantity] = item.split('*');
      return `{"sku":"A","productName":"B","price":${price},"quantity":${quantity}}`;
    });
    const body = JSON.stringify(tradeBody({ items: 'ITEMS' })).replace('"ITEMS"', `[${text.join(',')}]`);
    const response = await t.post('/trade-returns', body, { key: client.apiKey });
    expect(response).toHaveStatus(201);
    await moveThrough(t, response.body.id, ['approve', 'receive', 'request-credit']);
    const { rows } = await sql<{ body: string }>`select body from events
      where rma_id = ${response.body.id} and event = 'trade_return.credit_requested'`.execute(t.ctx.db);
    return amountIn(rows[0]?.body ?? '');
  };

  /** Items as `price*quantity`, and the amount they come to. */
  const CASES: [items: string[], amount: string][] = [
    [['0.1*1', '0.2*1'], '0.3'],
    [['1.005*1000'], '1005'],
    [['0*4', '0.0*0.0001'], '0'],
    [['0.0001*0.0001'], '0.00000001'],
    [Array(250).fill('0.1*1'), '25'],
    [Array(250).fill('0.0033*0.0033'), '0.0027225'],
    // More digits than a double has.
    [['99999999999.9999*9999.9999'], '999999989999999.00000001'],
    [['100000000000*9999', '0.0001*0.0001'], '999900000000000.00000001'],
    // As much as a return may cost.
    [Array(250).fill('100000000000*40'), '1000000000000000'],
    [['1e2*5e-1', '12.5E+1*0.2e1'], '300'],
  ];

  it('is exact where floating-point numbers are not', async ({ t }) => {
    const client = await addReceiver(t);
    for (const [items, amount] of CASES)
      expect({ items, amount: await amountOf(t, client, items) }).toEqual({ items, amount });
  });

  it('is exact for any items, to the last digit', async ({ t }) => {
    const client = await addReceiver(t);
    const withDecimals = (units: bigint, count: number): string =>
      String(units)
        .padStart(count + 1, '0')
        .replace(new RegExp(`(.{${count}})$`), '.$1');
    /** A number as whole ten-thousandths, up to the largest that is taken, and the digits it is sent as. */
    const number = (least: bigint) =>
      fc.oneof(
        fc.bigInt({ min: least, max: 1_000_000_000_000_000n }),
        fc.bigInt({ min: least, max: 10_000_000n }),
        fc.bigInt({ min: 999_999_999_000_000n, max: 1_000_000_000_000_000n }),
        fc.bigInt({ min: 1n, max: 1_000n }).map((units) => units * 100n),
      );
    const decimal = (units: bigint) => ({ units, digits: withDecimals(units, 4) });
    /** So that 250 of them cost no more than a return may. */
    const MOST = 400_000_000_000_000_000_000n;
    const item = fc.tuple(number(0n), number(1n)).map(([price, quantity]) => {
      const most = price === 0n ? quantity : MOST / price;
      return { price: decimal(price), quantity: decimal(quantity < most ? quantity : most) };
    });
    const plain = (units: bigint): string => withDecimals(units, 8).replace(/\.?0+$/, '');
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 250, size: 'max' }), async (items) => {
        const sum = items.reduce((total, { price, quantity }) => total + price.units * quantity.units, 0n);
        const sent = items.map(({ price, quantity }) => `${price.digits}*${quantity.digits}`);
        expect(await amountOf(t, client, sent)).toBe(plain(sum));
      }),
      { numRuns: 60 },
    );
  });

  it('reaches the receiver with all its digits, under the signature', async () => {
    const { t, receiver, client } = await sendingTo();
    const amount = await amountOf(t, client, ['99999999999.9999*9999.9999', '0.1*3']);
    expect(amount).toBe('999999989999999.30000001');
    await receiver.got(4);
    const sent = receiver.received.find(({ body }) => body.event === 'trade_return.credit_requested');
    if (!sent) return expect.unreachable('the event was not sent');
    expect(amountIn(sent.bytes.toString('utf8'))).toBe(amount);
    const signature = createHmac('sha256', client.webhookSecret).update(sent.bytes).digest('hex');
    expect(sent.headers['x-webhook-signature']).toBe(signature);
  });
});
