import { describe, expect, it } from 'vitest';
import { expectError, newRepair, rowCounts, rulesOf, UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { checkText, type Field, withValue } from '../support/fields.ts';
import { type Answer, type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();

type Body = Record<string, unknown>;

const CREATE_TEXTS: Field[] = [
  { path: 'orderNumber', max: 128, required: true },
  { path: 'customerName', max: 255, required: true },
  { path: 'faultDescription', max: 5000, required: true },
  { path: 'storeId', max: 128, required: true },
  { path: 'externalRef', max: 128 },
  { path: 'externalSource', max: 128 },
  { path: 'replacementSku', max: 128 },
  { path: 'notes', max: 5000 },
  { path: 'customerPhone', max: 255 },
  { path: 'faultyItem.sku', max: 128, required: true },
  { path: 'faultyItem.productName', max: 255, required: true },
  { path: 'faultyItem.serialNumber', max: 128 },
  { path: 'faultyItem.variantTitle', max: 255 },
  { path: 'tracking.trackingNumber', shown: 'trackingNumber', max: 128, required: true },
  { path: 'tracking.carrierName', shown: 'carrierName', max: 255, required: true },
];
const ACTION_TEXTS: (Field & { action: string; rest?: Body })[] = [
  {
    action: 'tracking',
    path: 'trackingNumber',
    shown: 'trackingNumber',
    max: 128,
    required: true,
    rest: { carrierName: 'DHL' },
  },
  {
    action: 'tracking',
    path: 'carrierName',
    shown: 'carrierName',
    max: 255,
    required: true,
    rest: { trackingNumber: 'JD01' },
  },
  { action: 'begin-diagnostics', path: 'notes', max: 5000 },
  { action: 'begin-repair', path: 'repairNotes', shown: 'repairNotes', max: 5000 },
  { action: 'begin-repair', path: 'assignedToId', shown: 'assignedToId', max: 128 },
  { action: 'resolve', path: 'notes', max: 5000, rest: { offlineDisposition: 'WRITE_OFF' } },
];

const fullBody = () =>
  repairBody({
    tracking: { trackingNumber: 'JD0146000034', carrierName: 'DHL' },
  });

describe('texts', () => {
  it('of a creation keep to their lengths and types, and are trimmed', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    for (const field of CREATE_TEXTS)
      await checkText({ shown: field.path, ...field }, (value) =>
        t.post('/offline-repairs', withValue(fullBody(), field.path, value)),
      );
  });

  it('of the actions keep to their lengths and types, and are trimmed', async () => {
    const t = await harness();
    for (const { action, rest, ...field } of ACTION_TEXTS) {
      // A new repair for each value: begin-repair keeps what an earlier call set.
      await checkText(field, async (value) => {
        const { id } = await newRepair(t);
        return t.post(`/offline-repairs/${id}/${action}`, withValue({ ...rest }, field.path, value));
      });
    }
  });

  it('that are an empty array are told that they must be a text, and nothing about entries', async () => {
    const t = await harness();
    const answer = await t.post('/offline-repairs', repairBody({ orderNumber: [], notes: [] }));
    expect(rulesOf(answer)).toEqual({ orderNumber: 'type', notes: 'type' });
    expect(answer.body.errors).toHaveLength(2);
  });

  it('are counted in characters, not in the bytes or halves that make them up', async () => {
    const t = await harness();
    const { body } = await t.post('/offline-repairs', repairBody({ orderNumber: '🙂'.repeat(128) }));
    expect(body.orderNumber).toBe('🙂'.repeat(128));
    expect(rulesOf(await t.post('/offline-repairs', repairBody({ orderNumber: '🙂'.repeat(129) })))).toEqual({
      orderNumber: 'maxLength',
    });
  });
});

describe('the e-mail address', () => {
  it('must look like one', async () => {
    const t = await harness();
    const send = (customerEmail: unknown) => t.post('/offline-repairs', repairBody({ customerEmail }));
    for (const good of ['ada@example.com', "o'neil+returns@mail.example.co.uk", 'a@b.co'])
      expect((await send(good)).body.customerEmail).toBe(good);
    expect((await send('  ada@example.com ')).body.customerEmail).toBe('ada@example.com');
    for (const bad of [
      'ada',
      'ada@',
      '@example.com',
      'ada@example',
      'a b@example.com',
      'ada@@example.com',
      '',
    ])
      expect(Object.keys(rulesOf(await send(bad)))).toEqual(['customerEmail']);
    expect(rulesOf(await send('ada'))).toEqual({ customerEmail: 'format' });
    expect(rulesOf(await send(undefined))).toEqual({ customerEmail: 'required' });
    for (const bad of [1, null, {}, ['ada@example.com']])
      expect(rulesOf(await send(bad))).toEqual({ customerEmail: 'type' });
    expect(Object.keys(rulesOf(await send('ada\0@example.com')))).toEqual(['customerEmail']);
  });

  it('may be in any script', async () => {
    const t = await harness();
    for (const customerEmail of ['zoë@example.com', 'ada@exämple.com', '用户@例子.广告'])
      expect((await newRepair(t, { customerEmail })).customerEmail).toBe(customerEmail);
  });

  it('has at most 255 characters', async () => {
    const t = await harness();
    const address = (length: number) => `ada@${'x'.repeat(length - 'ada@.com'.length)}.com`;
    const longest = await t.post('/offline-repairs', repairBody({ customerEmail: address(255) }));
    expect(longest.body.customerEmail).toBe(address(255));
    expect(rulesOf(await t.post('/offline-repairs', repairBody({ customerEmail: address(256) })))).toEqual({
      customerEmail: 'maxLength',
    });
  });
});

describe('numbers', () => {
  const send = (t: Harness, name: string, value: unknown) =>
    t.post('/offline-repairs', withValue(fullBody(), `faultyItem.${name}`, value));
  /** The number as its digits in the body's text. */
  const sendDigits = (t: Harness, name: string, digits: string) =>
    t.post(
      '/offline-repairs',
      JSON.stringify(withValue(fullBody(), `faultyItem.${name}`, 'DIGITS')).replace('"DIGITS"', digits),
    );

  it('are never made from texts or anything else', async () => {
    const t = await harness();
    for (const name of ['quantity', 'price', 'weight'])
      for (const wrong of ['1', '', true, false, [], [1], {}])
        expect({ name, wrong, rules: rulesOf(await send(t, name, wrong)) }).toEqual({
          name,
          wrong,
          rules: { [`faultyItem.${name}`]: 'type' },
        });
    for (const name of ['quantity', 'price']) {
      expect(rulesOf(await send(t, name, undefined))).toEqual({ [`faultyItem.${name}`]: 'required' });
      expect(rulesOf(await send(t, name, null))).toEqual({ [`faultyItem.${name}`]: 'type' });
    }
    expect((await send(t, 'weight', null)).body.faultyItem.weight).toBeNull();
    expect((await send(t, 'weight', undefined)).body.faultyItem.weight).toBeNull();
  });

  it('have a lower bound: quantity above 0, price and weight from 0', async () => {
    const t = await harness();
    expect(rulesOf(await send(t, 'quantity', 0))).toEqual({ 'faultyItem.quantity': 'min' });
    expect(rulesOf(await send(t, 'quantity', -1))).toEqual({ 'faultyItem.quantity': 'min' });
    expect((await send(t, 'quantity', 0.0001)).body.faultyItem.quantity).toBe(0.0001);
    for (const name of ['price', 'weight']) {
      expect((await send(t, name, 0)).body.faultyItem[name]).toBe(0);
      expect(rulesOf(await send(t, name, -0.0001))).toEqual({ [`faultyItem.${name}`]: 'min' });
    }
  });

  it('never become a quantity of 0, however small they are', async () => {
    const t = await harness();
    for (const digits of ['0.00001', '1e-13', '5e-324', '1e-400'])
      expect({ digits, rules: Object.keys(rulesOf(await sendDigits(t, 'quantity', digits))) }).toEqual({
        digits,
        rules: ['faultyItem.quantity'],
      });
  });

  it('too small for a double are refused, not taken as 0', async () => {
    const t = await harness();
    const tiny = ['1e-400', '0.5E-0400', '1000e-500', `0.${'0'.repeat(400)}1`, `0.${'0'.repeat(230)}1e-99`];
    for (const name of ['price', 'weight'])
      for (const digits of tiny) {
        const field = `faultyItem.${name}`;
        expect(rulesOf(await sendDigits(t, name, digits))).toEqual({ [field]: 'decimals' });
        expect(Object.keys(rulesOf(await sendDigits(t, name, `-${digits}`)))).toEqual([field]);
      }
    for (const digits of ['0', '-0', '0.0', '0e-400', `0.${'0'.repeat(400)}`, `-0.${'0'.repeat(400)}e-400`])
      expect((await sendDigits(t, 'price', digits)).body.faultyItem.price).toBe(0);
    const words = { ...fullBody(), notes: '1e-400', externalRef: '0.5E-999' };
    expect((await t.post('/offline-repairs', words)).body).toMatchObject({
      notes: '1e-400',
      externalRef: '0.5E-999',
    });
  });

  it('must be finite', async () => {
    const t = await harness();
    for (const name of ['quantity', 'price', 'weight'])
      for (const digits of ['1e400', '-1e400', '1e308'])
        expect(Object.keys(rulesOf(await sendDigits(t, name, digits)))).toEqual([`faultyItem.${name}`]);
    for (const digits of ['NaN', 'Infinity', '-Infinity', '0x10', '01', '1.', '.5', '+1'])
      expectError(await sendDigits(t, 'price', digits), 400);
  });

  it('keep up to four decimals exactly', async () => {
    const t = await harness();
    for (const digits of [
      '0.1',
      '0.3',
      '1.005',
      '1.1',
      '19.99',
      '49.95',
      '0.0001',
      '1234567.8901',
      '4.35',
      '1e2',
    ])
      for (const name of ['quantity', 'price', 'weight']) {
        const created = await sendDigits(t, name, digits);
        const again = await t.get(`/offline-repairs/${created.body.id}`);
        expect({ digits, now: created.body.faultyItem[name], later: again.body.faultyItem[name] }).toEqual({
          digits,
          now: Number(digits),
          later: Number(digits),
        });
      }
  });

  it('that carry the noise of a sum in binary are read as the decimals that were meant', async () => {
    const t = await harness();
    expect((await send(t, 'price', 0.1 + 0.2)).body.faultyItem.price).toBe(0.3);
    expect((await send(t, 'price', 1.1 * 3)).body.faultyItem.price).toBe(3.3);
  });

  it('with more than four decimals are refused rather than changed, large ones too', async () => {
    const t = await harness();
    for (const digits of ['0.12345', '1.00001', '99999.99999', '100000000.12345', '12345678901.12345'])
      for (const name of ['quantity', 'price', 'weight'])
        expect({ digits, name, rules: rulesOf(await sendDigits(t, name, digits)) }).toEqual({
          digits,
          name,
          rules: { [`faultyItem.${name}`]: 'decimals' },
        });
  });
});

describe('words from a list', () => {
  it('name the known ones when they are not among them', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const expectListed = (answer: Answer, field: string, words: string[]) => {
      expect(rulesOf(answer)).toEqual({ [field]: 'oneOf' });
      for (const word of words) expect(answer.body.message[0]).toContain(word);
    };
    const starts = ['COUNTER_SWAPPED', 'OFFLINE_DIAGNOSTICS'];
    for (const wrong of ['OFFLINE_REPAIR', 'OFFLINE_RESOLVED', 'OFFLINE_CLOSED', 'counter_swapped', '', 1])
      expectListed(
        await t.post('/offline-repairs', repairBody({ startStatus: wrong })),
        'startStatus',
        starts,
      );
    const dispositions = ['RESTOCK_MASTER', 'RESTOCK_CHILD', 'WRITE_OFF', 'RETURN_TO_SUPPLIER'];
    for (const wrong of ['RESTOCK', 'write_off', ' WRITE_OFF', '', null, 3, ['WRITE_OFF']])
      expectListed(
        await t.post(`/offline-repairs/${id}/resolve`, { offlineDisposition: wrong }),
        'offlineDisposition',
        dispositions,
      );
    expect(rulesOf(await t.post(`/offline-repairs/${id}/resolve`, {}))).toEqual({
      offlineDisposition: 'required',
    });
    expect((await t.get(`/offline-repairs/${id}`)).body.offlineDisposition).toBeNull();
  });
});

