import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISPOSITIONS, START_STATUSES } from '../../contract/lifecycle.ts';
import { type Endpoint, endpoints, expectError, type Ids, makeIds, rowCounts } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { type Answer, ENGINE, type Harness, harness } from '../support/harness.ts';

// Whatever is thrown at a POST endpoint, it takes it as it is or refuses it and writes nothing.

type Json = Record<string, unknown>;
type Bytes = string | Uint8Array;

/** What is taken and refused does not depend on the engine; whether it can be stored and read does. */
const BATCHES = ENGINE === 'sqlite' ? 100 : 25;
const BATCH = 20;

// --- what is sent ---

const padding = fc.constantFrom('', '', ' ', '\t\n ', '\u00a0', '\ufeff');
const words = (most: number) =>
  fc
    .tuple(padding, fc.string({ unit: 'grapheme', minLength: 1, maxLength: most }), padding)
    .map(([before, inside, after]) => `${before}${inside}${after}`);
/** A text that a required field takes. */
const goodText = words(20).filter((text) => text.trim() !== '' && !text.includes('\0'));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
/** Decimals with up to four places, as people write them. */
const decimal = (least: number) =>
  fc
    .tuple(fc.integer({ min: least, max: 2_000_000_000 }), fc.integer({ min: 0, max: 4 }))
    .map(([digits, places]) => Number(`${digits}e-${places}`));

const goodEmail = fc.constantFrom('ada@example.com', ' ada@example.com ', "o'neil+x@mail.example.co.uk");

const goodBodies: Record<string, fc.Arbitrary<unknown>> = {
  '/offline-repairs': fc.record(
    {
      orderNumber: goodText,
      customerEmail: goodEmail,
      customerName: goodText,
      customerPhone: maybe(words(20)),
      faultyItem: fc.record(
        {
          sku: goodText,
          productName: goodText,
          quantity: decimal(1),
          price: decimal(0),
          serialNumber: maybe(words(20)),
          variantTitle: maybe(words(20)),
          weight: maybe(decimal(0)),
        },
        { requiredKeys: ['sku', 'productName', 'quantity', 'price'] },
      ),
      faultDescription: goodText,
      storeId: goodText,
      externalRef: maybe(words(20)),
      externalSource: maybe(words(20)),
      startStatus: maybe(fc.constantFrom(...START_STATUSES)),
      replacementSku: maybe(words(20)),
      notes: maybe(words(200)),
      tracking: maybe(fc.record({ trackingNumber: goodText, carrierName: goodText })),
    },
    {
      requiredKeys: [
        'orderNumber',
        'customerEmail',
        'customerName',
        'faultyItem',
        'faultDescription',
        'storeId',
      ],
    },
  ),
  '/offline-repairs/{id}/tracking': fc.record({ trackingNumber: goodText, carrierName: goodText }),
  '/offline-repairs/{id}/begin-diagnostics': fc.record({ notes: maybe(words(200)) }, { requiredKeys: [] }),
  '/offline-repairs/{id}/begin-repair': fc.record(
    { repairNotes: maybe(words(200)), assignedToId: maybe(words(20)) },
    { requiredKeys: [] },
  ),
  '/offline-repairs/{id}/resolve': fc.record(
    { offlineDisposition: fc.constantFrom(...DISPOSITIONS), notes: maybe(words(200)) },
    { requiredKeys: ['offlineDisposition'] },
  ),
  '/offline-repairs/{id}/close': fc.constant({}),
  '/trade-returns': fc.record(
    {
      tradeOrderNumber: goodText,
      customerEmail: goodEmail,
      customerName: goodText,
      customerPhone: maybe(words(20)),
      companyName: goodText,
      companyId: goodText,
      reason: goodText,
      items: fc.array(
        fc.record(
          {
            sku: goodText,
            productName: goodText,
            quantity: decimal(1),
            price: decimal(0),
            variantTitle: maybe(words(20)),
            weight: maybe(decimal(0)),
            tradeLineItemId: maybe(words(20)),
          },
          { requiredKeys: ['sku', 'productName', 'quantity', 'price'] },
        ),
        { minLength: 1, maxLength: 6 },
      ),
      shippingAddress: fc.record({ street: goodText, suburb: goodText, state: goodText, postcode: goodText }),
      orderDate: maybe(words(20)),
      customerNotes: maybe(words(200)),
      faultDescription: maybe(words(200)),
      additionalComment: maybe(words(200)),
      externalRef: maybe(words(20)),
      externalSource: maybe(words(20)),
    },
    {
      requiredKeys: [
        'tradeOrderNumber',
        'customerEmail',
        'customerName',
        'companyName',
        'companyId',
        'reason',
        'items',
        'shippingAddress',
      ],
    },
  ),
};

