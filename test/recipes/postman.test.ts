import { runInNewContext } from 'node:vm';
import { chai, expect, it } from 'vitest';
import { BASE_PATH, RIGHTS } from '../../contract/common.ts';
import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { type Harness, harness } from '../support/harness.ts';

interface Parameter {
  key: string;
  value: string;
  disabled?: boolean;
}
interface Item {
  name: string;
  event: { listen: 'test' | 'prerequest'; script: { exec: string[] } }[];
  request: {
    method: string;
    description?: string;
    header: Parameter[];
    url: { raw: string; host: string[]; path: string[]; query: Parameter[]; variable?: Parameter[] };
    body?: { mode: string; raw: string };
  };
}

interface Sent {
  url: string;
  method: string;
  header: Record<string, string>;
  body: { raw: string };
}

const readCollection = async (t: Harness) => {
  const response = await t.get('/docs/postman.json', { key: null, unchecked: true });
  expect(response).toHaveStatus(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return {
    collection: response.body,
    items: response.body.item.flatMap((folder: { item: Item[] }) => folder.item) as Item[],
  };
};

/** Runs a collection as Postman does: variables, the key of the collection, and the scripts after a response. */
const postman = (collection: { variable: Parameter[]; auth: { apikey: Parameter[] } }) => {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  const filled = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => variables.get(name) ?? '');
  const auth = Object.fromEntries(collection.auth.apikey.map(({ key, value }) => [key, filled(value)]));
  const enabled = (parameters: Parameter[]) =>
    parameters
      .filter(({ disabled }) => !disabled)
      .map(({ key, value }): [string, string] => [key, filled(value)]);
  return {
    variables,
    /** The names of its tests that failed are in `failed`. */
    async send({ request, event }: Item) {
      const failed: string[] = [];
      const sending: Promise<void>[] = [];
      let response: { code: number; text: string } | null = null;
      const pm = {
        get response() {
          const { code = 0, text = '' } = response ?? {};
          return { code, text: () => text, json: () => JSON.parse(text) };
        },
        collectionVariables: {
          get: (name: string) => variables.get(name),
          set: (name: string, value: string) => variables.set(name, value),
        },
        expect: chai.expect,
        test(name: string, check: () => void) {
          try {
            check();
          } catch (error) {
            failed.push(`${name}: ${error}`);
          }
        },
        sendRequest({ url, method, header, body }: Sent, done: (error: null, response: object) => void) {
          const response = fetch(url, { method, headers: header, body: body.raw });
          sending.push(
            response.then(async (got) => done(null, { json: await got.json().then((json) => () => json) })),
          );
        },
      };
      const runScripts = async (when: 'test' | 'prerequest') => {
        for (const { listen, script } of event)
          if (listen === when) runInNewContext(`{ ${script.exec.join('\n')} }`, { pm });
        await Promise.all(sending);
      };
      await runScripts('prerequest');
      const { host, path, query, variable = [] } = request.url;
      const parts = path.map((part) => {
        const named = variable.find(({ key }) => part === `:${key}`);
        return named ? filled(named.value) : part;
      });
      const address = `${filled(host.join('.'))}/${parts.join('/')}?${new URLSearchParams(enabled(query))}`;
      const got = await fetch(address, {
        method: request.method,
        headers: {
          ...Object.fromEntries(enabled(request.header)),
          [String(auth['key'])]: filled('{{apiKey}}'),
          ...(request.body && { 'content-type': 'application/json' }),
        },
        ...(request.body && { body: request.body.raw }),
      });
      response = { code: got.status, text: await got.text() };
      await runScripts('test');
      return { status: got.status, failed, body: JSON.parse(response.text) as { message?: string } };
    },
  };
};

it('the collection has every request of the OpenAPI document once, with address and key as variables', async () => {
  const t = await harness({ env: { PUBLIC_URL: 'https://returns.example.com' } });
  const { collection, items } = await readCollection(t);
  expect(collection.info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
  expect(collection.variable.slice(0, 2)).toEqual([
    { key: 'baseUrl', value: `https://returns.example.com${BASE_PATH}`, type: 'string' },
    { key: 'apiKey', value: '', type: 'string' },
  ]);
  const { paths } = (await t.get(`${BASE_PATH}/openapi.json`, { key: null })).body;
  const told = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} {{baseUrl}}${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  expect(items.map(({ request }) => `${request.method} ${request.url.raw}`).sort()).toEqual(told.sort());
  expect(new Set(items.map(({ name }) => name)).size).toBe(items.length);
});

/** Runs all requests in order. A list that is empty gives no id for the requests about one of its items. */
const runAll = async (t: Harness, apiKey: string) => {
  const { collection, items } = await readCollection(t);
  const { variables, send } = postman(collection);
  variables.set('baseUrl', `${t.url}${BASE_PATH}`);
  variables.set('apiKey', apiKey);
  const results = [];
  for (const item of items) {
    const about = item.request.url.variable?.[0]?.value.slice(2, -2);
    if (about === 'deliveryId' && variables.get(about) === '') continue;
    results.push({ name: item.name, ...(await send(item)) });
  }
  return { variables, results };
};

it('the collection runs from top to bottom with the returns that it creates, and erases nothing', async () => {
  const t = await harness();
  const { apiKey } = await createClient(t.ctx, OPERATOR, {
    shopId: t.shop.id,
    name: 'Everything',
    webhookUrl: null,
    rights: [...RIGHTS],
  });
  const { variables, results } = await runAll(t, apiKey);
  for (const { name, status, failed, body } of results)
    expect({ name, status, failed, message: body.message }).toEqual({
      name,
      status: /^Create /.test(name) ? 201 : 200,
      failed: [],
      message: undefined,
    });
  expect(results.length).toBeGreaterThanOrEqual(20);
  expect(results.find(({ name }) => name.startsWith('Erase'))?.body).toMatchObject({
    dryRun: true,
    matched: 1,
  });
  const repair = await t.get(`/offline-repairs/${variables.get('offlineRepairId')}`);
  expect(repair.body).toMatchObject({
    status: 'OFFLINE_CLOSED',
    trackingNumber: 'JD0146000034',
    erasedAt: null,
  });
  const [rejected, resolved] = (await t.get('/trade-returns')).body.items;
  expect(rejected).toMatchObject({ id: variables.get('tradeReturnId'), status: 'TRADE_REJECTED' });
  expect(resolved).toMatchObject({ status: 'TRADE_RESOLVED' });
});

it("the collection's tests pass with a key that lacks rights, and fail if a request does", async () => {
  const t = await harness();
  const passing = await runAll(t, t.client.apiKey);
  expect(passing.results.flatMap(({ failed }) => failed)).toEqual([]);
  expect(passing.results.map(({ status }) => status)).toContain(403);
  const failing = await runAll(t, 'handback_ext_wrong');
  expect(failing.results.filter(({ failed }) => failed.length !== 1)).toEqual([]);
});
