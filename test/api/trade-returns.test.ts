import { describe, expect, it } from 'vitest';
import {
  expectError,
  ISO,
  newRepair,
  newStaffRma,
  newTradeReturn,
  rowCounts,
  rulesOf,
  stopClock,
  UNKNOWN_ID,
  UUID7,
} from '../support/api.ts';
import { EMPTY_ITEM, TRADE_ITEM, tradeBody, wholeTradeBody } from '../support/bodies.ts';
import { withValue } from '../support/fields.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const create = (t: Harness, body: unknown = tradeBody()) => t.post('/trade-returns', body);

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
      items: [{ ...TRADE_ITEM, ...EMPTY_ITEM }],
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
    const created = await create(t, wholeTradeBody());
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...wholeTradeBody(),
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
      items: [{ ...TRADE_ITEM, ...EMPTY_ITEM }],
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
    await expectGuess(
      tradeBody({ items: [TRADE_ITEM, { ...TRADE_ITEM, skuu: 'x' }] }),
      'items.1.skuu',
      'sku',
    );
    // Fields of repairs, and of answers.
    const strangers = { status: 'TRADE_RESOLVED', id: UNKNOWN_ID, startStatus: 'x', faultyItem: TRADE_ITEM };
    expect(rulesOf(await create(t, tradeBody(strangers)))).toEqual({
      status: 'unknown',
      id: 'unknown',
      startStatus: 'unknown',
      faultyItem: 'unknown',
    });
    expect(rulesOf(await create(t, tradeBody({ items: [{ ...TRADE_ITEM, serialNumber: 'x' }] })))).toEqual({
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