/** Bodies that only one endpoint has a use for. */
const ownBodies: Record<string, fc.Arbitrary<Bytes>> = {
  // As many items as are allowed, none, one too many, and as many as a body can hold and more.
  '/trade-returns': fc
    .tuple(
      fc.constantFrom(0, 1, 2, 249, 250, 250, 251, 251, 252, 2_000, 3_000, 20_000, 100_000),
      fc.constantFrom('{"sku":"A","productName":"B","quantity":1,"price":0.1}', '{}', '1', '[]', 'null'),
      fc.nat({ max: 2 }),
    )
    .map(([count, item, kind]) => {
      const good = '{"sku":"A","productName":"B","quantity":1,"price":0.1}';
      const items = Array.from({ length: count }, () => (kind === 0 ? item : good));
      return JSON.stringify(tradeBody({ items: 'ITEMS' })).replace('"ITEMS"', `[${items.join(',')}]`);
    }),
};

const nested = (depth: number, open: string, close: string, inside: string) =>
  `${open.repeat(depth)}${inside}${close.repeat(depth)}`;

/** Pieces of JSON text that have no business where they are put. */
const oddPiece: fc.Arbitrary<string> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 30 }).map((value) => JSON.stringify(value)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ min: 0, max: 1e12, noNaN: true }).map(String),
  fc.integer({ min: 1, max: 2_000_000_000 }).map((digits) => `${digits}.${digits}`),
  fc.constantFrom(
    'null',
    '""',
    '"  "',
    '[]',
    '{}',
    '-0',
    '-1',
    '0',
    '1e400',
    '-1e400',
    '5e-324',
    '123456789012345678901234567890',
    '0.30000000000000004',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"1"',
    'true',
    '{"__proto__":{"admin":true}}',
    '{"toString":1,"constructor":{"prototype":{}}}',
    '{"length":3}',
    '[null]',
  ),
  fc.integer({ min: 120, max: 6000 }).map((length) => JSON.stringify('x'.repeat(length))),
  fc.integer({ min: 10, max: 3000 }).map((length) => JSON.stringify('\u{1f642}'.repeat(length))),
  fc.integer({ min: 10, max: 20_000 }).map((depth) => nested(depth, '[', ']', '')),
  fc.integer({ min: 10, max: 10_000 }).map((depth) => nested(depth, '{"a":', '}', '1')),
);

const oddName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'id',
    'status',
    'ordernumber',
    'tracking',
    'notes',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

/** What becomes of the JSON text at a place: another text, or null for none. A place in an array has no name. */
type Change = (path: string, text: string, name: string | null) => string | null;

/** A body as JSON text, with a change at every place in it. */
const asText = (body: unknown, change: Change, path = ''): string => {
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  const isArray = Array.isArray(body);
  const parts = Object.entries(body).flatMap(([name, value]) => {
    const inner = path ? `${path}.${name}` : name;
    const text = change(inner, asText(value, change, inner), isArray ? null : name);
    return text === null ? [] : [isArray ? text : `${JSON.stringify(name)}:${text}`];
  });
  return isArray ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
};
const pathsIn = (body: unknown, path = ''): string[] =>
  typeof body !== 'object' || body === null
    ? []
    : Object.entries(body).flatMap(([name, value]) => {
        const inner = path ? `${path}.${name}` : name;
        return [inner, ...pathsIn(value, inner)];
      });

/** A body that was good until one to three things happened to it. */
const spoilt = (good: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      good,
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'remove', 'add', 'twice'), oddName, oddPiece), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([body, accidents]) => {
      const paths = pathsIn(body);
      const hit = new Map<string, (typeof accidents)[number]>();
      for (const accident of accidents)
        if (paths.length > 0) hit.set(paths[accident[0] % paths.length] as string, accident);
      const text = asText(body, (path, value, own) => {
        const [, kind, name, piece] = hit.get(path) ?? [];
        const named = (each: string | undefined) => (own === null ? '' : `${JSON.stringify(each)}:`);
        if (kind === 'replace') return piece as string;
        if (kind === 'remove') return null;
        if (kind === 'add') return `${value},${named(name)}${piece}`;
        if (kind === 'twice') return `${value},${named(own ?? '')}${value}`;
        return value;
      });
      const [, , name, piece] = accidents[0] as (typeof accidents)[number];
      return paths.length > 0 ? text : `{${JSON.stringify(name)}:${piece}}`;
    });

