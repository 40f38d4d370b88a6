import { describe, expect, it } from 'vitest';
import { rowCounts, rulesOf } from '../support/api.ts';
import { EMPTY_ITEM, TRADE_ITEM, tradeBody } from '../support/bodies.ts';
import { at, checkText, type Field, withValue } from '../support/fields.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const create = (t: Harness, body: unknown = tradeBody()) => t.post('/trade-returns', body);

const TEXTS: Field[] = [
  { path: 'tradeOrderNumber', max: 128, required: true },
  { path: 'customerName', max: 255, required: true },
  { path: 'companyName', max: 255, required: true },
  { path: 'companyId', max: 128, required: true },
  { path: 'reason', max: 5000, required: true },
  { path: 'items.0.sku', max: 128, required: true },
  { path: 'items.0.productName', max: 255, required: true },
  { path: 'items.0.variantTitle', max: 255 },
  { path: 'items.0.tradeLineItemId', max: 128 },
  { path: 'shippingAddress.street', max: 255, required: true },
  { path: 'shippingAddress.suburb', max: 255, required: true },
  { path: 'shippingAddress.state', max: 255, required: true },
  { path: 'shippingAddress.postcode', max: 128, required: true },
  { path: 'customerPhone', max: 255 },
  { path: 'customerNotes', max: 5000 },
  { path: 'faultDescription', max: 5000 },
  { path: 'additionalComment', max: 5000 },
  { path: 'externalRef', max: 128 },
  { path: 'externalSource', max: 128 },
];

describe('texts of a trade return', () => {
  it('keep to their lengths and types, and are trimmed', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    for (const field of TEXTS)
      await checkText({ shown: field.path, ...field }, (value) =>
        create(t, withValue(tradeBody(), field.path, value)),
      );
  });

  it('must be an e-mail address in customerEmail', async () => {
    const t = await harness();
    const send = (customerEmail: unknown) => create(t, tradeBody({ customerEmail }));
    for (const good of ["o'neil+returns@mail.example.co.uk", 'zoë@exämple.com'])
      expect((await send(good)).body.customerEmail).toBe(good);
    expect((await send(' a@b.co ')).body.customerEmail).toBe('a@b.co');
    for (const bad of ['ada', 'ada@', '@example.com', 'ada@example', 'a b@example.com', ''])
      expect(rulesOf(await send(bad))).toEqual({ customerEmail: 'format' });
    const address = (length: number) => `ada@${'x'.repeat(length - 'ada@.com'.length)}.com`;
    expect((await send(address(255))).status).toBe(201);
    expect(rulesOf(await send(address(256)))).toEqual({ customerEmail: 'maxLength' });
  });

  it('are echoed to the letter in orderDate, whatever they say', async () => {
    const t = await harness();
    const send = (orderDate: unknown) => create(t, tradeBody({ orderDate }));
    for (const orderDate of [
      '2026-10-02',
      '02/10/26',
      '  2 Oct 2026\t\n',
      '',
      ' ',
      '\ufeff2026',
      'null',
      'last week 🙂',
      '2026-13-45T99:99:99Z',
      'x'.repeat(255),
      ` ${'x'.repeat(253)} `,
    ]) {
      const { status, body } = await send(orderDate);
      expect({ orderDate, status, told: body.orderDate }).toEqual({
        orderDate,
        status: 201,
        told: orderDate,
      });
      expect((await t.get(`/trade-returns/${body.id}`)).body.orderDate).toBe(orderDate);
    }
    for (const absent of [null, undefined]) expect((await send(absent)).body.orderDate).toBeNull();
    expect(rulesOf(await send('x'.repeat(256)))).toEqual({ orderDate: 'maxLength' });
    expect(rulesOf(await send('2026\0'))).toEqual({ orderDate: 'nul' });
    expect(rulesOf(await send('\udc00'))).toEqual({ orderDate: 'unicode' });
    for (const wrong of [20261002, true, {}, ['2026-10-02']])
      expect(rulesOf(await send(wrong))).toEqual({ orderDate: 'type' });
  });
});

