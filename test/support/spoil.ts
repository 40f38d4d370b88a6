// Bodies that were good until something happened to them, made fast: hundreds of thousands in a run. One seed makes one sequence.

/** A number from 0 to below 1. */
export type Random = () => number;

/** mulberry32. */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const upTo = (random: Random, count: number): number => Math.floor(random() * count);
const oneOf = <Value>(random: Random, values: readonly Value[]): Value =>
  values[upTo(random, values.length)] as Value;

const deep = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

/** JSON text that has no business where it is put. */
const ODD = [
  ...[
    'null',
    'true',
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
    '1e-9',
    '[null]',
  ],
  ...[
    '123456789012345678901234567890',
    '0.30000000000000004',
    '"1"',
    '"\\u0000"',
    '"\\ud800"',
    '{"length":3}',
  ],
  ...[
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"toString":1}',
    '"__proto__"',
  ],
];
/** Costly for both sides, so there are fewer of them. */
const LARGE = [
  JSON.stringify('x'.repeat(6_000)),
  JSON.stringify('\u{1f642}'.repeat(3_000)),
  JSON.stringify('\u202e\u0000\uffff'),
  deep(10_000, '[', ']'),
  deep(10_000, '{"a":', '}'),
];
const odd = (random: Random): string => oneOf(random, random() < 0.02 ? LARGE : ODD);

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'id',
  'status',
  'shopId',
  '',
  '\u0000',
  '$where',
];

type Spoiler = (text: string, random: Random) => string | Buffer;

/** Replaces, adds or repeats a field, found by its text. */
const inField: Spoiler = (text, random) => {
  const fields = [...text.matchAll(/"(\w+)":("(?:[^"\\]|\\.)*"|-?[\d.]+|true|false|null)/g)];
  const field = fields.length > 0 ? oneOf(random, fields) : undefined;
  if (!field) return odd(random);
  const [whole, name] = field;
  const changed = oneOf(random, [
    `"${name}":${odd(random)}`,
    `${JSON.stringify(oneOf(random, NAMES))}:${odd(random)}`,
    `${whole},${whole}`,
    `${whole},${JSON.stringify(oneOf(random, NAMES))}:${odd(random)}`,
  ]);
  return text.slice(0, field.index) + changed + text.slice(field.index + whole.length);
};

const inBytes: Spoiler = (text, random) => {
  const bytes = Buffer.from(text);
  for (let times = 1 + upTo(random, 4); times > 0 && bytes.length > 0; times -= 1)
    bytes[upTo(random, bytes.length)] = upTo(random, 256);
  return bytes;
};

const SPOILERS: Spoiler[] = [
  inField,
  inField,
  inField,
  inBytes,
  inBytes,
  (text, random) => text.slice(0, upTo(random, text.length + 1)),
  (text, random) => text + text.slice(upTo(random, text.length + 1)),
  (_text, random) => odd(random),
  (_text, random) => Buffer.from(Array.from({ length: upTo(random, 80) }, () => upTo(random, 256))),
  (text) => `\ufeff${text}`,
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xc3, 0x28, 0xff])]),
  (text) => `[${text}]`,
  (text) => text,
];

export const spoiltBody = (good: unknown, random: Random): string | Buffer =>
  oneOf(random, SPOILERS)(JSON.stringify(good ?? {}), random);

const ODD_VALUES = [
  '',
  '%20',
  '-1',
  '0',
  '1e9',
  '999999999999999999999',
  'NaN',
  'null',
  '%00',
  '%ff',
  '%E2%28',
  '%F0%9F%99%82',
  "'--",
  '__proto__',
  '[]',
  '{}',
  'x'.repeat(2_000),
];

/** A query of known parameters with odd values, repeated ones, and some that nobody knows. */
export const spoiltQuery = (names: string[], random: Random): string => {
  const parts = Array.from({ length: 1 + upTo(random, 3) }, () => {
    const name =
      random() < 0.8 && names.length > 0 ? oneOf(random, names) : encodeURIComponent(oneOf(random, NAMES));
    return `${name}=${oneOf(random, ODD_VALUES)}`;
  });
  return `?${parts.join('&')}`;
};

/** What may be wrong beside the body. */
export const spoiltHeaders = (random: Random): Record<string, string> => {
  if (random() < 0.85) return { 'content-type': 'application/json' };
  return oneOf<Record<string, string>>(random, [
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'x'.repeat(500) },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    { 'content-type': 'application/json', 'idempotency-key': 'k'.repeat(300) },
    { 'content-type': 'application/json', 'x-request-id': 'r'.repeat(300) },
    { 'content-type': 'application/json', accept: 'image/png', 'x-http-method-override': 'DELETE' },
  ]);
};
