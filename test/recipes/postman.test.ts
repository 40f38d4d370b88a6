import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { BASE_PATH } from '../../contract/common.ts';
import { type Harness, harness } from '../support/harness.ts';

interface Parameter {
  key: string;
  value: string;
  disabled?: boolean;
}
interface Item {
  name: string;
  event?: { listen: string; script: { exec: string[] } }[];
  request: {
    method: string;
    description?: string;
    header: Parameter[];
    url: { raw: string; host: string[]; path: string[]; query: Parameter[]; variable?: Parameter[] };
    body?: { mode: string; raw: string };
  };
}

const readCollection = async (t: Harness) => {
  const { status, headers, body } = await t.get('/docs/postman.json', { key: null, unchecked: true });
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  return { collection: body, items: body.item.flatMap((folder: { item: Item[] }) => folder.item) as Item[] };
};

/** Does with a collection what Postman does: variables, the key of the collection, and the scripts after an answer. */
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
    async send({ request, event = [] }: Item) {
      const { host, path, query, variable = [] } = request.url;
      const parts = path.map((part) => {
        const named = variable.find(({ key }) => part === `:${key}`);
        return named ? filled(named.value) : part;
      });
      const address = `${filled(host.join('.'))}/${parts.join('/')}?${new URLSearchParams(enabled(query))}`;
      const response = await fetch(address, {
        method: request.method,
        headers: {
          ...Object.fromEntries(enabled(request.header)),
          [String(auth['key'])]: filled('{{apiKey}}'),
          ...(request.body && { 'content-type': 'application/json' }),
        },
        ...(request.body && { body: request.body.raw }),
      });
      const body = (await response.json()) as { message?: string };
      const pm = {
        response: { json: () => body },
        collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
      };
      for (const { script } of event) runInNewContext(`{ ${script.exec.join('\n')} }`, { pm });
      return { status: response.status, body };
    },
  };
};

it('has every request of the OpenAPI document once, with address and key as variables', async () => {
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

it('can be run from top to bottom: what is created is what the other requests are about', async () => {
  const t = await harness();
  const { collection, items } = await readCollection(t);
  const { variables, send } = postman(collection);
  variables.set('baseUrl', `${t.url}${BASE_PATH}`);
  variables.set('apiKey', t.client.apiKey);
  let sent = 0;
  for (const item of items) {
    // A list that is empty gives no id for the requests about one of its items.
    const about = item.request.url.variable?.[0]?.value.slice(2, -2);
    if (about && !/^(offlineRepair|tradeReturn)Id$/.test(about) && variables.get(about) === '') continue;
    // A new client has no other right.
    const [, right = 'write'] = /Needs the right `([\w-]+)`/.exec(item.request.description ?? '') ?? [];
    if (right !== 'write') continue;
    const { status, body } = await send(item);
    expect({ name: item.name, status, message: body.message }).toEqual({
      name: item.name,
      status: /^Create /.test(item.name) ? 201 : 200,
      message: undefined,
    });
    sent += 1;
  }
  expect(sent).toBeGreaterThanOrEqual(11);
  const repair = await t.get(`/offline-repairs/${variables.get('offlineRepairId')}`);
  expect(repair.body).toMatchObject({ status: 'OFFLINE_CLOSED', trackingNumber: 'JD0146000034' });
  expect((await t.get(`/trade-returns/${variables.get('tradeReturnId')}`)).status).toBe(200);
});