describe('items', () => {
  const send = (t: Harness, items: unknown) => create(t, tradeBody({ items }));
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...TRADE_ITEM,
      sku: `SKU-${index}`,
      quantity: index + 1,
    }));

  it('are one to 250, kept in their order', async () => {
    const t = await harness();
    for (const count of [1, 2, 249, 250]) {
      const { status, body } = await send(t, many(count));
      expect(status).toBe(201);
      const expected = many(count).map((item) => ({ ...item, ...EMPTY_ITEM }));
      expect(body.items).toEqual(expected);
      expect((await t.get(`/trade-returns/${body.id}`)).body.items).toEqual(expected);
    }
    expect(rulesOf(await send(t, []))).toEqual({ items: 'minItems' });
    for (const count of [251, 252, 1000])
      expect(rulesOf(await send(t, many(count)))).toEqual({ items: 'maxItems' });
    expect((await rowCounts(t)).returns).toBe(4);
  });

  it('may be the same thing twice', async () => {
    const t = await harness();
    const { body } = await send(t, [TRADE_ITEM, TRADE_ITEM]);
    expect(body.items).toEqual([
      { ...TRADE_ITEM, ...EMPTY_ITEM },
      { ...TRADE_ITEM, ...EMPTY_ITEM },
    ]);
  });

  it('are an array of objects', async () => {
    const t = await harness();
    for (const wrong of [TRADE_ITEM, { 0: TRADE_ITEM, length: 1 }, 'LAMP-OAK', 1, true])
      expect({ wrong, rules: rulesOf(await send(t, wrong)) }).toEqual({ wrong, rules: { items: 'type' } });
    for (const wrong of [null, 1, 'LAMP-OAK', [TRADE_ITEM]])
      expect({ wrong, rules: rulesOf(await send(t, [TRADE_ITEM, wrong])) }).toEqual({
        wrong,
        rules: { 'items.1': 'type' },
      });
  });

  it('are told of all their faults at once, each with its place', async () => {
    const t = await harness();
    const answer = await send(t, [
      { ...TRADE_ITEM, quantity: 0 },
      TRADE_ITEM,
      { ...TRADE_ITEM, price: -0.01, sku: ' ' },
      { ...TRADE_ITEM, weight: '1', tradeLineItemId: 'x'.repeat(129) },
    ]);
    expect(rulesOf(answer)).toEqual({
      'items.0.quantity': 'min',
      'items.2.price': 'min',
      'items.2.sku': 'notEmpty',
      'items.3.weight': 'type',
      'items.3.tradeLineItemId': 'maxLength',
    });
  });
});

describe('numbers of an item', () => {
  const NAMES = ['quantity', 'price', 'weight'];
  /** The number as its digits in the body's text. */
  const sendDigits = (t: Harness, name: string, digits: string): Promise<Answer> =>
    create(
      t,
      JSON.stringify(withValue(tradeBody(), `items.0.${name}`, 'DIGITS')).replace('"DIGITS"', digits),
    );

  it('keep up to four decimals exactly', async () => {
    const t = await harness();
    for (const digits of [
      '0.1',
      '0.3',
      '1.005',
      '4.35',
      '19.99',
      '0.0001',
      '1234567.8901',
      '99999999999.9999',
      '100000000000',
      '1e2',
      '1.0000',
    ])
      for (const name of NAMES) {
        const created = await sendDigits(t, name, digits);
        const again = await t.get(`/trade-returns/${created.body.id}`);
        const path = `items.0.${name}`;
        expect({ digits, name, now: at(created.body, path), later: at(again.body, path) }).toEqual({
          digits,
          name,
          now: Number(digits),
          later: Number(digits),
        });
      }
  });

  it('that carry the noise of a sum in binary are read as the decimals that were meant', async () => {
    const t = await harness();
    for (const [sum, meant] of [
      [0.1 + 0.2, 0.3],
      [1.1 * 3, 3.3],
      [0.7 + 0.1, 0.8],
    ] as const)
      for (const name of NAMES)
        expect(at((await sendDigits(t, name, String(sum))).body, `items.0.${name}`)).toBe(meant);
  });

  it('have their bounds, their type and their decimals', async () => {
    const t = await harness();
    const rules = async (name: string, digits: string) =>
      Object.values(rulesOf(await sendDigits(t, name, digits)));
    for (const name of NAMES) {
      for (const wrong of ['"1"', 'true', '[1]', '{}']) expect(await rules(name, wrong)).toEqual(['type']);
      for (const digits of ['0.12345', '99999.99999'])
        expect(await rules(name, digits)).toEqual(['decimals']);
      for (const digits of ['1e400', '1e308', '100000000000.1'])
        expect(await rules(name, digits)).toHaveLength(1);
      expect(await rules(name, '-0.0001')).toEqual(['min']);
    }
    expect(await rules('quantity', '0')).toEqual(['min']);
    for (const name of ['price', 'weight'])
      expect(at((await sendDigits(t, name, '0')).body, `items.0.${name}`)).toBe(0);
    expect((await rowCounts(t)).returns).toBe(2);
  });

  it('with more than four decimals are refused rather than changed, however large they are', async () => {
    const t = await harness();
    for (const digits of ['12345678901.12345', '99999999999.12345'])
      expect({ digits, rules: rulesOf(await sendDigits(t, 'price', digits)) }).toEqual({
        digits,
        rules: { 'items.0.price': 'decimals' },
      });
  });
});
