import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readDocuments } from '../../scripts/openapi-documents.ts';
import { breakingChanges, RELEASED_API } from '../../scripts/released.ts';
import { temporaryFolder } from '../support/process.ts';
import { needs, onlyIf } from '../support/tools.ts';

// What callers of the released API rely on, compared by oasdiff with our own levels (scripts/api-levels.txt): responses and events may
// grow, whatever callers send must be accepted as before.

// biome-ignore lint/suspicious/noExplicitAny: a JSON document
type Json = any;

let today: Json;
beforeAll(async () => {
  today = JSON.parse(JSON.stringify((await readDocuments('https://returns.example.com')).external));
});

const written = (document: Json): string => {
  const file = join(temporaryFolder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
};

const found = (change: (document: Json) => void): string => {
  const changed = structuredClone(today);
  change(changed);
  return breakingChanges(written(today), written(changed)).join('\n');
};

const schemas = (document: Json): Json => document.components.schemas;
const list = (document: Json): Json => document.paths['/offline-repairs'].get;

describe('a change of the API', needs('oasdiff'), () => {
  it(
    'does not break callers of the previous release',
    onlyIf(existsSync(RELEASED_API), 'nothing is released yet'),
    () => {
      expect(breakingChanges(RELEASED_API, written(today))).toEqual([]);
    },
  );

  it.each<[string, (document: Json) => void]>([
    ['a field of a response', (d) => (schemas(d).OfflineRepair.properties.extra = { type: 'string' })],
    ['an optional field', (d) => (schemas(d).CreateOfflineRepair.properties.extra = { type: 'string' })],
    ['a status', (d) => schemas(d).OfflineRepairStatus.enum.push('NEW')],
    ['an event', (d) => schemas(d).FeedEvent.oneOf.push({ type: 'object', properties: {} })],
  ])('may add %s', (_what, change) => {
    expect(found(change)).toBe('');
  });

  it.each<[string, RegExp, (document: Json) => void]>([
    ['an endpoint', /GET \/usage .*removed/, ({ paths }) => delete paths['/usage']],
    [
      'a field of responses',
      /rmaNumber.*removed|removed.*rmaNumber/,
      (d) => delete schemas(d).OfflineRepair.properties.rmaNumber,
    ],
    [
      'a field of requests',
      /removed the request property `orderNumber`/,
      (d) => delete schemas(d).CreateOfflineRepair.properties.orderNumber,
    ],
    [
      'a parameter',
      /deleted the `query` request parameter `page`/,
      (d) => (list(d).parameters = list(d).parameters.filter(({ name }: Json) => name !== 'page')),
    ],
    ['an event of the feed', /oneOf|TradeReturnErasedEvent/, (d) => schemas(d).FeedEvent.oneOf.pop()],
  ])('may not remove %s', (_what, line, change) => {
    expect(found(change)).toMatch(line);
  });

  it.each<[string, RegExp, (document: Json) => void]>([
    [
      'be stricter',
      /maxLength was decreased/,
      (d) => (schemas(d).CreateOfflineRepair.properties.orderNumber.maxLength = 3),
    ],
    [
      'return null where it did not',
      /rmaNumber/,
      (d) => (schemas(d).OfflineRepair.properties.rmaNumber = { type: ['string', 'null'] }),
    ],
    [
      'have another default',
      /default value was changed/,
      (d) => (list(d).parameters.find(({ name }: Json) => name === 'limit').schema.default = 7),
    ],
  ])('may not %s', (_what, line, change) => {
    expect(found(change)).toMatch(line);
  });
});
