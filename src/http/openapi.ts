import { isDeepStrictEqual } from 'node:util';
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { VERSION } from '../platform/config.ts';
import { ERRORS, type ErrorCode, ServiceError } from '../platform/errors.ts';
import { errorBody } from './error-responses.ts';
import { codesInWords } from './route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    adminSwagger: FastifyInstance['swagger'];
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON
export type Json = any;

interface ResponseParts {
  /** The headers of every response; `byStatus` has those of single statuses. */
  always: HeaderName[];
  byStatus: Record<string, HeaderName[]>;
  /** Replaces the routes' own descriptions, since two APIs share routes. */
  refused?: Record<string, string>;
  codes: ErrorCode[];
  /** Examples for statuses whose example is not the first of `codes`. */
  examples: ServiceError[];
  /** Examples for the operations with a tag, if they differ. */
  examplesByTag?: Record<string, ServiceError[]>;
}

/** The parts of an API's document that do not come from its routes. */
export interface ApiDescription {
  basePath: string;
  decorator: 'swagger' | 'adminSwagger';
  info: { title: string; summary: string; description: string };
  tags: Record<string, string>;
  securitySchemes: Record<string, Json>;
  security: Record<string, string[]>[];
  responses: ResponseParts;
  /** The codes with which the gates may refuse an operation. */
  refusals?(config: FastifyContextConfig, method: string): ErrorCode[];
  webhooks?: Json;
}

interface Converted {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: Json;
}

/** A schema whose input is text for a number or a time may state its JSON form under `override`. */
const asStated = ({ jsonSchema }: Converted): void => {
  const { override, description, examples } = jsonSchema;
  // The default bounds of an integer are noise.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (!override) return;
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
  Object.assign(jsonSchema, override, description && { description }, examples && { examples });
};

/**
 * Responses allow more fields, since v1 adds some (docs/contract.md). Bodies have no defaults, since generators make such fields
 * required.
 */
const asBodyOrResponse = ({ zodSchema, jsonSchema }: Converted): void => {
  const { def } = zodSchema._zod;
  if (def.type === 'object' && !def.catchall) delete jsonSchema.additionalProperties;
  if (def.type === 'default') delete jsonSchema.default;
  // The library drops the examples of bodies whose fields are trimmed or have defaults.
  const examples = z.globalRegistry.get(zodSchema)?.['examples'];
  if (def.type === 'object' && examples) jsonSchema.examples = examples;
  asStated({ zodSchema, jsonSchema });
};

export const describeApi = async (
  app: FastifyInstance,
  publicUrl: string,
  api: ApiDescription,
): Promise<void> => {
  const { basePath, decorator, info, tags, securitySchemes, responses, refusals, ...rest } = api;
  const transformObject = createJsonSchemaTransformObject({
    zodToJsonConfig: { override: asBodyOrResponse },
  });
  await app.register(swagger, {
    decorator: decorator as 'swagger',
    openapi: {
      openapi: '3.1.0',
      info: {
        ...info,
        version: VERSION,
        contact: { name: 'Handback documentation', url: `${publicUrl}/docs/` },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: `${publicUrl}${basePath}` }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: { securitySchemes },
      ...rest,
    },
    transform: (route) => {
      const inside = route.url.startsWith(`${basePath}/`);
      if (!inside || !route.schema) return { schema: { hide: true }, url: route.url };
      const { schema } = toJsonSchema(route);
      const { config = {}, method } = route.route;
      const { proof, right } = config;
      const forbidden = (schema['response'] as Json)?.[403];
      if (forbidden && refusals) forbidden.description = codesInWords(refusals(config, String(method)));
      const needs = [proof && NEEDS_PROOF, right && method !== 'GET' && `Needs the right \`${right}\`.`];
      schema['description'] = [schema['description'], ...needs].filter(Boolean).join(' ') || undefined;
      return { schema, url: route.url.slice(basePath.length) };
    },
    transformObject: (document) => withResponses(withNeededSchemas(transformObject(document)), responses),
  });
};

