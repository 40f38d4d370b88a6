import { describe, expect, it } from 'vitest';
import { TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import { moveTradeReturn } from '../../src/trade-returns/actions.ts';
import {
  expectError,
  ISO,
  newRepair,
  newStaffRma,
  newTradeReturn,
  rowCounts,
  rulesOf,
  staffOf,
  stopClock,
  UNKNOWN_ID,
  UUID7,
} from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { at, checkText, type Field, withValue } from '../support/fields.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';
import { moveThrough, tradeReturnIn } from '../support/trade-moves.ts';

const harness = sharedHarness();

const create = (t: Harness, body: unknown = tradeBody()) => t.post('/trade-returns', body);
const ITEM = { sku: 'LAMP-OAK', productName: 'Oak table lamp', quantity: 4, price: 120.5 };
const EMPTY_ITEM = { variantTitle: null, weight: null, tradeLineItemId: null };

const everything = () =>
  tradeBody({
    customerPhone: '+61 3 9646 0000',
    items: [
      {
        ...ITEM,
        quantity: 2.5,
        price: 49.9501,
        variantTitle: 'Brushed steel',
        weight: 1.2345,
        tradeLineItemId: 'line-3',
      },
      { sku: 'B', productName: 'Second', quantity: 0.0001, price: 0, ...EMPTY_ITEM },
    ],
    orderDate: ' 2 Oct 2026 ',
    customerNotes: 'Two of four broken',
    faultDescription: 'Cracked base',
    additionalComment: 'Courier was told',
    externalRef: 'ERP-7',
    externalSource: 'erp',
  });

describe('creating a trade return', () => {
  it('answers 201 with every field, null where it is empty', async () => {
    const t = await harness();
    const { status, body } = await create(t);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID7),
      rmaNumber: '#RMA-000001',
      status: 'TRADE_SUBMITTED',
      externalRef: null,
      externalSource: null,
      tradeOrderNumber: 'TO-5501',
      customerEmail: 'buying@northwind.example',
      customerName: 'Nora Wind',
      customerPhone: null,
      companyName: 'Northwind Interiors',
      companyId: 'company-118',
      reason: 'Damaged in transit',
      items: [{ ...ITEM, ...EMPTY_ITEM }],
      shippingAddress: {
        street: '12 Harbour Road',
        suburb: 'Port Melbourne',
        state: 'VIC',
        postcode: '3207',
      },
      orderDate: null,
      customerNotes: null,
      faultDescription: null,
      additionalComment: null,
      createdAt: expect.stringMatching(ISO),
      statusSince: expect.stringMatching(ISO),
      updatedAt: expect.stringMatching(ISO),
    });
    expect(body.updatedAt).toBe(body.createdAt);
  });

  it('echoes every field it was given, at once and later', async () => {
    const t = await harness();
    const created = await create(t, everything());
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...everything(),
      id: expect.stringMatching(UUID7),
      rmaNumber: '#RMA-000001',
      status: 'TRADE_SUBMITTED',
      createdAt: expect.stringMatching(ISO),
      statusSince: expect.stringMatching(ISO),
      updatedAt: expect.stringMatching(ISO),
    });
    const read = await t.get(`/trade-returns/${created.body.id}`);
    expect([read.status, read.body]).toEqual([200, created.body]);
    expect((await t.get('/trade-returns')).body.items).toEqual([created.body]);
  });

  it('takes null as absent in every optional field', async () => {
    const t = await harness();
    const without = await newTradeReturn(t);
    const { id, rmaNumber, statusSince, createdAt, updatedAt, ...rest } = await newTradeReturn(t, {
      customerPhone: null,
      orderDate: null,
      customerNotes: null,
      faultDescription: null,
      additionalComment: null,
      externalRef: null,
      externalSource: null,
      items: [{ ...ITEM, ...EMPTY_ITEM }],
    });
    expect({ ...rest, id, rmaNumber, statusSince, createdAt, updatedAt }).toEqual({
      ...without,
      id,
      rmaNumber,
      createdAt,
      statusSince,
      updatedAt,
    });
    expect(rmaNumber).toBe('#RMA-000002');
  });

  it('is timed by the clock, and so is its id', async () => {
    const t = await harness();
    const atMs = Date.UTC(2026, 10, 15, 9, 30, 0, 7);
    stopClock(atMs);
    const { id, createdAt, updatedAt } = await newTradeReturn(t);
    expect([createdAt, updatedAt]).toEqual(['2026-11-15T09:30:00.007Z', '2026-11-15T09:30:00.007Z']);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(atMs);
  });

  it("takes its number from the shop's one row, with repairs and staff-created ones", async () => {
    const t = await harness();
    const other = await t.addShop();
    const numbers = [
      (await newTradeReturn(t)).rmaNumber,
      (await newRepair(t)).rmaNumber,
      (await newStaffRma(t, 'trade-returns')).rmaNumber,
      (await newStaffRma(t, 'offline-repairs')).rmaNumber,
      (await newTradeReturn(t)).rmaNumber,
    ];
    expect(numbers).toEqual(['#RMA-000001', '#RMA-000002', '#RMA-000003', '#RMA-000004', '#RMA-000005']);
    expect((await newTradeReturn(t, {}, { key: other.client.apiKey })).rmaNumber).toBe('#RMA-000001');
  });

  it('may be done twice with the same content: two returns', async () => {
    const t = await harness();
    const [one, two] = [
      await newTradeReturn(t, { externalRef: 'R' }),
      await newTradeReturn(t, { externalRef: 'R' }),
    ];
    expect(two.id).not.toBe(one.id);
    expect(await rowCounts(t)).toMatchObject({ repairs: 0, returns: 2, timeline: 2, used: 2 });
  });
});

