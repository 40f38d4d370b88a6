import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { DISPOSITIONS, OFFLINE_REPAIR_STATUSES, TRADE_RETURN_STATUSES } from '../../contract/lifecycle.ts';
import { VERSION } from '../../src/platform/config.ts';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { withValue } from '../support/fields.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { registeredRoutes } from '../support/registered-routes.ts';
import { pluck } from '../support/responses.ts';

const harness = sharedHarness();
const it = itWith(harness);

const read = async (t: Harness) => {
  const response = await t.get(`${BASE_PATH}/openapi.json`, { key: null });
  expect(response).toHaveStatus(200);
  return response.body;
};

type Json = Awaited<ReturnType<typeof read>>;

describe('the OpenAPI document', () => {
  it('is served without a key, as 3.1', async ({ t }) => {
    const document = await read(t);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe(VERSION);
    expect(document).toEqual(JSON.parse(JSON.stringify(t.app.swagger())));
    expect(await t.get(`${BASE_PATH}/openapi.json`, { key: 'wrong' })).toHaveStatus(200);
  });

  it('has exactly the paths and methods of the API', async ({ t }) => {
    const { paths } = await read(t);
    const known = registeredRoutes(t, BASE_PATH).filter((path) => path !== '/openapi.json');
    expect(known).toContain('/offline-repairs/:id/tracking');
    const taken: Record<string, string[]> = {};
    for (const path of known) {
      const { headers } = await t.send(path.replace(':id', 'x'), { method: 'OPTIONS' });
      // A GET of a dry run is one of an id that no return has.
      const isOwn = (method: string) => method !== 'HEAD' && !(method === 'GET' && path.endsWith('/dry-run'));
      const methods = (headers.get('allow') ?? '').split(', ').filter(isOwn);
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

  it('lists the values of statuses and dispositions', async ({ t }) => {
    const { schemas } = (await read(t)).components;
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const { status, offlineDisposition } = schemas.OfflineRepair.properties;
    expect(status).toEqual(ref('OfflineRepairStatus'));
    expect(offlineDisposition.anyOf).toEqual([ref('OfflineDisposition'), { type: 'null' }]);
    expect(schemas.TradeReturn.properties.status).toEqual(ref('TradeReturnStatus'));
    expect(schemas.ApiError.properties.code).toEqual(ref('ErrorCode'));
    expect(schemas.OfflineRepairStatus.enum).toEqual([...OFFLINE_REPAIR_STATUSES]);
    expect(schemas.TradeReturnStatus.enum).toEqual([...TRADE_RETURN_STATUSES]);
    expect(schemas.OfflineDisposition.enum).toEqual([...DISPOSITIONS]);
    expect(schemas.ErrorCode.enum).toEqual(expect.arrayContaining(['LIMIT_EXCEEDED', 'VALIDATION_FAILED']));
    expect(schemas.ErrorCode.enum).not.toContain('SIGN_IN_FAILED');
  });

  it('allows more fields in responses but not in bodies, and has no defaults', async ({ t }) => {
    const { paths, components } = await read(t);
    const schemas = new Map<string, unknown>(Object.entries(components.schemas));
    const reach = (part: unknown, into = new Set<string>()): Set<string> => {
      for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g))
        if (!into.has(name)) reach(schemas.get(name), into.add(name));
      return into;
    };
    const operations = Object.values(paths as Record<string, object>).flatMap((path) => Object.values(path));
    const textOf = (parts: unknown[]) => JSON.stringify([...reach(parts)].map((name) => schemas.get(name)));
    expect(textOf(operations.map(({ responses }) => responses))).not.toContain(
      '"additionalProperties":false',
    );
    const bodies = operations.flatMap(({ requestBody }) => requestBody ?? []);
    expect(textOf(bodies)).not.toContain('"default"');
    for (const name of reach(bodies)) {
      const schema = components.schemas[name];
      if (schema.type === 'object') expect(schema.additionalProperties, name).toBe(false);
    }
  });

  it('uses a dry run as the example of an erasure', async ({ t }) => {
    const { components } = await read(t);
    expect(components.schemas.CreateErasure.examples).toEqual([
      { customerEmail: 'ada@example.com', dryRun: true },
    ]);
  });

  it('names exactly the errors of each operation', async ({ t }) => {
    const { paths } = await read(t);
    const codesOf = (path: string, method: string, status: number) =>
      [...(paths[path][method].responses[status]?.description ?? '').matchAll(/`([A-Z_]+)`:/g)].map(
        ([, code]) => code,
      );
    expect(codesOf('/offline-repairs', 'post', 409)).toEqual(['IDEMPOTENCY_KEY_IN_USE']);
    expect(codesOf('/offline-repairs/{id}', 'get', 403)).toEqual(['PLAN_REQUIRED']);
    expect(codesOf('/trade-returns/{id}/approve', 'post', 409)).toEqual([
      'ERASED',
      'MOVE_NOT_ALLOWED',
      'EDIT_CONFLICT',
    ]);
    expect(codesOf('/deliveries/{id}', 'get', 404)).toEqual(['DELIVERY_NOT_FOUND']);
    expect(codesOf('/events', 'get', 410)).toEqual(['CURSOR_EXPIRED']);
    // biome-ignore lint/suspicious/noExplicitAny: a JSON document
    for (const operation of Object.values<any>(paths).flatMap((path) => Object.values<any>(path)))
      expect(operation.responses[500], operation.operationId).toBeDefined();
  });

  it('types the data of the feed by event, with the payloads of the webhooks', async ({ t }) => {
    const { components, webhooks } = await read(t);
    const { mapping, propertyName } = components.schemas.FeedEvent.discriminator;
    expect(propertyName).toBe('event');
    const told = Object.fromEntries(
      Object.entries<string>(mapping).map(([event, ref]) => {
        const { properties } = components.schemas[ref.split('/').at(-1) as string];
        expect(properties.event.const).toBe(event);
        return [event, properties.data];
      }),
    );
    const { 'webhook.test': _, ...ofRmas } = webhooks;
    const payloads = Object.entries<Json>(ofRmas).map(([event, { post }]) => {
      const { schema } = post.requestBody.content['application/json'];
      return [event, schema.properties.data];
    });
    expect(told).toEqual(Object.fromEntries(payloads));
  });

  it('says that every field of a response is always present', async ({ t }) => {
    const { OfflineRepair, TradeReturn } = (await read(t)).components.schemas;
    const { items, shippingAddress } = TradeReturn.properties;
    for (const schema of [OfflineRepair, TradeReturn, items.items, shippingAddress])
      expect([...schema.required].sort()).toEqual(Object.keys(schema.properties).sort());
  });

  it('describes the required fields, the number of items and the filters of trade returns', async ({ t }) => {
    const { components, paths } = await read(t);
    const { CreateTradeReturn, TradeItem, ShippingAddress } = components.schemas;
    expect(CreateTradeReturn.required.sort()).toEqual(Object.keys(tradeBody()).sort());
    expect(CreateTradeReturn.properties.items).toMatchObject({ minItems: 1, maxItems: 250 });
    expect(TradeItem.required.sort()).toEqual(['price', 'productName', 'quantity', 'sku']);
    expect(ShippingAddress.required.sort()).toEqual(['postcode', 'state', 'street', 'suburb']);
    expect(pluck(paths['/trade-returns'].get.parameters, 'name').sort()).toEqual([
      ...['companyId', 'customerEmail', 'externalRef', 'externalSource', 'limit', 'page', 'rmaNumber'],
      ...['status', 'tradeOrderNumber', 'updatedSince'],
    ]);
    expect(JSON.stringify(paths['/trade-returns'].post)).toContain('Idempotency-Key');
  });
});

describe('a body that a validator refuses because of the document', () => {
  /** By the name of its schema: the values that both refuse, and those that both take, for every text and number in it. */
  const validators = (t: Harness) => {
    const ajv = new Ajv2020({ strict: false, formats: { 'idn-email': true } });
    ajv.addSchema(t.app.swagger(), 'document');
    return (name: string) => ajv.compile({ $ref: `document#/components/schemas/${name}` });
  };
  const REQUIRED = { refused: ['', ' ', '\n\t \u00a0', '\0', 'a\0b', ' \0 '], taken: ['x', ' x ', 'a\nb'] };
  const OPTIONAL = { refused: ['\0', 'a\0b'], taken: ['', ' ', 'x', 'a\nb', null] };
  const EMAIL = { refused: ['', ' ', 'a\0@example.com', 'a@exam\0ple.com'], taken: ['a@example.com'] };
  const CASES = [
    ['orderNumber', REQUIRED],
    ['faultyItem.productName', REQUIRED],
    ['tracking.carrierName', REQUIRED],
    ['notes', OPTIONAL],
    ['faultyItem.serialNumber', OPTIONAL],
    ['customerEmail', EMAIL],
    ['faultyItem.quantity', { refused: [0, -1, 1e12], taken: [0.0001, 1, 49.95] }],
    ['faultyItem.price', { refused: [-0.0001, 1e12], taken: [0, 0.07, 149.95, 1234567.8901] }],
  ] as const;

  it('is refused by the service too, and vice versa', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    const isValid = validators(t)('CreateOfflineRepair');
    const tracking = { trackingNumber: 'JD01', carrierName: 'DHL' };
    for (const [path, { refused, taken }] of CASES)
      for (const [values, expected] of [
        [refused, { status: 400, valid: false }],
        [taken, { status: 201, valid: true }],
      ] as const)
        for (const value of values) {
          const body = withValue(repairBody({ tracking }), path, value);
          expect(await t.post('/offline-repairs', body), `${path}: ${value}`).toHaveStatus(expected.status);
          expect({ path, value, valid: isValid(body) }).toEqual({ path, value, valid: expected.valid });
        }
  });

  it('limits decimals in words only, since many validators would refuse every fourth price', async ({
    t,
  }) => {
    const { FaultyItem } = (await read(t)).components.schemas;
    for (const name of ['quantity', 'price', 'weight']) {
      expect(FaultyItem.properties[name].description).toContain('at most 4 decimals');
      expect(JSON.stringify(FaultyItem.properties[name])).not.toContain('multipleOf');
    }
  });
});

it('patterns have no bare bracket inside a class, which Java reads as a nested class', async ({ t }) => {
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
