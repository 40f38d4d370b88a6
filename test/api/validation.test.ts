import { describe, expect } from 'vitest';
import { newRepair, newRma, rowCounts, rulesOf } from '../support/api.ts';
import { EMPTY_ITEM, repairBody, TRADE_ITEM, tradeBody } from '../support/bodies.ts';
import { at, withValue } from '../support/fields.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, sharedHarness } from '../support/harness.ts';
import { KINDS } from '../support/kinds.ts';
import { checkTexts, type TextField } from '../support/texts.ts';

const harness = sharedHarness();
const it = itWith(harness);

type Body = Record<string, unknown>;

const NUMBERS = ['quantity', 'price', 'weight'];
const everyOne = (paths: string[], rule: string) => Object.fromEntries(paths.map((path) => [path, rule]));
const expectGuess = (response: ApiResponse, field: string, guess: string) => {
  expect(rulesOf(response)).toMatchObject({ [field]: 'unknown' });
  const { message } = response.body.errors.find((error: { field: string }) => error.field === field);
  expect(message).toContain(`did you mean ${guess}?`);
};

describe.each(KINDS)('a body at $path', ({ kind, path, body, ...row }) => {
  const required = Object.keys(body());
  const create = (t: Harness, sent: unknown) => t.post(path, sent);

  it('has texts that are checked for length and type, and trimmed', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    await checkTexts(row.texts, row.whole(), (sent) => create(t, sent));
  });

  it('has a valid email address, in any script', async ({ t }) => {
    const send = (customerEmail: unknown) => create(t, body({ customerEmail }));
    const address = (length: number) => `ada@${'x'.repeat(length - 'ada@.com'.length)}.com`;
    const international = ['zoë@exämple.com', '用户@例子.广告'];
    for (const good of ['a@b.co', "o'neil+returns@mail.example.co.uk", ...international, address(255)])
      expect((await send(`  ${good} `)).body.customerEmail).toBe(good);
    for (const [rule, ...wrong] of [
      ['format', 'ada', 'ada@', '@example.com', 'ada@example', 'a b@example.com', 'ada@@example.com', ''],
      ['format', 'ada@example.com\u200b', 'a\u00adda@example.com'],
      ['maxLength', address(256)],
      ['required', undefined],
      ['type', 1, null, {}, ['ada@example.com']],
    ])
      for (const bad of wrong) expect(rulesOf(await send(bad)), String(bad)).toEqual({ customerEmail: rule });
    expect(Object.keys(rulesOf(await send('ada\0@example.com')))).toEqual(['customerEmail']);
  });

  it('that is missing or empty gets an error for each required field', async ({ t }) => {
    const none = await create(t, {});
    expect(rulesOf(none)).toEqual(everyOne(required, 'required'));
    expect(none.body.message).toContain('customerName is required');
    expect(rulesOf(await t.send(path, { method: 'POST' }))).toEqual(everyOne(required, 'required'));
    const missing = [...required.filter((name) => !(name in row.hollow)), ...row.hollowNeeds];
    expect(rulesOf(await create(t, row.hollow))).toEqual(everyOne(missing, 'required'));
    const nulls = Object.fromEntries(required.map((name) => [name, null]));
    expect(rulesOf(await create(t, nulls))).toEqual(everyOne(required, 'type'));
    expect(await rowCounts(t)).toMatchObject({ [row.rows]: 0, used: 0 });
  });

  it('without one of its required fields creates nothing', async ({ t }) => {
    const inside = row.hollowNeeds.filter((name) => !name.startsWith('items.1'));
    for (const field of [...required, ...inside]) {
      const without = await create(t, withValue(row.whole(), field, undefined));
      expect(rulesOf(without)).toEqual({ [field]: 'required' });
      expect(without.body.message).toEqual([`${field} is required`]);
    }
    const nulls = inside.reduce((sent, field) => withValue(sent, field, null), row.whole());
    expect(rulesOf(await create(t, nulls))).toEqual(everyOne(inside, 'type'));
    expect(await rowCounts(t)).toMatchObject({ [row.rows]: 0, used: 0 });
  });

  it('has no unknown fields, at any level', async ({ t }) => {
    const strangers = everyOne(Object.keys(row.strangers), 'unknown');
    expect(rulesOf(await create(t, body(row.strangers)))).toEqual(strangers);
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const inside = JSON.stringify(body()).replace('{', `{"${name}":{"customerName":"x"},`);
      expect(rulesOf(await create(t, inside))).toEqual({ [name]: 'unknown' });
      const deeper = JSON.stringify(body()).replace('{"sku"', `{"${name}":1,"sku"`);
      expect(rulesOf(await create(t, deeper))).toEqual({ [`${row.item}.${name}`]: 'unknown' });
    }
  });

  it('is an object, like the objects in it', async ({ t }) => {
    for (const wrong of ['[]', '[{}]', '"text"', '1', 'true', 'null'])
      expect(rulesOf(await create(t, wrong))).toEqual({ body: 'type' });
    const misshapen = everyOne(Object.keys(row.misshapen), 'type');
    expect(rulesOf(await create(t, body(row.misshapen)))).toEqual(misshapen);
  });

  it('is JSON in UTF-8 without duplicate fields', async ({ t }) => {
    const good = JSON.stringify(body({ customerName: 'Ada' }));
    const broken = ['{', good.slice(0, -1), `${good}}`, `${good}${good}`, good.replace('}', ',}')];
    const noJson = ['orderNumber=SO-1', good.replaceAll('"', "'")];
    const doubled = [
      ['{', '{"customerName":"x",'],
      ['{"sku"', '{"\\u0073ku":"A","sku"'],
    ] as const;
    const badText = [
      ['Ada', 'A\u0001da'],
      ['Ada', 'A\\qda'],
    ] as const;
    const changed = [...doubled, ...badText].map(([part, other]) => good.replace(part, other));
    for (const sent of [...broken, ...noJson, ...changed]) expect(await create(t, sent)).toFailWith(400);
    const bytes = Buffer.from(good.replace('Ada', 'Ad~'));
    bytes[bytes.indexOf('~')] = 0xff;
    expect(await create(t, bytes)).toFailWith(400);
    expect((await rowCounts(t))[row.rows]).toBe(0);
  });

  it('has no unknown query parameters', async ({ t }) => {
    const rules = async (asked: string) => rulesOf(await t.get(`${path}${asked}`));
    const { id } = await newRma(t, kind);
    expectGuess(await t.get(`${path}?stauts=x`), 'stauts', 'status');
    expectGuess(await t.get(`${path}?externalref=x`), 'externalref', 'externalRef');
    const unknown = ['Page', 'LIMIT', '__proto__', ...row.foreignFilters];
    const query = unknown.map((name) => `${name}=x`).join('&');
    expect(await rules(`?${query}`)).toEqual(everyOne(unknown, 'unknown'));
    expect(await rules(`/${id}?page=1`)).toEqual({ page: 'unknown' });
    expect(await rules(`/${id}/timeline?status=x`)).toEqual({ status: 'unknown' });
    const wrong = { externalRef: 'unicode' };
    for (const value of ['%ff', '%zz', '%', 'SN-%E2%82', '%ed%a0%80'])
      expect(await rules(`?externalRef=${value}&externalSource=%C3%A9`), value).toEqual(wrong);
    expect(await rules('?%ff=1')).toMatchObject({ query: 'unicode' });
    const response = await t.get(`${path}?externalRef=%C3%A9%25+%2B`);
    expect(response, 'what is well encoded').toHaveStatus(200);
  });
});