/** The document is large and never changes, so it is serialised once. */
export const serveDocument = (
  app: FastifyInstance,
  read: () => object,
  onRequest: onRequestAsyncHookHandler[] = [],
): void => {
  let bytes: Buffer | undefined;
  app.get('/openapi.json', { config: { isPublic: true }, onRequest }, (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(read()));
    return reply.type('application/json; charset=utf-8').send(bytes);
  });
};

const NEEDS_PROOF = 'Needs a proof of identity in the last ten minutes (`PROOF_REQUIRED`).';
const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig: { override: asStated } });

const SCHEMA_REF = /"#\/components\/schemas\/(\w+)"/g;

/** The library lists every schema twice, as `X` for responses and `XInput` for bodies. This keeps those in use, as `X` if both are equal. */
const withNeededSchemas = (document: Json): Json => {
  const { schemas } = document.components;
  const needed = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(SCHEMA_REF)) {
      if (!name || needed.has(name)) continue;
      needed.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  const nameOf = (name: string): string => {
    const plain = name.replace(/Input$/, '');
    return needed.has(plain) && !isDeepStrictEqual(schemas[name], schemas[plain]) ? name : plain;
  };
  const kept = Object.keys(schemas).filter((name) => needed.has(name));
  document.components.schemas = Object.fromEntries(kept.map((name) => [nameOf(name), schemas[name]]));
  const renamed = (_: string, name: string) => `"#/components/schemas/${nameOf(name)}"`;
  return JSON.parse(JSON.stringify(document).replaceAll(SCHEMA_REF, renamed));
};

const withResponses = (document: Json, responses: ResponseParts): Json => {
  const { components, paths } = document;
  const used = new Set<string>([...responses.always, ...Object.values(responses.byStatus).flat()]);
  components.headers = Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.has(name)));
  components.schemas.ErrorCode.enum = responses.codes;
  const examples = [...responses.examples, ...responses.codes.map((code) => new ServiceError(code))];
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path as object)) as Json[]) {
    if (operation.requestBody)
      operation.requestBody.required = isBodyRequired(operation.requestBody, components.schemas);
    for (const [status, response] of Object.entries(operation.responses) as [string, Json][]) {
      const names = [...responses.always, ...(responses.byStatus[status] ?? [])];
      response.headers = Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      );
      response.description = responses.refused?.[status] ?? response.description;
      const own = responses.examplesByTag?.[operation.tags?.[0]] ?? [];
      const fitting = [...own, ...examples].filter(({ code }) => ERRORS[code].status === Number(status));
      const example = fitting.find(({ code }) => response.description.includes(`\`${code}\``)) ?? fitting[0];
      if (example)
        response.content['application/json'].example = errorBody(
          example,
          EXAMPLE_ERROR.requestId,
          EXAMPLE_ERROR.baseUrl,
        );
    }
  }
  return document;
};

/** A body without required fields is optional. */
const isBodyRequired = (requestBody: Json, schemas: Json): boolean => {
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  return (schemas[name].required ?? []).length > 0;
};

const header = (description: string, schema: object) => ({ description, schema });
const HEADERS = {
  'X-Request-Id': header('Names this request; your own is kept when you send one.', { type: 'string' }),
  'RateLimit-Limit': header('Requests allowed in a window.', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests left now.', { type: 'integer' }),
  'RateLimit-Reset': header('Seconds until the next call is possible.', { type: 'integer' }),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer' }),
  'Idempotency-Replayed': header(
    '`true` when this is the response of an earlier request with the same key.',
    {
      type: 'string',
      enum: ['true'],
    },
  ),
};
type HeaderName = keyof typeof HEADERS;

const EXAMPLE_ERROR = {
  requestId: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
  baseUrl: 'https://returns.example.com',
};