describe('what a trade return needs', () => {
  const REQUIRED = Object.keys(tradeBody());
  const PARTS = ['street', 'suburb', 'state', 'postcode'];
  const ITEM_PARTS = ['sku', 'productName', 'quantity', 'price'];

  it('is told whole where nothing is there', async () => {
    const t = await harness();
    const required = (paths: string[]) => Object.fromEntries(paths.map((path) => [path, 'required']));
    const none = await create(t, {});
    expect(rulesOf(none)).toEqual(required(REQUIRED));
    expect(none.body.message).toContain('companyId is required');
    expect(rulesOf(await t.send('/trade-returns', { method: 'POST' }))).toEqual(required(REQUIRED));
    const hollow = await create(t, { items: [{}, {}], shippingAddress: {} });
    expect(rulesOf(hollow)).toEqual(
      required([
        ...REQUIRED.filter((name) => name !== 'items' && name !== 'shippingAddress'),
        ...[0, 1].flatMap((place) => ITEM_PARTS.map((name) => `items.${place}.${name}`)),
        ...PARTS.map((name) => `shippingAddress.${name}`),
      ]),
    );
    expect(await rowCounts(t)).toMatchObject({ returns: 0, used: 0 });
  });

  it('is each of its required fields: without one of them nothing is created', async () => {
    const t = await harness();
    for (const path of [
      ...REQUIRED,
      ...PARTS.map((name) => `shippingAddress.${name}`),
      ...ITEM_PARTS.map((name) => `items.0.${name}`),
    ]) {
      const without = await create(t, withValue(tradeBody(), path, undefined));
      expect(rulesOf(without)).toEqual({ [path]: 'required' });
      expect(without.body.message).toEqual([`${path} is required`]);
      expect(rulesOf(await create(t, withValue(tradeBody(), path, null)))).toEqual({ [path]: 'type' });
    }
    expect(await rowCounts(t)).toMatchObject({ returns: 0, used: 0 });
  });

  it('is nothing beyond the known fields; the nearest known name is offered', async () => {
    const t = await harness();
    const expectGuess = async (body: object, field: string, guess: string) => {
      const answer = await create(t, body);
      expect(rulesOf(answer)).toEqual({ [field]: 'unknown' });
      expect(answer.body.message[0]).toContain(`did you mean ${guess}?`);
    };
    await expectGuess(tradeBody({ tradeOrdrNumber: 'x' }), 'tradeOrdrNumber', 'tradeOrderNumber');
    await expectGuess(tradeBody({ CompanyID: 'x' }), 'CompanyID', 'companyId');
    await expectGuess(tradeBody({ order_date: 'x' }), 'order_date', 'orderDate');
    await expectGuess(
      withValue(tradeBody(), 'shippingAddress.postCode', '1'),
      'shippingAddress.postCode',
      'postcode',
    );
    await expectGuess(tradeBody({ items: [ITEM, { ...ITEM, skuu: 'x' }] }), 'items.1.skuu', 'sku');
    // Fields of repairs, and of answers.
    const strangers = { status: 'TRADE_RESOLVED', id: UNKNOWN_ID, startStatus: 'x', faultyItem: ITEM };
    expect(rulesOf(await create(t, tradeBody(strangers)))).toEqual({
      status: 'unknown',
      id: 'unknown',
      startStatus: 'unknown',
      faultyItem: 'unknown',
    });
    expect(rulesOf(await create(t, tradeBody({ items: [{ ...ITEM, serialNumber: 'x' }] })))).toEqual({
      'items.0.serialNumber': 'unknown',
    });
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const inItem = JSON.stringify(tradeBody()).replace('{"sku"', `{"${name}":1,"sku"`);
      expect(rulesOf(await create(t, inItem))).toEqual({ [`items.0.${name}`]: 'unknown' });
    }
  });

  it('is in JSON that names no field twice, inside items either', async () => {
    const t = await harness();
    const good = JSON.stringify(tradeBody());
    for (const body of [
      good.replace('{', '{"companyId":"x",'),
      good.replace('{"sku"', '{"\\u0073ku":"A","sku"'),
      good.slice(0, -1),
    ])
      expectError(await create(t, body), 400);
    expect((await rowCounts(t)).returns).toBe(0);
  });
});

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
    Array.from({ length: count }, (_, index) => ({ ...ITEM, sku: `SKU-${index}`, quantity: index + 1 }));

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
    const { body } = await send(t, [ITEM, ITEM]);
    expect(body.items).toEqual([
      { ...ITEM, ...EMPTY_ITEM },
      { ...ITEM, ...EMPTY_ITEM },
    ]);
  });

  it('are an array of objects', async () => {
    const t = await harness();
    for (const wrong of [ITEM, { 0: ITEM, length: 1 }, 'LAMP-OAK', 1, true])
      expect({ wrong, rules: rulesOf(await send(t, wrong)) }).toEqual({ wrong, rules: { items: 'type' } });
    for (const wrong of [null, 1, 'LAMP-OAK', [ITEM]])
      expect({ wrong, rules: rulesOf(await send(t, [ITEM, wrong])) }).toEqual({
        wrong,
        rules: { 'items.1': 'type' },
      });
  });

  it('are told of all their faults at once, each with its place', async () => {
    const t = await harness();
    const answer = await send(t, [
      { ...ITEM, quantity: 0 },
      ITEM,
      { ...ITEM, price: -0.01, sku: ' ' },
      { ...ITEM, weight: '1', tradeLineItemId: 'x'.repeat(129) },
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

const list = async (t: Harness, query: Record<string, string> = {}) => {
  const { status, body } = await t.get(`/trade-returns?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return body;
};
const found = async (t: Harness, query: Record<string, string>): Promise<number[]> =>
  (await list(t, query)).items.map(({ rmaNumber }: { rmaNumber: string }) =>
    Number(rmaNumber.slice('#RMA-'.length)),
  );
describe('the list of trade returns', () => {
  it("has the repairs' shape, newest first, and pages that hold each return once", async () => {
    const t = await harness();
    expect(await list(t)).toEqual({ items: [], total: 0, page: 1, limit: 20, totalPages: 0 });
    for (let index = 0; index < 23; index += 1) await newTradeReturn(t);
    const all = Array.from({ length: 23 }, (_, index) => 23 - index);
    const first = await list(t);
    expect(Object.keys(first).sort()).toEqual(['items', 'limit', 'page', 'total', 'totalPages']);
    expect(first).toMatchObject({ total: 23, page: 1, limit: 20, totalPages: 2 });
    expect(await found(t, {})).toEqual(all.slice(0, 20));
    expect(await found(t, { page: '2' })).toEqual(all.slice(20));
    expect(await list(t, { page: '3' })).toEqual({ items: [], total: 23, page: 3, limit: 20, totalPages: 2 });
    const pages = await Promise.all(['1', '2', '3', '4', '5'].map((page) => found(t, { page, limit: '5' })));
    expect(pages.flat()).toEqual(all);
    expect(await list(t, { limit: '100' })).toMatchObject({ limit: 100, totalPages: 1 });
    expect(await found(t, { limit: '1', page: '23' })).toEqual([1]);
  });

  it('shows each return as reading it alone does, and keeps its order when they change', async () => {
    const t = await harness();
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push((await newTradeReturn(t, everything())).id);
    await moveThrough(t, ids[2] as string, ['approve', 'receive']);
    await moveThrough(t, ids[0] as string, ['reject']);
    expect(await found(t, {})).toEqual([4, 3, 2, 1]);
    for (const item of (await list(t)).items)
      expect(item).toEqual((await t.get(`/trade-returns/${item.id}`)).body);
  });

  it('refuses pages and limits outside their bounds, and what it does not know', async () => {
    const t = await harness();
    const rules = async (query: string) => rulesOf(await t.get(`/trade-returns?${query}`));
    for (const name of ['page', 'limit'])
      for (const value of ['0', '-1', '1.5', '', 'one', ...(name === 'limit' ? ['101'] : [])])
        expect(Object.keys(await rules(`${name}=${value}`))).toEqual([name]);
    expect(Object.keys(await rules('page=1&page=2'))).toEqual(['page']);
    // What narrows the other kind's list, and what only staff may ask.
    for (const name of ['orderNumber', 'storeId', 'q', 'origin', 'sku'])
      expect(await rules(`${name}=x`)).toEqual({ [name]: 'unknown' });
    expect((await t.get('/trade-returns?companyid=x')).body.message[0]).toContain('did you mean companyId?');
    const { id } = await newTradeReturn(t);
    expect(rulesOf(await t.get(`/trade-returns/${id}?page=1`))).toEqual({ page: 'unknown' });
    expect(rulesOf(await t.get(`/trade-returns/${id}/timeline?status=x`))).toEqual({ status: 'unknown' });
  });

  it('by status finds what is in that status now', async () => {
    const t = await harness();
    for (const status of TRADE_RETURN_STATUSES) await tradeReturnIn(t, status);
    const byStatus = await Promise.all(TRADE_RETURN_STATUSES.map((status) => found(t, { status })));
    expect(byStatus).toEqual([[1], [2], [3], [4], [5], [6]]);
  });

  it('by an unknown status is a 400 that names the known ones', async () => {
    const t = await harness();
    for (const status of ['DONE', 'trade_submitted', '', 'OFFLINE_REPAIR']) {
      const answer = await t.get(`/trade-returns?status=${status}`);
      expect(rulesOf(answer)).toEqual({ status: 'oneOf' });
      for (const known of TRADE_RETURN_STATUSES) expect(answer.body.message[0]).toContain(known);
    }
  });

  it.each(['externalRef', 'externalSource', 'tradeOrderNumber', 'companyId'])(
    'by %s finds exactly that',
    async (name) => {
      const t = await harness();
      const values = ['A-1', 'A-10', 'a-1', 'A_1', 'A%1', "A'1", 'Ä 1', 'A-1'];
      for (const value of values) await newTradeReturn(t, { [name]: value });
      await newTradeReturn(t);
      expect(await found(t, { [name]: 'A-1' })).toEqual([8, 1]);
      expect(await found(t, { [name]: ' A-1 ' })).toEqual([8, 1]);
      for (const [index, value] of values.entries())
        if (value !== 'A-1') expect(await found(t, { [name]: value })).toEqual([index + 1]);
      expect(await list(t, { [name]: 'A' })).toMatchObject({ items: [], total: 0, totalPages: 0 });
      expect(await found(t, { [name]: 'x'.repeat(128) })).toEqual([]);
      const refused = async (query: string) => Object.keys(rulesOf(await t.get(`/trade-returns?${query}`)));
      expect(await refused(`${name}=${'x'.repeat(129)}`)).toEqual([name]);
      expect(await refused(`${name}=a%00b`)).toEqual([name]);
      expect(await refused(`${name}=`)).toEqual([name]);
      expect(await refused(`${name}=a&${name}=b`)).toEqual([name]);
    },
  );

  it('by customerEmail finds exactly that address', async () => {
    const t = await harness();
    const addresses = [
      'a@b.co',
      'a+1@b.co',
      'aa@b.co',
      "o'neil@b.co",
      'a_1@b.co',
      'zoë@exämple.com',
      'a@b.co',
    ];
    for (const customerEmail of addresses) await newTradeReturn(t, { customerEmail });
    expect(await found(t, { customerEmail: 'a@b.co' })).toEqual([7, 1]);
    expect(await found(t, { customerEmail: ' a@b.co ' })).toEqual([7, 1]);
    for (const [index, customerEmail] of addresses.entries())
      if (customerEmail !== 'a@b.co') expect(await found(t, { customerEmail })).toEqual([index + 1]);
    expect(await found(t, { customerEmail: '%@b.co' })).toEqual([]);
    const refused = async (query: string) => Object.keys(rulesOf(await t.get(`/trade-returns?${query}`)));
    for (const wrong of ['x'.repeat(256), '', 'a%00b'])
      expect(await refused(`customerEmail=${wrong}`)).toEqual(['customerEmail']);
  });

  it('by updatedSince finds what changed at that time or after it', async () => {
    const t = await harness();
    const one = await newTradeReturn(t);
    t.clock.advance(60_000);
    const two = await newTradeReturn(t);
    const later = (iso: string, ms: number) => new Date(Date.parse(iso) + ms).toISOString();
    expect(await found(t, { updatedSince: one.updatedAt })).toEqual([2, 1]);
    expect(await found(t, { updatedSince: later(one.updatedAt, 1) })).toEqual([2]);
    expect(await found(t, { updatedSince: two.updatedAt })).toEqual([2]);
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([]);
    t.clock.advance(60_000);
    const moved = await moveTradeReturn(t.ctx, staffOf(t), one.id, 'approve', null);
    expect(await found(t, { updatedSince: later(two.updatedAt, 1) })).toEqual([1]);
    const elsewhere = later(moved.updatedAt, 2 * 60 * 60_000).replace('Z', '+02:00');
    expect(await found(t, { updatedSince: elsewhere })).toEqual([1]);
    for (const wrong of ['yesterday', '2026-11-15', '2026-02-30T00:00:00Z', ''])
      expect(rulesOf(await t.get(`/trade-returns?${new URLSearchParams({ updatedSince: wrong })}`))).toEqual({
        updatedSince: 'format',
      });
  });

  it('takes all its filters together', async () => {
    const t = await harness();
    const marks = {
      externalRef: 'R',
      externalSource: 'S',
      tradeOrderNumber: 'O',
      companyId: 'C',
      customerEmail: 'c@b.co',
    };
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.push((await newTradeReturn(t, marks)).id);
    for (const name of Object.keys(marks))
      await newTradeReturn(t, { ...marks, [name]: name === 'customerEmail' ? 'd@b.co' : 'other' });
    await moveThrough(t, ids[1] as string, ['approve']);
    const all = { ...marks, status: 'TRADE_SUBMITTED', updatedSince: '2000-01-01T00:00:00Z' };
    expect(await found(t, all)).toEqual([3, 1]);
    expect(await list(t, { ...all, limit: '1', page: '2' })).toMatchObject({
      total: 2,
      totalPages: 2,
      items: [{ id: ids[0] }],
    });
    expect(await found(t, { ...all, status: 'TRADE_APPROVED' })).toEqual([2]);
    expect(await found(t, { ...all, updatedSince: '2100-01-01T00:00:00Z' })).toEqual([]);
  });
});

describe("a trade return's timeline", () => {
  it('opens with its creation, by the client that made it', async () => {
    const t = await harness();
    const { id, createdAt } = await newTradeReturn(t, everything());
    const { status, body } = await t.get(`/trade-returns/${id}/timeline`);
    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          id: expect.stringMatching(UUID7),
          type: 'CREATED',
          at: createdAt,
          actor: { type: 'API_CLIENT', id: t.client.id, name: 'Till' },
          fromStatus: null,
          toStatus: 'TRADE_SUBMITTED',
          note: null,
          data: {},
        },
      ],
      total: 1,
      page: 1,
      limit: 500,
      totalPages: 1,
    });
  });

  it("goes on with staff's moves, oldest first", async () => {
    const t = await harness();
    const { id } = await newTradeReturn(t);
    await newTradeReturn(t);
    await moveThrough(t, id, ['approve', 'receive', 'request-credit', 'resolve']);
    const { items } = (await t.get(`/trade-returns/${id}/timeline`)).body;
    expect(
      items.map(({ type, fromStatus, toStatus }: Record<string, string>) => [type, fromStatus, toStatus]),
    ).toEqual([
      ['CREATED', null, 'TRADE_SUBMITTED'],
      ['STATUS_CHANGED', 'TRADE_SUBMITTED', 'TRADE_APPROVED'],
      ['STATUS_CHANGED', 'TRADE_APPROVED', 'TRADE_RECEIVED'],
      ['CREDIT_REQUESTED', 'TRADE_RECEIVED', 'TRADE_CREDIT_REQUESTED'],
      ['RESOLVED', 'TRADE_CREDIT_REQUESTED', 'TRADE_RESOLVED'],
    ]);
    const times = items.map((entry: { at: string }) => entry.at);
    expect([...new Set(times)].sort()).toEqual(times);
  });

  it('is a 404 for an id that names no trade return', async () => {
    const t = await harness();
    for (const id of [UNKNOWN_ID, 'x', (await newRepair(t)).id]) {
      expectError(await t.get(`/trade-returns/${id}/timeline`), 404);
      expectError(await t.get(`/trade-returns/${id}`), 404);
    }
  });
});