describe.each(KINDS)('numbers of an item at $path', ({ path, item, whole, ...row }) => {
  const pathsOf = (names: string[]) => names.map((name) => `${item}.${name}`);
  /** The same digits as each of these numbers, as the text of the body has them. */
  const send = (t: Harness, digits: string, names = NUMBERS) => {
    const marked = pathsOf(names).reduce((body, place) => withValue(body, place, 'DIGITS'), whole());
    return t.post(path, JSON.stringify(marked).replaceAll('"DIGITS"', digits));
  };
  const rules = async (t: Harness, digits: string, names = NUMBERS) => rulesOf(await send(t, digits, names));
  const shown = ({ body }: ApiResponse, names = NUMBERS) => pathsOf(names).map((place) => at(body, place));

  it('are not converted from strings or anything else', async ({ t }) => {
    for (const wrong of ['"1"', '""', 'true', 'false', '[]', '[1]', '{}'])
      expect(await rules(t, wrong), wrong).toEqual(everyOne(pathsOf(NUMBERS), 'type'));
    for (const value of [undefined, null]) {
      const { body } = await t.post(path, withValue(whole(), `${item}.weight`, value));
      expect(at(body, `${item}.weight`)).toBeNull();
    }
    expect((await rowCounts(t))[row.rows]).toBe(2);
  });

  it('have a lower bound: a quantity above 0, a price and weight of at least 0', async ({ t }) => {
    for (const digits of ['-0.0001', '-1'])
      expect(await rules(t, digits)).toEqual(everyOne(pathsOf(NUMBERS), 'min'));
    expect(await rules(t, '0')).toEqual({ [`${item}.quantity`]: 'min' });
    expect(shown(await send(t, '0.0001'))).toEqual([0.0001, 0.0001, 0.0001]);
    // However small, never a quantity of 0.
    for (const digits of ['0.00001', '1e-13', '5e-324', '1e-400'])
      expect(Object.keys(await rules(t, digits, ['quantity']))).toEqual([`${item}.quantity`]);
  });

  it('cost at most 10^15 as price times quantity', async ({ t }) => {
    const one = (price: number, quantity: number) => {
      const sent = withValue(withValue(whole(), `${item}.price`, price), `${item}.quantity`, quantity);
      return t.post(path, sent);
    };
    const before = await rowCounts(t);
    expect(rulesOf(await one(1e11, 10_000.1))).toEqual({ [`${item}.price`]: 'max' });
    expect(await rowCounts(t)).toEqual(before);
    expect(await one(1e11, 9_000)).toHaveStatus(201);
  });

  it('that are too small for a double are refused, not read as 0', async ({ t }) => {
    const fromZero = ['price', 'weight'];
    const tiny = ['1e-400', '0.5E-0400', '1000e-500', `0.${'0'.repeat(400)}1`, `0.${'0'.repeat(230)}1e-99`];
    for (const digits of tiny) {
      expect(await rules(t, digits, fromZero)).toEqual(everyOne(pathsOf(fromZero), 'decimals'));
      expect(Object.keys(await rules(t, `-${digits}`, fromZero))).toEqual(pathsOf(fromZero));
    }
    for (const digits of ['0', '-0', '0.0', '0e-400', `0.${'0'.repeat(400)}`, `-0.${'0'.repeat(400)}e-400`])
      expect(shown(await send(t, digits, fromZero), fromZero)).toEqual([0, 0]);
    const words = { externalSource: '1e-400', externalRef: '0.5E-999' };
    expect((await t.post(path, { ...whole(), ...words })).body).toMatchObject(words);
  });

  it('are finite and have an upper bound', async ({ t }) => {
    for (const digits of ['1e400', '-1e400', '1e308', '100000000000.1'])
      expect(Object.keys(await rules(t, digits))).toEqual(pathsOf(NUMBERS));
    for (const digits of ['NaN', 'Infinity', '-Infinity', '0x10', '01', '1.', '.5', '+1'])
      expect(await send(t, digits, ['price'])).toFailWith(400);
  });

  it('keep up to four decimals exactly', async ({ t }) => {
    const large = ['1234567.8901', '99999999999.9999', '100000000000'];
    for (const digits of [...'0.1 0.3 1.005 1.1 4.35 19.99 49.95 0.0001 1.0000 1e2'.split(' '), ...large]) {
      // Together, the largest ones would cost too much.
      for (const names of [
        ['quantity', 'weight'],
        ['price', 'weight'],
      ]) {
        const created = await send(t, digits, names);
        const again = await t.get(`${path}/${created.body.id}`);
        const expected = names.map(() => Number(digits));
        expect([shown(created, names), shown(again, names)]).toEqual([expected, expected]);
      }
    }
  });

  it('with floating-point noise are read as the decimals that were meant', async ({ t }) => {
    for (const [sum, meant] of [
      [0.1 + 0.2, 0.3],
      [1.1 * 3, 3.3],
      [0.7 + 0.1, 0.8],
    ] as const)
      expect(shown(await send(t, String(sum)))).toEqual([meant, meant, meant]);
  });

  it('with more than four decimals are refused rather than rounded, also large ones', async ({ t }) => {
    const large = ['100000000.12345', '12345678901.12345', '99999999999.12345'];
    for (const digits of ['0.12345', '1.00001', '99999.99999', ...large])
      expect(await rules(t, digits), digits).toEqual(everyOne(pathsOf(NUMBERS), 'decimals'));
  });
});

