import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import type { NewApiClient } from '../../src/api-clients/actions.ts';
import { tradeBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { addReceiver } from '../support/outbox.ts';
import { sendingTo } from '../support/sending-to.ts';
import { moveThrough } from '../support/trade-moves.ts';

const it = itWith(sharedHarness());

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
    const { status, body: made } = await t.post('/trade-returns', body, { key: client.apiKey });
    expect(status).toBe(201);
    await moveThrough(t, made.id, ['approve', 'receive', 'request-credit']);
    const { rows } = await sql<{ body: string }>`select body from events
      where rma_id = ${made.id} and event = 'trade_return.credit_requested'`.execute(t.ctx.db);
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
    [['99999999999.9999*99999999999.9999'], '9999999999999980000000.00000001'],
    [['100000000000*100000000000', '0.0001*0.0001'], '10000000000000000000000.00000001'],
    [Array(250).fill('100000000000*100000000000'), '2500000000000000000000000'],
    // 2^53 + 1.
    [['90071992547.4099*100000', '0.0001*30000'], '9007199254740993'],
    [['1e2*5e-1', '12.5E+1*0.2e1'], '300'],
  ];

  it('is exact where binary numbers are not', async ({ t }) => {
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
    const decimal = (least: bigint) =>
      fc
        .oneof(
          fc.bigInt({ min: least, max: 1_000_000_000_000_000n }),
          fc.bigInt({ min: least, max: 10_000_000n }),
          fc.bigInt({ min: 999_999_999_000_000n, max: 1_000_000_000_000_000n }),
          fc.bigInt({ min: 1n, max: 1_000n }).map((units) => units * 100n),
        )
        .map((units) => ({ units, digits: withDecimals(units, 4) }));
    const plain = (units: bigint): string => withDecimals(units, 8).replace(/\.?0+$/, '');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ price: decimal(0n), quantity: decimal(1n) }), {
          minLength: 1,
          maxLength: 250,
          size: 'max',
        }),
        async (items) => {
          const sum = items.reduce((total, { price, quantity }) => total + price.units * quantity.units, 0n);
          const sent = items.map(({ price, quantity }) => `${price.digits}*${quantity.digits}`);
          expect(await amountOf(t, client, sent)).toBe(plain(sum));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reaches the receiver with all its digits, under the signature', async () => {
    const { t, receiver, client } = await sendingTo();
    const amount = await amountOf(t, client, ['99999999999.9999*99999999999.9999', '0.1*3']);
    expect(amount).toBe('9999999999999980000000.30000001');
    await receiver.got(4);
    const sent = receiver.received.find(({ body }) => body.event === 'trade_return.credit_requested');
    if (!sent) return expect.unreachable('the event was not sent');
    expect(amountIn(sent.bytes.toString('utf8'))).toBe(amount);
    const signature = createHmac('sha256', client.webhookSecret).update(sent.bytes).digest('hex');
    expect(sent.headers['x-webhook-signature']).toBe(signature);
  });
});
