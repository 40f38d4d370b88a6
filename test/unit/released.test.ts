import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { readDocuments } from '../../scripts/openapi-documents.ts';
import {
  breakingChanges,
  changedMigrations,
  changesOf,
  type Json,
  migrationDigests,
} from '../../scripts/released.ts';
import { onlyIf } from '../support/tools.ts';

// What the last release promised, against the code as it is; and that each broken promise would be found.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RELEASED = join(ROOT, 'test', 'released');
const sinceTheFirst = onlyIf(existsSync(RELEASED), 'nothing is released yet');
const released = (name: string): Json => JSON.parse(readFileSync(join(RELEASED, name), 'utf8'));
const digests = migrationDigests(join(ROOT, 'src', 'db', 'migrations'));

let today: Json;
beforeAll(async () => {
  today = JSON.parse(JSON.stringify((await readDocuments('https://returns.example.com')).external));
});

it('has every released migration as it was', sinceTheFirst, () => {
  expect(changedMigrations(released('migrations.json'), digests)).toEqual([]);
});

it('breaks no caller of the released API', sinceTheFirst, () => {
  expect(breakingChanges(released('openapi.json'), today)).toEqual([]);
});

it('finds migrations that were changed or removed, and lets new ones be', () => {
  const before = { '0001-schema.ts': 'one', '0002-colour.ts': 'two' };
  expect(changedMigrations(before, { '0002-colour.ts': 'other', '0003-size.ts': 'three' })).toEqual([
    '0001-schema.ts is released and was removed: add a new migration',
    '0002-colour.ts is released and was changed: add a new migration',
  ]);
  expect(changedMigrations(before, { ...before, '0003-size.ts': 'three' })).toEqual([]);
  expect(Object.keys(digests)).toContain('0001-schema.ts');
});

