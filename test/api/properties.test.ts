import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISPOSITIONS, START_STATUSES } from '../../contract/lifecycle.ts';
import { type Endpoint, endpoints, expectError, newRepair, rowCounts } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { type Answer, type Harness, harness } from '../support/harness.ts';

// Whatever is thrown at a POST endpoint, it takes it as it is or refuses it and writes nothing.

type Json = Record<string, unknown>;
type Bytes = string | Uint8Array;

const BATCHES = 100;
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

const goodBodies: Record<string, fc.Arbitrary<unknown>> = {
  '/offline-repairs': fc.record(
    {
      orderNumber: goodText,
      customerEmail: fc.constantFrom('ada@example.com', ' ada@example.com ', "o'neil+x@mail.example.co.uk"),
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

/** The fields of a body and of what is inside it, each with its JSON text. */
const asText = (body: unknown, change: (path: string, text: string) => string | null, path = ''): string => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return JSON.stringify(body);
  const fields = Object.entries(body).flatMap(([name, value]) => {
    const inner = path ? `${path}.${name}` : name;
    const text = change(inner, asText(value, change, inner));
    return text === null ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(',')}}`;
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
      const text = asText(body, (path, value) => {
        const [, kind, name, piece] = hit.get(path) ?? [];
        if (kind === 'replace') return piece as string;
        if (kind === 'remove') return null;
        if (kind === 'add') return `${value},${JSON.stringify(name)}:${piece}`;
        if (kind === 'twice') return `${value},${JSON.stringify(path.split('.').at(-1))}:${value}`;
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

const anything = (good: fc.Arbitrary<unknown>): fc.Arbitrary<Bytes> =>
  fc.oneof(
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

const ECHO: Record<string, (told: Json, sent: Json) => void> = {
  '/offline-repairs': (told, sent) => {
    const { faultyItem: item, tracking } = sent as { faultyItem: Json; tracking?: Json | null };
    const toldItem = told['faultyItem'] as Json;
    const same = (names: string[], from: Json, to: Json) => {
      for (const name of names) expect([name, to[name]]).toEqual([name, textOf(from[name])]);
    };
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

const stateOf = async (t: Harness, id: string) => ({
  counts: await rowCounts(t),
  repair: await t.ctx.db.selectFrom('offline_repairs').selectAll().where('id', '=', id).executeTakeFirst(),
});

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
      const { id } = await newRepair(t, repairBody());
      const endpoint = endpoints(t).find(
        (each) => each.template === template && each.method === 'POST',
      ) as Endpoint;
      const tally = { taken: 0, refused: 0 };
      const run = await fc.check(
        fc.asyncProperty(
          fc.array(anything(good), { minLength: BATCH, maxLength: BATCH, size: 'max' }),
          async (bodies) => {
            const before = await stateOf(t, id);
            const answers = await Promise.all(bodies.map((body) => t.post(endpoint.path(id), body)));
            for (const [index, answer] of answers.entries())
              expectFit(endpoint, bodies[index] as Bytes, answer);

            const taken = answers.filter(({ status }) => status < 300).length;
            tally.taken += taken;
            tally.refused += answers.length - taken;
            const after = await stateOf(t, id);
            const created = endpoint.isCreation ? taken : 0;
            expect(after.counts).toEqual({
              repairs: before.counts.repairs + created,
              timeline: before.counts.timeline + taken,
              keys: 0,
              used: before.counts.used + created,
            });
            if (created === taken && taken > 0) expect(after.repair).toEqual(before.repair);
            if (taken === 0) expect(after.repair).toEqual(before.repair);
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