describe('a repair', () => {
  const NOTES: TextField = { path: 'notes', shown: null, max: 5000 };
  const TRACKING_NUMBER: TextField = { path: 'trackingNumber', max: 128, required: true };
  const CARRIER: TextField = { path: 'carrierName', max: 255, required: true };
  const REPAIR_NOTES: TextField = { path: 'repairNotes', max: 5000 };
  const ACTION_TEXTS: [action: string, fields: TextField[], rest: Body][] = [
    ['tracking', [TRACKING_NUMBER, CARRIER], {}],
    ['begin-diagnostics', [NOTES], {}],
    ['begin-repair', [REPAIR_NOTES, { path: 'assignedToId', max: 128 }], {}],
    ['resolve', [NOTES], { offlineDisposition: 'WRITE_OFF' }],
  ];

  it.each(ACTION_TEXTS)('has texts in %s that follow the same rules', async (action, fields, rest) => {
    const t = await harness({ plan: 'ENTERPRISE' });
    // A new repair for each value: begin-repair keeps what an earlier call set.
    await checkTexts(fields, rest, async (body) =>
      t.post(`/offline-repairs/${(await newRepair(t)).id}/${action}`, body),
    );
  });

  it('gets all its errors at once, each starting with its path', async ({ t }) => {
    const body = {
      customerEmail: 'ada',
      customerName: '',
      faultyItem: { quantity: 0, price: '1', colour: 'red' },
      startStatus: 'NEW',
      tracking: { carrierName: 'DHL' },
      stroeId: 'store-7',
    };
    const headers = { 'idempotency-key': 'x'.repeat(256) };
    const response = await t.post('/offline-repairs?limit=1', body, { headers });
    const missing = ['orderNumber', 'faultDescription', 'storeId', 'tracking.trackingNumber'];
    expect(rulesOf(response)).toEqual({
      ...everyOne([...missing, 'faultyItem.sku', 'faultyItem.productName'], 'required'),
      ...everyOne(['limit', 'faultyItem.colour', 'stroeId'], 'unknown'),
      ...everyOne(['Idempotency-Key', 'customerEmail'], 'format'),
      customerName: 'notEmpty',
      'faultyItem.quantity': 'min',
      'faultyItem.price': 'type',
      startStatus: 'oneOf',
    });
    expect(response.body.message).toContain('faultyItem.sku is required');
    expect(await rowCounts(t)).toMatchObject({ repairs: 0, used: 0 });
  });

  it('has enumerated values, and the error for another one lists them', async ({ t }) => {
    const { id } = await newRepair(t);
    const expectListed = (response: ApiResponse, field: string, words: string[]) => {
      expect(rulesOf(response)).toEqual({ [field]: 'oneOf' });
      for (const word of words) expect(response.body.message[0]).toContain(word);
    };
    const starts = ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS'];
    const create = (startStatus: unknown) => t.post('/offline-repairs', repairBody({ startStatus }));
    for (const wrong of ['OFFLINE_REPAIR', 'OFFLINE_RESOLVED', 'OFFLINE_CLOSED', 'counter_swapped', '', 1])
      expectListed(await create(wrong), 'startStatus', starts);
    const dispositions = ['RESTOCK_MASTER', 'RESTOCK_CHILD', 'WRITE_OFF', 'RETURN_TO_SUPPLIER'];
    const resolve = (body: Body) => t.post(`/offline-repairs/${id}/resolve`, body);
    for (const wrong of ['RESTOCK', 'write_off', ' WRITE_OFF', '', null, 3, ['WRITE_OFF']])
      expectListed(await resolve({ offlineDisposition: wrong }), 'offlineDisposition', dispositions);
    expect(rulesOf(await resolve({}))).toEqual({ offlineDisposition: 'required' });
    expect((await t.get(`/offline-repairs/${id}`)).body.offlineDisposition).toBeNull();
  });

  it('has actions that accept only an object, without unknown fields or a query', async ({ t }) => {
    const { id } = await newRepair(t);
    const act = (action: string, body?: unknown) => t.post(`/offline-repairs/${id}/${action}`, body);
    for (const name of ['notes', '__proto__', 'constructor', 'toString'])
      expect(rulesOf(await act('close', `{"${name}":{}}`))).toEqual({ [name]: 'unknown' });
    expect(rulesOf(await act('close?notes=x'))).toEqual({ notes: 'unknown' });
    for (const body of ['[]', '[{}]', '"text"', '1', 'true', 'null'])
      expect(rulesOf(await act('close', body))).toEqual({ body: 'type' });
  });

  it('may be sent without a body if every field is optional, with any content type', async ({ t }) => {
    const { id } = await newRepair(t);
    // What `curl -d ''` sends.
    const curl = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' };
    const types = [{}, { 'content-type': 'application/json' }, curl];
    for (const action of ['close', 'begin-diagnostics', 'begin-repair']) {
      const act = (options: object) =>
        t.send(`/offline-repairs/${id}/${action}`, { method: 'POST', ...options });
      for (const headers of types) expect(await act({ headers })).toHaveStatus(200);
      for (const body of [{}, '']) expect(await act({ body })).toHaveStatus(200);
    }
    for (const action of ['tracking', 'resolve'])
      expect(Object.values(rulesOf(await t.post(`/offline-repairs/${id}/${action}`)))).toContain('required');
  });
});

