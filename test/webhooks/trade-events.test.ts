import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TradeReturnAction } from '../../contract/lifecycle.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient, type NewApiClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { moveTradeReturn } from '../../src/trade-returns/actions.ts';
import { newStaffRma, newTradeReturn, staffOf } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { startReceiver } from '../support/receiver.ts';
import { moveThrough } from '../support/trade-moves.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const NOWHERE = 'http://127.0.0.1:9/';
const TO_CREDIT: TradeReturnAction[] = ['approve', 'receive', 'request-credit'];
/** Ways from the start to an end that between them make every move of the table. */
const WAYS: TradeReturnAction[][] = [
  [...TO_CREDIT, 'resolve'],
  ['approve', 'receive', 'resolve'],
  ['approve', 'reject'],
  ['reject'],
];

const create = (t: WebhookHarness, client: NewApiClient, more: Record<string, unknown> = {}) =>
  newTradeReturn(t, more, { key: client.apiKey });
const signed = (bytes: Buffer, { webhookSecret }: NewApiClient): string =>
  createHmac('sha256', webhookSecret).update(bytes).digest('hex');
const byTime = (one: { body: { timestamp: string } }, other: { body: { timestamp: string } }) =>
  one.body.timestamp.localeCompare(other.body.timestamp);
const eventsOf = async (t: WebhookHarness) =>
  (await t.deliveries())
    .map(({ client_id, body }) => ({ to: client_id, body: JSON.parse(body) }))
    .sort(byTime)
    .map(({ to, body }) => [to, body.event.replace('trade_return.', '')]);

describe('the events of a trade return', () => {
  it('are fired once per change, with the data the contract names', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    const made = await create(t, client, {
      externalRef: 'ERP-7',
      externalSource: 'erp',
      companyName: 'Zoë & Söhne "GmbH"',
      orderDate: ' 2 Oct 2026 ',
    });
    await moveThrough(t, made.id, [...TO_CREDIT, 'resolve']);
    await receiver.got(5);
    await t.drained();

    const inOrder = [...receiver.received].sort(byTime);
    expect(inOrder.map(({ body }) => body.event)).toEqual([
      'trade_return.created',
      'trade_return.status_changed',
      'trade_return.status_changed',
      'trade_return.credit_requested',
      'trade_return.resolved',
    ]);
    const common = {
      id: made.id,
      rmaNumber: '#RMA-000001',
      externalRef: 'ERP-7',
      externalSource: 'erp',
    };
    expect(inOrder.map(({ body }) => body.data)).toEqual([
      made,
      { ...common, status: 'TRADE_APPROVED', previousStatus: 'TRADE_SUBMITTED' },
      { ...common, status: 'TRADE_RECEIVED', previousStatus: 'TRADE_APPROVED' },
      {
        ...common,
        status: 'TRADE_CREDIT_REQUESTED',
        previousStatus: 'TRADE_RECEIVED',
        creditAmount: 482,
      },
      { ...common, status: 'TRADE_RESOLVED', previousStatus: 'TRADE_CREDIT_REQUESTED' },
    ]);
    const { items } = (await t.get(`/trade-returns/${made.id}/timeline`)).body;
    expect(inOrder.map(({ body }) => body.timestamp)).toEqual(items.map(({ at }: { at: string }) => at));
    for (const { body, bytes, headers } of inOrder) {
      expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
      // Valid, and with nothing in it that the schema does not know.
      expect(WEBHOOK_EVENT_DATA[body.event as WebhookEventName].parse(body.data)).toEqual(body.data);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-webhook-event': body.event,
        'x-webhook-attempt': '1',
        'x-webhook-signature': signed(bytes, client),
      });
    }
    expect(receiver.received).toHaveLength(5);
  });

  it.each([
    { way: ['reject'] as TradeReturnAction[], from: 'TRADE_SUBMITTED' },
    { way: ['approve', 'reject'] as TradeReturnAction[], from: 'TRADE_APPROVED' },
  ])('tell of a rejection from $from', async ({ way, from }) => {
    const t = await webhookHarness({ sending: false });
    const made = await create(t, await t.addReceiver(NOWHERE));
    await moveThrough(t, made.id, way);
    const body = JSON.parse((await t.deliveries()).at(-1)?.body ?? '');
    expect(body).toMatchObject({ event: 'trade_return.status_changed' });
    expect(body.data).toEqual({
      id: made.id,
      rmaNumber: made.rmaNumber,
      externalRef: null,
      externalSource: null,
      status: 'TRADE_REJECTED',
      previousStatus: from,
    });
  });

  it('tell of a resolution without a credit', async () => {
    const t = await webhookHarness({ sending: false });
    const made = await create(t, await t.addReceiver(NOWHERE));
    await moveThrough(t, made.id, ['approve', 'receive', 'resolve']);
    const body = JSON.parse((await t.deliveries()).at(-1)?.body ?? '');
    expect([body.event, body.data.status, body.data.previousStatus]).toEqual([
      'trade_return.resolved',
      'TRADE_RESOLVED',
      'TRADE_RECEIVED',
    ]);
  });

  it('are not fired by moves that are refused, nor by creations that are', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(NOWHERE);
    const { id } = await create(t, client);
    for (const action of ['receive', 'request-credit', 'resolve'] as const)
      await expect(moveTradeReturn(t.ctx, staffOf(t), id, action, null)).rejects.toMatchObject({
        code: 'MOVE_NOT_OPEN',
      });
    expect((await t.post('/trade-returns', tradeBody({ items: [] }), { key: client.apiKey })).status).toBe(
      400,
    );
    expect(await eventsOf(t)).toEqual([[client.id, 'created']]);
  });

  it('are not fired again by a creation that is replayed', async () => {
    const t = await webhookHarness({ sending: false });
    const { id, apiKey } = await t.addReceiver(NOWHERE);
    const options = { key: apiKey, headers: { 'idempotency-key': 'k' } };
    for (let again = 0; again < 3; again += 1) await newTradeReturn(t, {}, options);
    expect(await eventsOf(t)).toEqual([[id, 'created']]);
  });
});

