import type { Json } from '../../src/http/openapi.ts';

// The OpenAPI document as a collection for Postman, version 2.1 of its format. Address and key are variables.

const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Operation {
  method: (typeof METHODS)[number];
  path: string;
  details: Json;
}

export const postmanCollection = (document: Json): Json => {
  const operations = operationsIn(document);
  return {
    info: {
      name: document.info.title,
      description: document.info.summary,
      version: document.info.version,
      schema: FORMAT,
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'X-Api-Key', type: 'string' },
        { key: 'value', value: '{{apiKey}}', type: 'string' },
        { key: 'in', value: 'header', type: 'string' },
      ],
    },
    variable: [
      { key: 'baseUrl', value: document.servers[0].url, type: 'string' },
      { key: 'apiKey', value: '', type: 'string' },
      ...[...new Set(operations.flatMap(({ path }) => idVariableOf(path) ?? []))].map((key) => ({
        key,
        value: '',
        type: 'string',
      })),
    ],
    item: document.tags
      .map(({ name, description }: Json) => ({
        name,
        description,
        item: operations
          .filter(({ details }) => details.tags?.[0] === name)
          .map((operation) => itemFor(document, operations, operation)),
      }))
      .filter(({ item }: Json) => item.length > 0),
  };
};

const operationsIn = (document: Json): Operation[] =>
  Object.entries<Json>(document.paths)
    .flatMap(([path, byMethod]) =>
      METHODS.filter((method) => byMethod[method]).map((method) => ({
        method,
        path,
        details: byMethod[method],
      })),
    )
    .sort(creationsFirst);

/** So that the whole collection can be run from top to bottom. The order is otherwise the document's. */
const creationsFirst = (a: Operation, b: Operation): number => rankOf(a) - rankOf(b);
/** A return that is rejected takes no other move. */
const rankOf = (operation: Operation): number => (isCreation(operation) ? 0 : isRejection(operation) ? 2 : 1);
const isRejection = ({ path }: Operation): boolean => path.endsWith('/reject');
const isCreation = ({ method, path }: Operation): boolean => method === 'post' && !path.includes('{');

/** `/offline-repairs/{id}/close` → `offlineRepairId`; null where the path has no id. */
const idVariableOf = (path: string): string | null => {
  const [, resource] = /^\/([\w-]+)\/\{id\}/.exec(path) ?? [];
  if (!resource) return null;
  const singular = resource.replace(/ies$/, 'y').replace(/s$/, '');
  return `${singular.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Id`;
};

const itemFor = (document: Json, operations: Operation[], operation: Operation): Json => {
  const { method, path, details } = operation;
  const event = [
    script('test', [...testOf(details), ...(idScriptOf(operations, operation) ?? [])]),
    ...(isRejection(operation) ? [script('prerequest', createAnother(document, operations, operation))] : []),
  ];
  const schema = details.requestBody?.content['application/json']?.schema;
  return {
    name: details.summary,
    event,
    request: {
      method: method.toUpperCase(),
      description: details.description,
      header: parametersOf(details, 'header'),
      url: urlOf(path, parametersOf(details, 'query')),
      ...(schema && {
        body: {
          mode: 'raw',
          raw: JSON.stringify(exampleOf(document, schema), null, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
    response: [],
  };
};

const script = (listen: 'test' | 'prerequest', exec: string[]): Json => ({
  listen,
  script: { type: 'text/javascript', exec },
});

/** A key without the right that an operation needs is no failure of the run. */
const testOf = ({ summary }: Json): string[] => [
  `pm.test(${JSON.stringify(`${summary}: succeeds, or the key lacks the right`)}, () => {`,
  "  const lacksRight = pm.response.code === 403 && pm.response.json().code === 'RIGHT_REQUIRED';",
  '  if (!lacksRight) pm.expect(pm.response.code, pm.response.text()).to.be.within(200, 299);',
  '});',
];

/** A rejection has a return of its own, since the one before it has been resolved. */
const createAnother = (document: Json, operations: Operation[], { path }: Operation): string[] => {
  const [collection = ''] = path.split('/{id}');
  const creation = operations.find((each) => each.path === collection && isCreation(each));
  const schema = creation?.details.requestBody.content['application/json'].schema;
  const body = JSON.stringify(exampleOf(document, schema));
  return [
    'pm.sendRequest(',
    '  {',
    `    url: pm.collectionVariables.get('baseUrl') + '${collection}',`,
    "    method: 'POST',",
    "    header: { 'X-Api-Key': pm.collectionVariables.get('apiKey'), 'Content-Type': 'application/json' },",
    `    body: { mode: 'raw', raw: ${JSON.stringify(body)} },`,
    '  },',
    `  (error, response) => pm.collectionVariables.set('${idVariableOf(path)}', response.json().id),`,
    ');',
  ];
};

/** Optional ones are there, but switched off. */
const parametersOf = (details: Json, place: 'header' | 'query'): Json[] =>
  (details.parameters ?? [])
    .filter((parameter: Json) => parameter.in === place)
    .map(({ name, required, example, description, schema }: Json) => ({
      key: name,
      value: String(example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? ''),
      ...(description && { description }),
      disabled: !required,
    }));

const urlOf = (path: string, query: Json[]): Json => {
  const parts = path
    .slice(1)
    .replace(/\{(\w+)\}/g, ':$1')
    .split('/');
  const idVariable = idVariableOf(path);
  return {
    raw: `{{baseUrl}}/${parts.join('/')}`,
    host: ['{{baseUrl}}'],
    path: parts,
    query,
    ...(idVariable && { variable: [{ key: 'id', value: `{{${idVariable}}}` }] }),
  };
};

/** What is created, or else the newest of a list, is what the requests with an id are about. */
const idScriptOf = (operations: Operation[], operation: Operation): string[] | null => {
  const { path } = operation;
  const variable = operations.some((other) => other.path === `${path}/{id}`) && idVariableOf(`${path}/{id}`);
  if (!variable) return null;
  const keep = (id: string) => [
    `const id = ${id};`,
    `if (id) pm.collectionVariables.set('${variable}', id);`,
  ];
  if (isCreation(operation)) return keep('pm.response.json().id');
  const isCreatable = operations.some((other) => other.path === path && isCreation(other));
  return isCreatable ? null : keep('pm.response.json().items?.[0]?.id');
};

/** A value that a schema of the document accepts: its own example, or one put together from its parts. */
const exampleOf = (document: Json, schema: Json): Json => {
  if (schema.$ref) return exampleOf(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  const given = schema.examples?.[0] ?? schema.example ?? schema.const ?? schema.enum?.[0];
  if (given !== undefined) return given;
  const [first] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (first) return exampleOf(document, first);
  if (schema.type === 'object') return exampleObject(document, schema);
  if (schema.type === 'array') return [exampleOf(document, schema.items)];
  return PLAIN[schema.type as keyof typeof PLAIN] ?? null;
};

const PLAIN = { string: 'text', number: 1, integer: 1, boolean: true };

/** What is required, and of the rest what has an example. */
const exampleObject = (document: Json, { properties = {}, required = [] }: Json): Json =>
  Object.fromEntries(
    Object.entries<Json>(properties)
      .filter(([name, schema]) => required.includes(name) || hasExample(schema))
      .map(([name, schema]) => [name, exampleOf(document, schema)]),
  );

const hasExample = (schema: Json): boolean =>
  Boolean(schema.examples ?? schema.example ?? schema.anyOf?.some(hasExample));