describe('a change of the API', () => {
  /** A copy of the document, changed. */
  const after = (change: (document: Json) => void): Json => {
    const copy = structuredClone(today);
    change(copy);
    return copy;
  };
  const schemas = (document: Json): Json => document.components.schemas;
  const creation = (document: Json): Json => document.paths['/offline-repairs'].post;
  const list = (document: Json): Json => document.paths['/offline-repairs'].get;
  const found = (change: (document: Json) => void) => breakingChanges(today, after(change)).join('\n');

  it('that is none breaks nobody', () => {
    expect(breakingChanges(today, today)).toEqual([]);
  });

  it.each<[string, (document: Json) => void]>([
    ['a path', ({ paths }) => Object.assign(paths, { '/new': { get: { responses: {} } } })],
    [
      'a field of an answer',
      (d) => Object.assign(schemas(d).OfflineRepair.properties, { extra: { type: 'string' } }),
    ],
    [
      'an optional field',
      (d) => Object.assign(schemas(d).CreateOfflineRepair.properties, { extra: { type: 'string' } }),
    ],
    [
      'an optional parameter',
      (d) => list(d).parameters.push({ in: 'query', name: 'x', schema: { type: 'string' } }),
    ],
    ['a status that callers receive', (d) => schemas(d).OfflineRepairStatus.enum.push('NEW')],
    ['an event', ({ webhooks }) => Object.assign(webhooks, { 'x.y': { post: {} } })],
    [
      'a form of events in the feed',
      (d) => schemas(d).FeedEvent.oneOf.push({ type: 'object', properties: {} }),
    ],
    ['a longer text', (d) => (schemas(d).CreateOfflineRepair.properties.orderNumber.maxLength += 1)],
  ])('that adds %s breaks nobody', (_what, change) => {
    expect(found(change)).toBe('');
  });

  it.each<[string, RegExp, (document: Json) => void]>([
    ['removes a path', /^GET \/usage was removed$/, ({ paths }) => delete paths['/usage']],
    [
      'removes a method',
      /^POST \/offline-repairs was removed$/,
      ({ paths }) => delete paths['/offline-repairs'].post,
    ],
    [
      'removes an event',
      /^event offline_repair.closed was removed$/,
      ({ webhooks }) => delete webhooks['offline_repair.closed'],
    ],
    [
      'removes a field of answers',
      /POST \/offline-repairs, 201\.rmaNumber was removed/,
      (d) => delete schemas(d).OfflineRepair.properties.rmaNumber,
    ],
    [
      'lets a field be missing',
      /\.rmaNumber may be missing now/,
      (d) =>
        schemas(d).OfflineRepair.required.splice(schemas(d).OfflineRepair.required.indexOf('rmaNumber'), 1),
    ],
    [
      'lets a field be null',
      /\.rmaNumber: its type was string and is null/,
      (d) =>
        (schemas(d).OfflineRepair.properties.rmaNumber = { anyOf: [{ type: 'string' }, { type: 'null' }] }),
    ],
    [
      'changes a type',
      /\.rmaNumber: its type was string and is integer/,
      (d) => (schemas(d).OfflineRepair.properties.rmaNumber = { type: 'integer' }),
    ],
    [
      'removes a field of requests',
      /POST \/offline-repairs, body\.orderNumber was removed/,
      (d) => delete schemas(d).CreateOfflineRepair.properties.orderNumber,
    ],
    [
      'requires a field',
      /POST \/offline-repairs, body\.extra is required now/,
      (d) => {
        schemas(d).CreateOfflineRepair.properties.extra = { type: 'string' };
        schemas(d).CreateOfflineRepair.required.push('extra');
      },
    ],
    [
      'has a stricter rule',
      /body\.orderNumber: maxLength is stricter/,
      (d) => (schemas(d).CreateOfflineRepair.properties.orderNumber.maxLength = 3),
    ],
    [
      'removes a value that callers send',
      /the value "\w+" was removed/,
      (d) => schemas(d).OfflineDisposition.enum.pop(),
    ],
    [
      'removes a parameter',
      /^GET \/offline-repairs, query parameter page was removed/m,
      (d) => (list(d).parameters = list(d).parameters.filter(({ name }: Json) => name !== 'page')),
    ],
    [
      'requires a parameter',
      /header parameter Idempotency-Key is required now/,
      (d) => (creation(d).parameters[0].required = true),
    ],
    [
      'changes a default',
      /query parameter limit: its default was changed/,
      (d) => (list(d).parameters.find(({ name }: Json) => name === 'limit').schema.default = 7),
    ],
    [
      'answers with another status',
      /POST \/offline-repairs, 201 was removed/,
      (d) => {
        creation(d).responses[200] = creation(d).responses[201];
        delete creation(d).responses[201];
      },
    ],
    [
      'removes a form of events in the feed',
      /GET \/events, 200\S*: one of its forms was removed/,
      (d) => schemas(d).FeedEvent.oneOf.pop(),
    ],
    [
      'removes a field of events',
      /event trade_return\.erased\S* was removed/,
      (d) => delete schemas(d).TradeReturnErased.properties.id,
    ],
    ['takes no key in this way', /no longer authenticates/, (d) => (d.security = [{ other: [] }])],
    [
      'moves the API',
      /^the address \/api\/v1\/external\/v1 was changed to \/v2$/,
      (d) => (d.servers[0].url = 'https://returns.example.com/v2'),
    ],
  ])('that %s is found', (_what, line, change) => {
    expect(found(change)).toMatch(line);
  });
});

it('finds the part of the changelog on a version, dated or not', () => {
  const changelog =
    '# Changelog\n\n## [0.2.0] - unreleased\n\n- new\n\n## [0.1.0] - 2026-12-01\n\n- first\n- second\n';
  expect(changesOf(changelog, '0.2.0')).toEqual({ date: null, text: '- new' });
  expect(changesOf(changelog, '0.1.0')).toEqual({ date: '2026-12-01', text: '- first\n- second' });
  expect(changesOf(changelog, '0.1.1')).toBeNull();
});