describe('a trade return', () => {
  const send = (t: Harness, items: unknown) => t.post('/trade-returns', tradeBody({ items }));
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...TRADE_ITEM, sku: `SKU-${i}`, quantity: i + 1 }));

  it('has one to 250 items in their order, with duplicates allowed', async ({ t }) => {
    for (const items of [many(1), many(2), many(249), many(250), [TRADE_ITEM, TRADE_ITEM]]) {
      const response = await send(t, items);
      expect(response).toHaveStatus(201);
      const expected = items.map((item, i) => ({
        ...item,
        ...EMPTY_ITEM,
        line: i + 1,
        received: 0,
        accepted: 0,
      }));
      expect(response.body.items).toEqual(expected);
      expect((await t.get(`/trade-returns/${response.body.id}`)).body.items).toEqual(expected);
    }
    expect(rulesOf(await send(t, []))).toEqual({ items: 'minItems' });
    for (const count of [251, 252, 1000])
      expect(rulesOf(await send(t, many(count)))).toEqual({ items: 'maxItems' });
    expect((await rowCounts(t)).returns).toBe(5);
  });

  it('has an array of objects as its items', async ({ t }) => {
    for (const wrong of [TRADE_ITEM, { 0: TRADE_ITEM, length: 1 }, 'LAMP-OAK', 1, true])
      expect(rulesOf(await send(t, wrong))).toEqual({ items: 'type' });
    const rules = rulesOf(await send(t, [TRADE_ITEM, null, 1, 'LAMP-OAK', [TRADE_ITEM]]));
    expect(rules).toEqual(everyOne(['items.1', 'items.2', 'items.3', 'items.4'], 'type'));
  });

  it('gets all the errors of its items at once, each with its index', async ({ t }) => {
    const response = await send(t, [
      { ...TRADE_ITEM, quantity: 0 },
      TRADE_ITEM,
      { ...TRADE_ITEM, price: -0.01, sku: ' ' },
      { ...TRADE_ITEM, weight: '1', tradeLineItemId: 'x'.repeat(129), serialNumber: 'x' },
    ]);
    expect(rulesOf(response)).toEqual({
      'items.0.quantity': 'min',
      'items.2.price': 'min',
      'items.2.sku': 'notEmpty',
      'items.3.weight': 'type',
      'items.3.tradeLineItemId': 'maxLength',
      'items.3.serialNumber': 'unknown',
    });
  });

  it('has an orderDate that is returned exactly as sent', async ({ t }) => {
    const dated = (orderDate: unknown) => t.post('/trade-returns', tradeBody({ orderDate }));
    const texts = ['  2 Oct 2026\t\n', '', ' ', '\ufeff2026', 'null', 'last week 🙂', '2026-13-45T99:99:99Z'];
    const longest = ['x'.repeat(255), ` ${'x'.repeat(253)} `];
    for (const orderDate of ['2026-10-02', '02/10/26', ...texts, ...longest]) {
      const response = await dated(orderDate);
      expect(response).toHaveStatus(201);
      expect(response.body.orderDate).toEqual(orderDate);
      expect((await t.get(`/trade-returns/${response.body.id}`)).body.orderDate).toBe(orderDate);
    }
    for (const absent of [null, undefined]) expect((await dated(absent)).body.orderDate).toBeNull();
    for (const [rule, ...wrong] of [
      ['maxLength', 'x'.repeat(256)],
      ['nul', '2026\0'],
      ['unicode', '\udc00'],
      ['type', 20261002, true, {}, ['2026-10-02']],
    ])
      for (const bad of wrong) expect(rulesOf(await dated(bad))).toEqual({ orderDate: rule });
  });
});

it('a trade return costs at most 10^15 in total', async ({ t }) => {
  const line = { ...TRADE_ITEM, price: 1e11, quantity: 6_000 };
  const response = await t.post('/trade-returns', tradeBody({ items: [line, line] }));
  expect(rulesOf(response)).toEqual({ items: 'max' });
  expect(await t.post('/trade-returns', tradeBody({ items: [line] }))).toHaveStatus(201);
});
