import fc from 'fast-check';
import { DISPOSITIONS, START_STATUSES } from '../../contract/lifecycle.ts';
import { tradeBody } from './bodies.ts';

// Random bodies for every POST endpoint, by its path.

export type Bytes = string | Uint8Array;

const padding = fc.constantFrom('', '', ' ', '\t\n ', '\u00a0', '\ufeff');
const words = (most: number) =>
  fc
    .tuple(padding, fc.string({ unit: 'grapheme', minLength: 1, maxLength: most }), padding)
    .map(([before, inside, after]) => `${before}${inside}${after}`);
const goodText = words(20).filter((text) => text.trim() !== '' && !text.includes('\0'));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
/** Decimals with up to four places, as people write them. */
const decimal = (least: number) =>
  fc
    .tuple(fc.integer({ min: least, max: 2_000_000_000 }), fc.integer({ min: 0, max: 4 }))
    .map(([digits, places]) => Number(`${digits}e-${places}`));

const goodEmail = fc.constantFrom('ada@example.com', ' ada@example.com ', "o'neil+x@mail.example.co.uk");

type Fields = Record<string, fc.Arbitrary<unknown>>;
const record = (required: Fields, optional: Fields = {}): fc.Arbitrary<unknown> =>
  fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });

const SHORT = maybe(words(20));
const LONG = maybe(words(200));
const CUSTOMER = { customerEmail: goodEmail, customerName: goodText };
const ITEM = { sku: goodText, productName: goodText, quantity: decimal(1), price: decimal(0) };
const OF_ANY_ITEM = { variantTitle: SHORT, weight: maybe(decimal(0)) };
const OF_ANY_RMA = { customerPhone: SHORT, externalRef: SHORT, externalSource: SHORT };
const TRACKING = { trackingNumber: goodText, carrierName: goodText };

export const goodBodies: Record<string, fc.Arbitrary<unknown>> = {
  '/offline-repairs': record(
    {
      ...CUSTOMER,
      orderNumber: goodText,
      faultyItem: record(ITEM, { ...OF_ANY_ITEM, serialNumber: SHORT }),
      faultDescription: goodText,
      storeId: goodText,
    },
    {
      ...OF_ANY_RMA,
      startStatus: maybe(fc.constantFrom(...START_STATUSES)),
      replacementSku: SHORT,
      notes: LONG,
      tracking: maybe(record(TRACKING)),
    },
  ),
  '/offline-repairs/{id}/tracking': record(TRACKING),
  '/offline-repairs/{id}/begin-diagnostics': record({}, { notes: LONG }),
  '/offline-repairs/{id}/begin-repair': record({}, { repairNotes: LONG, assignedToId: SHORT }),
  '/offline-repairs/{id}/resolve': record(
    { offlineDisposition: fc.constantFrom(...DISPOSITIONS) },
    { notes: LONG },
  ),
  '/offline-repairs/{id}/close': fc.constant({}),
  '/trade-returns': record(
    {
      ...CUSTOMER,
      tradeOrderNumber: goodText,
      companyName: goodText,
      companyId: goodText,
      reason: goodText,
      items: fc.array(record(ITEM, { ...OF_ANY_ITEM, tradeLineItemId: SHORT }), {
        minLength: 1,
        maxLength: 6,
      }),
      shippingAddress: record({ street: goodText, suburb: goodText, state: goodText, postcode: goodText }),
    },
    {
      ...OF_ANY_RMA,
      orderDate: SHORT,
      customerNotes: LONG,
      faultDescription: LONG,
      additionalComment: LONG,
    },
  ),
};

/** Bodies that only one endpoint has a use for. */
export const ownBodies: Record<string, fc.Arbitrary<Bytes>> = {
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
    ...'null "" [] {} -0 -1 0 1e400 -1e400 5e-324 0.30000000000000004 "1" true [null]'.split(' '),
    '123456789012345678901234567890',
    '"  "',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '{"__proto__":{"admin":true}}',
    '{"toString":1,"constructor":{"prototype":{}}}',
    '{"length":3}',
  ),
  fc.integer({ min: 120, max: 6000 }).map((length) => JSON.stringify('x'.repeat(length))),
  fc.integer({ min: 10, max: 3000 }).map((length) => JSON.stringify('\u{1f642}'.repeat(length))),
  fc.integer({ min: 10, max: 20_000 }).map((depth) => nested(depth, '[', ']', '')),
  fc.integer({ min: 10, max: 10_000 }).map((depth) => nested(depth, '{"a":', '}', '1')),
);

/** Names of fields and parameters that no endpoint has, or not there. */
export const ODD_NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'id', 'status', 'shopId', 'tracking', 'notes'],
  ...['ordernumber', '', '$where'],
];
const oddName = fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string({ unit: 'binary', maxLength: 200 }));

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
    good.map((body) => Buffer.from(JSON.stringify(body), 'utf16le')),
    good.map((body) => JSON.stringify([body])),
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

/** Valid bodies, damaged ones, other JSON, and bytes that are not JSON. */
export const goodOrSpoilt = (good: fc.Arbitrary<unknown>): fc.Arbitrary<Bytes> =>
  fc.oneof(
    { weight: 25, arbitrary: good.map((body) => JSON.stringify(body)) },
    { weight: 45, arbitrary: spoilt(good) },
    { weight: 12, arbitrary: oddPiece },
    { weight: 16, arbitrary: broken(good) },
  );

/** These, bodies of the endpoint's own, and large ones. */
export const anything = (good: fc.Arbitrary<unknown>, own?: fc.Arbitrary<Bytes>): fc.Arbitrary<Bytes> =>
  fc.oneof(
    ...(own ? [{ weight: 6, arbitrary: own }] : []),
    { weight: 98, arbitrary: goodOrSpoilt(good) },
    { weight: 2, arbitrary: heavy },
  );