describe('the credit amount', () => {
  /** The digits of the amount, as they stand in the bytes of the event. */
  const amountIn = (body: string): string => /"creditAmount":([^,}]*)[,}]/.exec(body)?.[1] ?? '';
  /** Asks for the credit of a return with these items, each price and quantity as its digits. */
  const amountOf = async (
    t: WebhookHarness,
    client: NewApiClient,
    items: [price: string, quantity: string][],
  ) => {
    const text = items.map(
      ([price, quantity]) => `{"sku":"A","productName":"B","price":${price},"quantity":${quantity}}`,
    );
    const body = JSON.stringify(tradeBody({ items: 'ITEMS' })).replace('"ITEMS"', `[${text.join(',')}]`);
    const { status, body: made } = await t.post('/trade-returns', body, { key: client.apiKey });
    expect(status).toBe(201);
    await moveThrough(t, made.id, TO_CREDIT);
    const row = await t.ctx.db
      .selectFrom('events')
      .select('body')
      .where('rma_id', '=', made.id)
      .where('event', '=', 'trade_return.credit_requested')
      .executeTakeFirstOrThrow();
    return amountIn(row.body);
  };

  const CASES: [name: string, items: [string, string][], amount: string][] = [
    ['0.1 × 3', [['0.1', '3']], '0.3'],
    [
      '0.1 + 0.2',
      [
        ['0.1', '1'],
        ['0.2', '1'],
      ],
      '0.3',
    ],
    ['1.005 × 1000', [['1.005', '1000']], '1005'],
    ['1.1 × 1.1', [['1.1', '1.1']], '1.21'],
    ['4.35 × 100', [['4.35', '100']], '435'],
    [
      'nothing',
      [
        ['0', '4'],
        ['0.0', '0.0001'],
      ],
      '0',
    ],
    ['the smallest', [['0.0001', '0.0001']], '0.00000001'],
    ['a tenth, 250 times', Array.from({ length: 250 }, () => ['0.1', '1']), '25'],
    ['a third of a cent, 250 times', Array.from({ length: 250 }, () => ['0.0033', '0.0033']), '0.0027225'],
    [
      'more digits than a double has',
      [['99999999999.9999', '99999999999.9999']],
      '9999999999999980000000.00000001',
    ],
    [
      'the largest and the smallest',
      [
        ['100000000000', '100000000000'],
        ['0.0001', '0.0001'],
      ],
      '10000000000000000000000.00000001',
    ],
    [
      'the largest, 250 times',
      Array.from({ length: 250 }, () => ['100000000000', '100000000000']),
      '2500000000000000000000000',
    ],
    [
      '2^53 + 1',
      [
        ['90071992547.4099', '100000'],
        ['0.0001', '30000'],
      ],
      '9007199254740993',
    ],
    [
      'written with exponents',
      [
        ['1e2', '5e-1'],
        ['12.5E+1', '0.2e1'],
      ],
      '300',
    ],
  ];

  it('is exact where binary numbers are not', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(NOWHERE);
    for (const [name, items, amount] of CASES)
      expect({ name, amount: await amountOf(t, client, items) }).toEqual({ name, amount });
  });

  it('is exact for any items, to the last digit', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver(NOWHERE);
    /** A number as whole ten-thousandths, up to the largest that is taken, and the digits it is sent as. */
    const decimal = (least: bigint) =>
      fc
        .oneof(
          fc.bigInt({ min: least, max: 1_000_000_000_000_000n }),
          fc.bigInt({ min: least, max: 10_000_000n }),
          fc.bigInt({ min: 999_999_999_000_000n, max: 1_000_000_000_000_000n }),
          fc.bigInt({ min: 1n, max: 1_000n }).map((units) => units * 100n),
        )
        .map((units) => ({
          units,
          digits: `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`,
        }));
    const plain = (units: bigint): string => {
      const fraction = String(units % 100_000_000n)
        .padStart(8, '0')
        .replace(/0+$/, '');
      return fraction ? `${units / 100_000_000n}.${fraction}` : String(units / 100_000_000n);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ price: decimal(0n), quantity: decimal(1n) }), {
          minLength: 1,
          maxLength: 250,
          size: 'max',
        }),
        async (items) => {
          const sum = items.reduce((total, { price, quantity }) => total + price.units * quantity.units, 0n);
          const sent = items.map(({ price, quantity }): [string, string] => [price.digits, quantity.digits]);
          expect(await amountOf(t, client, sent)).toBe(plain(sum));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reaches the receiver with all its digits, under the signature', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    const amount = await amountOf(t, client, [
      ['99999999999.9999', '99999999999.9999'],
      ['0.1', '3'],
    ]);
    expect(amount).toBe('9999999999999980000000.30000001');
    await receiver.got(4);
    const one = receiver.received.find(({ body }) => body.event === 'trade_return.credit_requested');
    const bytes = one?.bytes ?? Buffer.of();
    expect(amountIn(bytes.toString('utf8'))).toBe(amount);
    expect(bytes.toString('utf8')).toContain(`"creditAmount":${amount}`);
    expect(one?.headers['x-webhook-signature']).toBe(signed(bytes, client));
    expect(WEBHOOK_EVENT_DATA['trade_return.credit_requested'].safeParse(one?.body.data).success).toBe(true);
  });
});