describe('the body as a whole', () => {
  it('is told of all its faults at once, each beginning with its path', async () => {
    const t = await harness();
    const answer = await t.post(
      '/offline-repairs?limit=1',
      {
        customerEmail: 'ada',
        customerName: '',
        faultyItem: { quantity: 0, price: '1', colour: 'red' },
        startStatus: 'NEW',
        tracking: { carrierName: 'DHL' },
        stroeId: 'store-7',
      },
      { headers: { 'idempotency-key': 'x'.repeat(256) } },
    );
    expect(rulesOf(answer)).toEqual({
      'Idempotency-Key': 'format',
      limit: 'unknown',
      orderNumber: 'required',
      customerEmail: 'format',
      customerName: 'notEmpty',
      'faultyItem.sku': 'required',
      'faultyItem.productName': 'required',
      'faultyItem.quantity': 'min',
      'faultyItem.price': 'type',
      'faultyItem.colour': 'unknown',
      faultDescription: 'required',
      storeId: 'required',
      startStatus: 'oneOf',
      'tracking.trackingNumber': 'required',
      stroeId: 'unknown',
    });
    expect(answer.body.message).toContain('faultyItem.sku is required');
    expect(await rowCounts(t)).toMatchObject({ repairs: 0, used: 0 });
  });

  it('has no unknown fields; the nearest known name is offered', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const expectGuess = (answer: Answer, field: string, guess: string) => {
      expect(rulesOf(answer)).toMatchObject({ [field]: 'unknown' });
      const { message } = answer.body.errors.find((fault: { field: string }) => fault.field === field);
      expect(message).toContain(`did you mean ${guess}?`);
    };
    const create = (more: Body) => t.post('/offline-repairs', repairBody(more));
    expectGuess(await create({ ordrNumber: 'x' }), 'ordrNumber', 'orderNumber');
    expectGuess(await create({ OrderNumber: 'x' }), 'OrderNumber', 'orderNumber');
    expectGuess(await create({ external_ref: 'x' }), 'external_ref', 'externalRef');
    expectGuess(await create({ faultyItem: { skuu: 'x' } }), 'faultyItem.skuu', 'sku');
    expectGuess(
      await create({ tracking: { trackingNumbr: 'x' } }),
      'tracking.trackingNumbr',
      'trackingNumber',
    );
    const act = (action: string, body: Body) => t.post(`/offline-repairs/${id}/${action}`, body);
    expectGuess(await act('tracking', { carierName: 'x' }), 'carierName', 'carrierName');
    expectGuess(await act('begin-diagnostics', { note: 'x' }), 'note', 'notes');
    expectGuess(await act('begin-repair', { assignedTold: 'x' }), 'assignedTold', 'assignedToId');
    expectGuess(
      await act('resolve', { disposition: 'WRITE_OFF', offlineDispositon: 'x' }),
      'offlineDispositon',
      'offlineDisposition',
    );
    expect(rulesOf(await act('close', { notes: 'x' }))).toEqual({ notes: 'unknown' });
    expect(rulesOf(await create({ id: UNKNOWN_ID, status: 'OFFLINE_CLOSED', isDangerous: false }))).toEqual({
      id: 'unknown',
      status: 'unknown',
      isDangerous: 'unknown',
    });
  });

  it('has no field of the name __proto__ or constructor either', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const inside = JSON.stringify(repairBody()).replace('{', `{"${name}":{"storeId":"x"},`);
      expect(rulesOf(await t.post('/offline-repairs', inside))).toEqual({ [name]: 'unknown' });
      const deeper = JSON.stringify(repairBody()).replace('{"sku"', `{"${name}":1,"sku"`);
      expect(rulesOf(await t.post('/offline-repairs', deeper))).toEqual({
        [`faultyItem.${name}`]: 'unknown',
      });
      expect(rulesOf(await t.post(`/offline-repairs/${id}/close`, `{"${name}":{}}`))).toEqual({
        [name]: 'unknown',
      });
    }
  });

  it('must be an object', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    for (const body of ['[]', '[{}]', '"text"', '1', 'true', 'null']) {
      expect(rulesOf(await t.post('/offline-repairs', body))).toEqual({ body: 'type' });
      expect(rulesOf(await t.post(`/offline-repairs/${id}/close`, body))).toEqual({ body: 'type' });
    }
    expect(rulesOf(await t.post('/offline-repairs', repairBody({ faultyItem: [] })))).toEqual({
      faultyItem: 'type',
    });
    expect(rulesOf(await t.post('/offline-repairs', repairBody({ tracking: 'JD01' })))).toEqual({
      tracking: 'type',
    });
  });

  it('must be JSON in UTF-8 that names no field twice', async () => {
    const t = await harness();
    const good = JSON.stringify(repairBody());
    const broken = [
      '{',
      good.slice(0, -1),
      `${good}}`,
      `${good}${good}`,
      good.replaceAll('"', "'"),
      good.replace('}', ',}'),
      'orderNumber=SO-1',
      good.replace('{', '{"storeId":"store-1",'),
      good.replace('{"sku"', '{"\\u0073ku":"A","sku"'),
      good.replace('Ada', 'A\u0001da'),
      good.replace('Ada', 'A\\qda'),
    ];
    for (const body of broken) expectError(await t.post('/offline-repairs', body), 400);
    const bytes = Buffer.from(good.replace('Ada', 'Ad~'));
    bytes[bytes.indexOf('~')] = 0xff;
    expectError(await t.post('/offline-repairs', bytes), 400);
    expect((await rowCounts(t)).repairs).toBe(0);
  });

  it('may be missing where every field is optional', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    const none = { method: 'POST' };
    for (const action of ['close', 'begin-diagnostics', 'begin-repair']) {
      const path = `/offline-repairs/${id}/${action}`;
      expect((await t.send(path, none)).status).toBe(200);
      expect((await t.send(path, { ...none, body: {} })).status).toBe(200);
      expect((await t.send(path, { ...none, body: '' })).status).toBe(200);
      const json = { headers: { 'content-type': 'application/json' } };
      expect((await t.send(path, { ...none, ...json })).status).toBe(200);
    }
    for (const path of [
      `/offline-repairs/${id}/tracking`,
      `/offline-repairs/${id}/resolve`,
      '/offline-repairs',
    ])
      expect(Object.values(rulesOf(await t.send(path, none)))).toContain('required');
  });

  it('counts as missing when no bytes came, whatever the content type', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    // What `curl -d ''` sends.
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' };
    const { status } = await t.send(`/offline-repairs/${id}/close`, { method: 'POST', headers });
    expect(status).toBe(200);
  });
});