/** Bytes that are no JSON, or hardly. */
const broken = (good: fc.Arbitrary<unknown>): fc.Arbitrary<Bytes> =>
  fc.oneof(
    fc.tuple(good, fc.nat()).map(([body, at]) => {
      const text = JSON.stringify(body);
      return text.slice(0, at % (text.length + 1));
    }),
    fc.tuple(good, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 })).map(([body, at, bytes]) => {
      const text = Buffer.from(JSON.stringify(body));
      const place = at % (text.length + 1);
      return Buffer.concat([text.subarray(0, place), bytes, text.subarray(place)]);
    }),
    fc.uint8Array({ maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.tuple(good, good).map((bodies) => bodies.map((body) => JSON.stringify(body)).join('')),
    good.map((body) => `\ufeff${JSON.stringify(body)}`),
  );

/** Close to the largest body and beyond it. */
const heavy: fc.Arbitrary<Bytes> = fc.oneof(
  fc.constantFrom(100_000, 262_000, 400_000).map((size) => JSON.stringify({ notes: 'x'.repeat(size) })),
  fc.constantFrom(100_000, 130_000).map((size) => `{"notes":"${'\\n'.repeat(size)}"}`),
  fc.constantFrom(100_000, 130_000).map((depth) => nested(depth, '[', ']', '')),
  fc.constantFrom(20_000, 40_000).map((depth) => nested(depth, '{"a":', '}', '1')),
  fc
    .constantFrom(5_000, 20_000)
    .map((count) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]))),
    ),
);

const anything = (good: fc.Arbitrary<unknown>, own?: fc.Arbitrary<Bytes>): fc.Arbitrary<Bytes> =>
  fc.oneof(
    ...(own ? [{ weight: 6, arbitrary: own }] : []),
    { weight: 25, arbitrary: good.map((body) => JSON.stringify(body)) },
    { weight: 45, arbitrary: spoilt(good) },
    { weight: 12, arbitrary: oddPiece },
    { weight: 16, arbitrary: broken(good) },
    { weight: 2, arbitrary: heavy },
  );

// --- what comes back ---

const textOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : (value as string).trim() || null;

/** Exactly the number sent, but for the last bits that a sum in binary leaves behind. */
const expectNumber = (told: unknown, sent: unknown): void => {
  if (sent === undefined || sent === null) {
    expect(told).toBeNull();
    return;
  }
  const number = sent as number;
  const noise = Math.max(1e-12, 8 * Number.EPSILON * number);
  if (Number(number.toFixed(4)) === number) expect(told).toBe(number === 0 ? 0 : number);
  else expect(Math.abs((told as number) - number)).toBeLessThanOrEqual(noise);
};

/** Each of these texts is told as it was sent, but for the space around it. */
const same = (names: string[], from: Json, to: Json): void => {
  for (const name of names) expect([name, to[name]]).toEqual([name, textOf(from[name])]);
};

const ECHO: Record<string, (told: Json, sent: Json) => void> = {
  '/offline-repairs': (told, sent) => {
    const { faultyItem: item, tracking } = sent as { faultyItem: Json; tracking?: Json | null };
    const toldItem = told['faultyItem'] as Json;
    same(['orderNumber', 'customerEmail', 'customerName', 'customerPhone', 'faultDescription'], sent, told);
    same(['storeId', 'externalRef', 'externalSource', 'replacementSku', 'notes'], sent, told);
    same(['sku', 'productName', 'serialNumber', 'variantTitle'], item, toldItem);
    same(['trackingNumber', 'carrierName'], tracking ?? {}, told);
    for (const name of ['quantity', 'price', 'weight']) expectNumber(toldItem[name], item[name]);
    expect(toldItem['quantity']).toBeGreaterThan(0);
    expect(told['status']).toBe(sent['startStatus'] ?? 'OFFLINE_DIAGNOSTICS');
  },
  '/offline-repairs/{id}/tracking': (told, sent) => {
    expect(told['trackingNumber']).toBe(textOf(sent['trackingNumber']));
    expect(told['carrierName']).toBe(textOf(sent['carrierName']));
  },
  '/offline-repairs/{id}/begin-diagnostics': (told) => expect(told['status']).toBe('OFFLINE_DIAGNOSTICS'),
  '/offline-repairs/{id}/begin-repair': (told, sent) => {
    expect(told['status']).toBe('OFFLINE_REPAIR');
    for (const name of ['repairNotes', 'assignedToId'])
      if (textOf(sent[name]) !== null) expect(told[name]).toBe(textOf(sent[name]));
  },
  '/offline-repairs/{id}/resolve': (told, sent) => {
    expect(told['status']).toBe('OFFLINE_RESOLVED');
    expect(told['offlineDisposition']).toBe(sent['offlineDisposition']);
  },
  '/offline-repairs/{id}/close': (told) => expect(told['status']).toBe('OFFLINE_CLOSED'),
  '/trade-returns': (told, sent) => {
    const [items, toldItems] = [sent['items'] as Json[], told['items'] as Json[]];
    same(['tradeOrderNumber', 'customerEmail', 'customerName', 'customerPhone', 'companyName'], sent, told);
    same(['companyId', 'reason', 'customerNotes', 'faultDescription', 'additionalComment'], sent, told);
    same(['externalRef', 'externalSource'], sent, told);
    same(
      ['street', 'suburb', 'state', 'postcode'],
      sent['shippingAddress'] as Json,
      told['shippingAddress'] as Json,
    );
    expect(told['orderDate']).toBe(sent['orderDate'] ?? null);
    expect(told['status']).toBe('TRADE_SUBMITTED');
    expect(items.length).toBeLessThanOrEqual(250);
    expect(toldItems).toHaveLength(items.length);
    expect(toldItems).not.toEqual([]);
    for (const [index, item] of items.entries()) {
      const toldItem = toldItems[index] as Json;
      same(['sku', 'productName', 'variantTitle', 'tradeLineItemId'], item, toldItem);
      for (const name of ['quantity', 'price', 'weight']) expectNumber(toldItem[name], item[name]);
      expect(toldItem['quantity']).toBeGreaterThan(0);
    }
  },
};

