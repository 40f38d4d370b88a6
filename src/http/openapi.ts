import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { BASE_PATH, ErrorBody } from '../../contract/common.ts';
import { VERSION } from '../version.ts';

/** The app as the external API's routes see it: their types come from their schemas. */
export type ExternalApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export const answer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
});

/** What each refusal means to an integrator. */
const REFUSED: Record<number, string> = {
  400: 'The request is not valid. `message` lists every fault, `errors` the same in parts; nothing was changed.',
  401: 'The API key is missing, unknown or revoked, or two different keys were sent.',
  403: '`code` says why: `PLAN_REQUIRED`, `READ_ONLY`, and on creation `LIMIT_EXCEEDED` or `USAGE_CAP_EXCEEDED`.',
  404: 'The shop has no such RMA.',
  409: 'The first request with this `Idempotency-Key` is still running (`IDEMPOTENCY_KEY_IN_USE`).',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not `application/json`.',
  422: 'This `Idempotency-Key` was used with another body (`IDEMPOTENCY_KEY_REUSED`).',
  429: 'Too many requests from this address: wait `Retry-After` seconds.',
  503: 'The service cannot work right now; nothing was acknowledged. Try again after `Retry-After` seconds.',
};

export const refusals = (...statuses: (keyof typeof REFUSED)[]) =>
  Object.fromEntries(statuses.map((status) => [status, answer(REFUSED[status] ?? '', ErrorBody)]));

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON on its way out
type Json = any;

/** A schema may name its own JSON form under `override`, where its input is text but means a number or a time. */
const zodToJsonConfig = {
  override: ({ jsonSchema }: { jsonSchema: Json }) => {
    const { override, description, examples } = jsonSchema;
    if (!override) return;
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, override, description && { description }, examples && { examples });
  },
};

export const describeApi = async (app: FastifyInstance, publicUrl: string): Promise<void> => {
  const transformObject = createJsonSchemaTransformObject({ zodToJsonConfig });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Handback External API',
        version: VERSION,
        summary: 'Offline repairs and trade returns, for the systems of a shop.',
        description: GUIDE,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: `${publicUrl}${BASE_PATH}` }],
      tags: [
        {
          name: 'Offline repairs',
          description: 'Items handed in at a counter, a service desk or a partner.',
        },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Api-Key',
            description: 'The key shown once when the API client was made.',
          },
          bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token.' },
        },
      },
      security: [{ apiKey: [] }, { bearer: [] }],
    },
    transform: (route) => {
      const inside = route.url.startsWith(`${BASE_PATH}/`);
      if (!inside || !route.schema) return { schema: { hide: true }, url: route.url };
      return { ...toJsonSchema(route), url: route.url.slice(BASE_PATH.length) };
    },
    transformObject: (document) => withHeadersAndExamples(withNeededSchemas(transformObject(document))),
  });
};

const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig });

/**
 * The library lists every schema twice, as `X` for answers and `XInput` for bodies. Only what the paths lead to is kept,
 * and a body whose twin is not needed takes the plain name.
 */
const withNeededSchemas = (document: Json): Json => {
  const { schemas } = document.components;
  const needed = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (!name || needed.has(name)) continue;
      needed.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  for (const name of Object.keys(schemas)) if (!needed.has(name)) delete schemas[name];
  const renamed = [...needed].filter(
    (name) => name.endsWith('Input') && !needed.has(name.slice(0, -'Input'.length)),
  );
  let text = JSON.stringify(document);
  for (const name of renamed) {
    const plain = name.slice(0, -'Input'.length);
    text = text
      .replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/${plain}"`)
      .replaceAll(`"${name}":`, `"${plain}":`);
  }
  return JSON.parse(text);
};

/** Headers every answer carries, and an example of each refusal: the same for all operations, so they are added here once. */
const withHeadersAndExamples = (document: Json): Json => {
  const { components, paths } = document;
  components.headers = HEADERS;
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path as object)) as Json[]) {
    if (operation.requestBody)
      operation.requestBody.required = isNeeded(operation.requestBody, components.schemas);
    for (const [status, response] of Object.entries(operation.responses) as [string, Json][]) {
      const names = [...ALWAYS, ...(HEADERS_BY_STATUS[status] ?? [])];
      response.headers = Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      );
      const example = EXAMPLES[status];
      if (example) response.content['application/json'].example = exampleBody(Number(status), example);
    }
  }
  return document;
};

/** A body may be left out where none of its fields is required. */
const isNeeded = (requestBody: Json, schemas: Json): boolean => {
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  return (schemas[name].required ?? []).length > 0;
};

const header = (description: string, schema: object) => ({ description, schema });
const HEADERS = {
  'X-Request-Id': header('Names this request; your own is kept when you send one.', { type: 'string' }),
  'RateLimit-Limit': header('Requests the window allows.', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests left in the window.', { type: 'integer' }),
  'RateLimit-Reset': header('Seconds until the window ends.', { type: 'integer' }),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer' }),
  'Idempotency-Replayed': header('`true` when this is the answer of an earlier request with the same key.', {
    type: 'string',
    enum: ['true'],
  }),
};
const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const HEADERS_BY_STATUS: Record<string, string[]> = {
  201: ['Idempotency-Replayed'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const EXAMPLES: Record<string, object> = {
  400: {
    message: ['faultyItem.sku is required', 'ordrNumber is not a known field: did you mean orderNumber?'],
    errors: [
      { field: 'faultyItem.sku', rule: 'required', message: 'faultyItem.sku is required' },
      {
        field: 'ordrNumber',
        rule: 'unknown',
        message: 'ordrNumber is not a known field: did you mean orderNumber?',
      },
    ],
  },
  401: { message: 'A valid API key is needed: send it as X-Api-Key, or as a Bearer token in Authorization.' },
  403: { message: "The shop's monthly allowance of RMAs is used up.", code: 'LIMIT_EXCEEDED' },
  404: { message: 'There is no such RMA.' },
  409: {
    message: 'The first request with this Idempotency-Key is still running.',
    code: 'IDEMPOTENCY_KEY_IN_USE',
  },
  413: { message: 'The body is larger than 256 KiB.' },
  415: { message: 'Send the body as JSON, with Content-Type: application/json.' },
  422: { message: 'This Idempotency-Key was used before with another body.', code: 'IDEMPOTENCY_KEY_REUSED' },
  429: { message: 'Too many requests: wait as long as Retry-After says.' },
  503: { message: 'The service cannot do this right now: try again in a moment.' },
};
const exampleBody = (status: number, body: object) => ({
  statusCode: status,
  error: STATUS_CODES[status],
  ...body,
  requestId: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
});

const GUIDE = `
Create and manage return authorisations (RMAs) from a till, a service desk or an ERP.

**Keys.** An Admin makes an API client; its key is shown once. Send it with every request as \`X-Api-Key\`, or as a Bearer
token in \`Authorization\`.

**Retries.** Send an \`Idempotency-Key\` with a creation. After a lost answer, send the same request again: within 24 hours
you get the first result back, and nothing is created twice.

**Limits.** Creations: 60 a minute and 5 a second per address. Everything else: 200 a minute. A 429 says in \`Retry-After\`
how long to wait.

**Errors.** Always the same body: \`statusCode\`, \`error\`, \`message\`, \`requestId\`, and where it helps \`code\` and
\`errors\`. Unknown fields are refused, so a misspelt name never goes unnoticed.

**Versions.** Within v1 only additions come: be ready to see new fields. Anything that could break a caller gets a new
version, and the old one then lives for at least 12 months more.
`.trim();