describe('who receives them', () => {
  /** Clients whose ages differ, oldest first; the harness's own client is older than all of them and has no URL. */
  const receivers = async (t: WebhookHarness, urls: string[]): Promise<NewApiClient[]> => {
    const made: NewApiClient[] = [];
    for (const url of urls) {
      t.clock.advance(1000);
      made.push(await t.addReceiver(url));
    }
    t.clock.advance(1000);
    return made;
  };

  it('is the client that created the return, also when older ones have a URL', async () => {
    const t = await webhookHarness({ sending: false });
    const [, , maker] = await receivers(t, [NOWHERE, NOWHERE, NOWHERE]);
    const { id } = await create(t, maker as NewApiClient);
    await moveThrough(t, id, [...TO_CREDIT, 'resolve']);
    expect((await eventsOf(t)).map(([to]) => to)).toEqual(Array.from({ length: 5 }, () => maker?.id));
  });

  it("is, where the creator has no URL, the shop's oldest active client that has one, under its own secret", async () => {
    const [fallback, younger, revokedOne] = [
      await startReceiver(),
      await startReceiver(),
      await startReceiver(),
    ];
    const t = await webhookHarness();
    const [revoked, silenced, oldest] = await receivers(t, [
      revokedOne.url,
      revokedOne.url,
      fallback.url,
      younger.url,
      younger.url,
    ]);
    await revokeClient(t.ctx, OPERATOR, revoked as NewApiClient);
    await changeClient(t.ctx, OPERATOR, (silenced as NewApiClient).id, { webhookUrl: null });
    const made = await create(t, t.client);
    await moveThrough(t, made.id, [...TO_CREDIT, 'resolve']);
    await fallback.got(5);
    await t.drained();
    for (const { bytes, headers } of fallback.received) {
      expect(headers['x-webhook-signature']).toBe(signed(bytes, oldest as NewApiClient));
      expect(headers['x-webhook-signature']).not.toBe(signed(bytes, t.client));
    }
    expect([...fallback.received].sort(byTime)[0]?.body.data).toEqual(made);
    expect(fallback.received).toHaveLength(5);
    expect([younger.received, revokedOne.received]).toEqual([[], []]);
  });

  it('is the fallback from the moment the creator is revoked', async () => {
    const [own, fallback] = [await startReceiver(), await startReceiver()];
    const t = await webhookHarness();
    const [oldest, maker] = await receivers(t, [fallback.url, own.url]);
    const { id } = await create(t, maker as NewApiClient);
    await own.got(1);
    await t.drained();
    await revokeClient(t.ctx, OPERATOR, maker as NewApiClient);
    await moveThrough(t, id, [...TO_CREDIT, 'resolve']);
    await fallback.got(4);
    await t.drained();
    expect(own.received.map(({ body }) => body.event)).toEqual(['trade_return.created']);
    for (const { bytes, headers } of fallback.received)
      expect(headers['x-webhook-signature']).toBe(signed(bytes, oldest as NewApiClient));
  });

  it('follows the URLs as they are at each change', async () => {
    const t = await webhookHarness({ sending: false });
    const [oldest, younger, maker] = await receivers(t, [NOWHERE, NOWHERE, NOWHERE]);
    const ids = [oldest, younger, maker].map((client) => client?.id as string);
    const { id } = await create(t, maker as NewApiClient);
    await changeClient(t.ctx, OPERATOR, ids[2] as string, { webhookUrl: null });
    await moveThrough(t, id, ['approve']);
    await revokeClient(t.ctx, OPERATOR, oldest as NewApiClient);
    await moveThrough(t, id, ['receive']);
    await changeClient(t.ctx, OPERATOR, ids[2] as string, { webhookUrl: NOWHERE });
    await moveThrough(t, id, ['request-credit']);
    await changeClient(t.ctx, OPERATOR, ids[1] as string, { webhookUrl: null });
    await revokeClient(t.ctx, OPERATOR, maker as NewApiClient);
    await moveThrough(t, id, ['resolve']);
    expect(await eventsOf(t)).toEqual([
      [ids[2], 'created'],
      [ids[0], 'status_changed'],
      [ids[1], 'status_changed'],
      [ids[2], 'credit_requested'],
    ]);
  });

  it("is nobody, with no row, where no client of the shop has a URL, though another shop's has", async () => {
    const t = await webhookHarness({ sending: false });
    const other = await t.addShop();
    await t.addReceiver(NOWHERE, other.shop.id);
    const [revoked] = await receivers(t, [NOWHERE]);
    await revokeClient(t.ctx, OPERATOR, revoked as NewApiClient);
    for (const way of WAYS) await moveThrough(t, (await create(t, t.client)).id, way);
    expect(await t.deliveries()).toEqual([]);
    expect((await t.get('/trade-returns?status=TRADE_RESOLVED')).body.total).toBe(2);
  });

  it('is nobody for a return that staff made, through all moves', async () => {
    const t = await webhookHarness({ sending: false });
    await t.addReceiver(NOWHERE);
    for (const way of WAYS) await moveThrough(t, (await newStaffRma(t, 'trade-returns')).id, way);
    expect(await t.deliveries()).toEqual([]);
    expect(await t.ctx.db.selectFrom('timeline').select('id').execute()).toHaveLength(
      WAYS.flat().length + WAYS.length,
    );
  });

  it.each(['STARTER', 'GROWTH'] as const)(
    'is nobody while the plan is %s, through all moves',
    async (plan) => {
      const t = await webhookHarness({ sending: false });
      const client = await t.addReceiver(NOWHERE);
      const staff = staffOf({ shop: { ...t.shop, plan } });
      for (const way of WAYS) await moveThrough(t, (await create(t, client)).id, way, staff);
      expect(await eventsOf(t)).toEqual(WAYS.map(() => [client.id, 'created']));
    },
  );
});