const shown = (body: Bytes): string =>
  typeof body === 'string' ? body.slice(0, 600) : Buffer.from(body).toString('latin1').slice(0, 600);

const expectFit = ({ template, isCreation }: Endpoint, body: Bytes, answer: Answer): void => {
  try {
    if (answer.status >= 300) {
      expect([400, 413]).toContain(answer.status);
      expectError(answer, answer.status);
      return;
    }
    expect(answer.status).toBe(isCreation ? 201 : 200);
    // A byte order mark is not part of the text (RFC 8259, 8.1).
    const text = Buffer.from(body as string)
      .toString()
      .replace(/^\ufeff/, '');
    ECHO[template]?.(answer.body, text === '' ? {} : JSON.parse(text));
  } catch (error) {
    throw new Error(`for the body ${shown(body)}`, { cause: error });
  }
};

const stateOf = async (t: Harness, ids: Ids) => {
  const row = (table: 'offline_repairs' | 'trade_returns', id: string) =>
    t.ctx.db
      .selectFrom(table as 'offline_repairs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  return {
    counts: await rowCounts(t),
    repair: await row('offline_repairs', ids['offline-repairs']),
    tradeReturn: await row('trade_returns', ids['trade-returns']),
  };
};

describe('random bodies', () => {
  it('have an arbitrary and an expected echo for every POST endpoint', async () => {
    const t = await harness();
    const posts = endpoints(t)
      .filter(({ method }) => method === 'POST')
      .map(({ template }) => template);
    expect(Object.keys(goodBodies).sort()).toEqual(posts.sort());
    expect(Object.keys(ECHO).sort()).toEqual(posts.sort());
  });

  it.each(Object.entries(goodBodies))(
    'at POST %s are taken as they are or refused without a trace',
    async (template, good) => {
      const t = await harness({ plan: 'ENTERPRISE', env: { LOG_LEVEL: 'fatal' } });
      const ids = await makeIds(t);
      const endpoint = endpoints(t).find(
        (each) => each.template === template && each.method === 'POST',
      ) as Endpoint;
      const tally = { taken: 0, refused: 0 };
      const run = await fc.check(
        fc.asyncProperty(
          fc.array(anything(good, ownBodies[template]), { minLength: BATCH, maxLength: BATCH, size: 'max' }),
          async (bodies) => {
            const before = await stateOf(t, ids);
            const answers = await Promise.all(bodies.map((body) => t.post(endpoint.path(ids), body)));
            for (const [index, answer] of answers.entries())
              expectFit(endpoint, bodies[index] as Bytes, answer);

            const taken = answers.filter(({ status }) => status < 300).length;
            tally.taken += taken;
            tally.refused += answers.length - taken;
            const after = await stateOf(t, ids);
            const created = endpoint.isCreation ? taken : 0;
            expect(after.counts).toEqual({
              repairs: before.counts.repairs + (endpoint.kind === 'offline-repairs' ? created : 0),
              returns: before.counts.returns + (endpoint.kind === 'trade-returns' ? created : 0),
              timeline: before.counts.timeline + taken,
              keys: 0,
              used: before.counts.used + created,
            });
            if (created === taken) expect(after.repair).toEqual(before.repair);
            expect(after.tradeReturn).toEqual(before.tradeReturn);
          },
        ),
        { numRuns: BATCHES, endOnFailure: true },
      );
      // Without the whole counterexample, which can be megabytes; the cause shows the one body that mattered.
      if (run.failed)
        throw new Error(`seed ${run.seed}, path ${run.counterexamplePath}`, { cause: run.errorInstance });
      expect(tally.taken + tally.refused).toBe(BATCHES * BATCH);
      // Both kinds really came: a generator that has gone stale must not pass for a service that holds.
      expect(tally.taken).toBeGreaterThan(BATCHES);
      expect(tally.refused).toBeGreaterThan(BATCHES);
    },
    120_000,
  );
});