describe('query parameters', () => {
  it('that an endpoint does not know are a 400 there', async () => {
    const t = await harness();
    const { id } = await newRepair(t);
    expect(rulesOf(await t.get('/offline-repairs?stauts=OFFLINE_REPAIR'))).toEqual({ stauts: 'unknown' });
    expect((await t.get('/offline-repairs?stauts=x')).body.message[0]).toContain('did you mean status?');
    expect(rulesOf(await t.get('/offline-repairs?Page=1&LIMIT=1'))).toEqual({
      Page: 'unknown',
      LIMIT: 'unknown',
    });
    expect(rulesOf(await t.get('/offline-repairs?__proto__=1'))).toEqual({ ['__proto__']: 'unknown' });
    expect(rulesOf(await t.get(`/offline-repairs/${id}?page=1`))).toEqual({ page: 'unknown' });
    expect(rulesOf(await t.get(`/offline-repairs/${id}/timeline?status=x`))).toEqual({ status: 'unknown' });
    expect(rulesOf(await t.send(`/offline-repairs/${id}/close?notes=x`, { method: 'POST' }))).toEqual({
      notes: 'unknown',
    });
  });

  it('are refused where they are not UTF-8 in percent-encoding', async () => {
    const t = await harness();
    for (const value of ['%ff', '%zz', '%', 'SN-%E2%82', '%ed%a0%80'])
      expect(rulesOf(await t.get(`/offline-repairs?serialNumber=${value}`)), value).toEqual({
        serialNumber: 'unicode',
      });
    expect(rulesOf(await t.get('/trade-returns?externalRef=%ff&companyId=%C3%A9'))).toEqual({
      externalRef: 'unicode',
    });
    expect(rulesOf(await t.get('/offline-repairs?%ff=1'))).toMatchObject({ query: 'unicode' });
    const { status } = await t.get('/offline-repairs?serialNumber=%C3%A9%25+%2B');
    expect(status, 'what is well encoded').toBe(200);
  });
});
