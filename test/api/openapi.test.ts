import { describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { DISPOSITIONS, OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import { VERSION } from '../../src/version.ts';
import { endpoints, expectError } from '../support/api.ts';
import { tradeBody } from '../support/bodies.ts';
import { type Harness, harness } from '../support/harness.ts';

const read = async (t: Harness) => {
  const { status, body } = await t.get(`${BASE_PATH}/openapi.json`, { key: null });
  expect(status).toBe(200);
  return body;
};

/** Every address below the base path that the router knows. */
const registered = (t: Harness): string[] => {
  const tree = t.app.printRoutes({ commonPrefix: false });
  const paths: string[] = [];
  const parents: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part = '', methods] = /^([│ ]*)[└├]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
    if (!part) continue;
    const depth = indent.length / 4;
    parents.length = depth;
    parents.push(part);
    if (methods) paths.push(parents.join(''));
  }
  return paths.filter((path) => path.startsWith(`${BASE_PATH}/`)).map((path) => path.slice(BASE_PATH.length));
};

describe('the OpenAPI document', () => {
  it('is served without a key, as 3.1', async () => {
    const t = await harness();
    const document = await read(t);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe(VERSION);
    expect(document).toEqual(JSON.parse(JSON.stringify(t.app.swagger())));
    expect((await t.get(`${BASE_PATH}/openapi.json`, { key: 'wrong' })).status).toBe(200);
  });

  it('has every address and method that the API takes, and no other', async () => {
    const t = await harness();
    const { paths } = await read(t);
    const known = registered(t).filter((path) => path !== '/openapi.json');
    expect(known).toContain('/offline-repairs/:id/tracking');
    expect(known.filter((path) => path.startsWith('/trade-returns')).sort()).toEqual([
      '/trade-returns',
      '/trade-returns/:id',
      '/trade-returns/:id/timeline',
    ]);
    const taken: Record<string, string[]> = {};
    for (const path of known) {
      const { headers } = await t.send(path.replace(':id', 'x'), { method: 'OPTIONS' });
      const methods = (headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
      taken[path.replace(/:(\w+)/g, '{$1}')] = methods.map((method) => method.toLowerCase()).sort();
    }
    const told = Object.entries(paths as Record<string, object>).map(
      ([path, operations]) => [path, Object.keys(operations).sort()] as const,
    );
    expect(taken).toEqual(Object.fromEntries(told));
  });

  it('has the base path in its server, and both ways to send the key', async () => {
    const t = await harness({ env: { PUBLIC_URL: 'https://returns.example.com' } });
    const { servers, components, security } = await read(t);
    expect(servers).toEqual([{ url: `https://returns.example.com${BASE_PATH}` }]);
    expect(components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
    expect(security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  });

  it('tells of every refusal an endpoint can answer with', async () => {
    const t = await harness();
    const { paths } = await read(t);
    for (const { method, template, hasId, isCreation } of endpoints(t)) {
      const expected = ['400', '401', '403', '429'];
      if (hasId) expected.push('404');
      if (method === 'POST') expected.push('413', '415');
      if (isCreation) expected.push('409', '422');
      const told = Object.keys(paths[template][method.toLowerCase()].responses);
      expect(told).toEqual(expect.arrayContaining(expected));
    }
  });

  it('lists the words that statuses and dispositions can be', async () => {
    const t = await harness();
    const { schemas } = (await read(t)).components;
    expect(schemas.OfflineRepair.properties.status.enum).toEqual([...OFFLINE_REPAIR_STATUSES]);
    expect(schemas.TradeReturn.properties.status.enum).toEqual([...TRADE_RETURN_STATUSES]);
    const disposition = JSON.stringify(schemas.OfflineRepair.properties.offlineDisposition);
    for (const word of DISPOSITIONS) expect(disposition).toContain(word);
  });

  it('says that every field of an answer is always there', async () => {
    const t = await harness();
    const { OfflineRepair, TradeReturn } = (await read(t)).components.schemas;
    for (const schema of [
      OfflineRepair,
      TradeReturn,
      TradeReturn.properties.items.items,
      TradeReturn.properties.shippingAddress,
    ])
      expect([...schema.required].sort()).toEqual(Object.keys(schema.properties).sort());
  });

  it('says what a trade return needs, how many items it may have and how its list is narrowed', async () => {
    const t = await harness();
    const { components, paths } = await read(t);
    const { CreateTradeReturn, TradeItem, ShippingAddress } = components.schemas;
    expect(CreateTradeReturn.required.sort()).toEqual(Object.keys(tradeBody()).sort());
    expect(CreateTradeReturn.properties.items).toMatchObject({ minItems: 1, maxItems: 250 });
    expect(TradeItem.required.sort()).toEqual(['price', 'productName', 'quantity', 'sku']);
    expect(ShippingAddress.required.sort()).toEqual(['postcode', 'state', 'street', 'suburb']);
    const names = paths['/trade-returns'].get.parameters.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual([
      'companyId',
      'customerEmail',
      'externalRef',
      'externalSource',
      'limit',
      'page',
      'rmaNumber',
      'status',
      'tradeOrderNumber',
      'updatedSince',
    ]);
    expect(JSON.stringify(paths['/trade-returns'].post)).toContain('Idempotency-Key');
  });
});

describe('patterns in the documents', () => {
  it('leave no bracket bare inside a class: Java would take it for a class of its own', async () => {
    const t = await harness();
    const documents = JSON.stringify([t.app.swagger(), t.app.adminSwagger()]);
    const patterns = [...documents.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(text as string),
    );
    expect(patterns.length).toBeGreaterThan(0);
    for (const pattern of patterns) {
      const classes = pattern.replace(/\\./g, '').match(/\[[^\]]*\]/g) ?? [];
      for (const each of classes) expect(each.slice(1), pattern).not.toContain('[');
    }
  });
});

describe('the reference page', () => {
  const ask = (t: Harness, path: string, headers: Record<string, string> = {}) =>
    t.get(path, { key: null, unchecked: true, headers });
  const scriptsOf = (page: string) =>
    [...page.matchAll(/<script src="(.+?)"/g)].map(([, src]) => `/docs/${src}`);

  it('is served whole from here, under a policy without inline scripts', async () => {
    const t = await harness();
    const page = await ask(t, '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.body).not.toMatch(/<script(?! src=)/);
    const scripts = await Promise.all(scriptsOf(page.body).map((path) => ask(t, path)));
    expect(scripts).toHaveLength(2);
    expect(scripts.map(({ body }) => body).join('')).toContain(`${BASE_PATH}/openapi.json`);
    expect(scripts[0]?.body.length).toBeGreaterThan(1_000_000);
  });

  it('has scripts that are compressed beforehand and fetched once', async () => {
    const t = await harness();
    for (const path of scriptsOf((await ask(t, '/docs/')).body)) {
      for (const encoding of ['br', 'gzip', 'identity']) {
        const script = await ask(t, path, { 'accept-encoding': encoding });
        expect(script.status).toBe(200);
        expect(script.headers.get('content-type')).toMatch(/^(application|text)\/javascript/);
        expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(script.headers.get('content-encoding') ?? 'identity').toBe(encoding);
        expect(script.headers.get('vary')).toMatch(/accept-encoding/i);
        const etag = script.headers.get('etag') ?? '';
        // Without a word of its own fetch asks for a fresh copy.
        const again = { 'accept-encoding': encoding, 'if-none-match': etag, 'cache-control': 'max-age=0' };
        expect((await ask(t, path, again)).status).toBe(304);
      }
    }
  });

  it('has nothing below it but its files; what is missing is a 404 that nobody keeps', async () => {
    const t = await harness();
    const paths = [
      '/docs/nothing',
      '/docs/assets/',
      '/docs/assets/old-0123456789.js',
      '/docs/../package.json',
    ];
    for (const path of [...paths, '/docs/..%2fadmin/index.html', '/admin/assets/old-0123456789.js']) {
      const nothing = await ask(t, path);
      expectError(nothing, 404);
      expect(nothing.headers.get('cache-control')).toBe('no-store');
    }
  });
});
