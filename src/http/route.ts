import { Readable } from 'node:stream';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ErrorBody, type listEnvelope, type Right } from '../../contract/common.ts';
import { ERRORS, type ErrorCode } from '../platform/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    isPublic?: boolean;
    /** The role that a route of the admin API requires; if absent, any person who is signed in may call it. */
    role?: 'ADMIN';
    /** Also allows people who have not set up the second factor that their shop requires. */
    withoutFactor?: boolean;
    /** Requires a proof of identity within the last ten minutes (docs/contract.md). */
    proof?: true;
    /** The right that an API client needs for a route that does not only read; `write` if absent. */
    right?: Right;
    /** Also works while the shop's subscription is inactive. */
    whileReadOnly?: true;
    /** Hints for unknown names that callers may try. */
    hints?: Record<string, string>;
    deadlineMs?: number;
    /** A supervisor or proxy calls it every few seconds, so it is logged at `debug` unless it fails. */
    isHealthCheck?: true;
  }
}

/** The meaning of each error status for integrators. The admin API has its own descriptions (`ApiDescription.responses`). */
const ERROR_STATUSES = {
  400: 'The request is not valid. `message` lists every error, `errors` the same in parts; nothing was changed.',
  401: 'The API key is missing, unknown, expired or revoked, or two different keys were sent.',
  403: 'The caller may not do this; `code` says why.',
  404: 'The shop has nothing by this id.',
  409: 'This conflicts with the current state; `code` says why.',
  410: 'This is not available any more.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not `application/json`.',
  422: 'The request contradicts an earlier one.',
  429: 'Too many requests from this address: wait `Retry-After` seconds.',
  500: 'The service failed. `requestId` names the request in its log.',
  503: 'The service cannot work right now; nothing was acknowledged. Try again after `Retry-After` seconds.',
} as const;
type ErrorStatus = keyof typeof ERROR_STATUSES;

interface Shared extends FastifyContextConfig {
  tag: string;
}

interface Route<Body extends z.ZodType, Query extends z.ZodType, ResponseBody extends z.ZodType>
  extends FastifyContextConfig {
  /** Method and path: `PATCH /users/:id`. */
  at: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  operationId: string;
  summary: string;
  description?: string;
  headers?: z.ZodObject;
  query?: Query | undefined;
  body?: Body;
  bodyLimit?: number;
  /** The description and body of a successful response. Without a body the status is 204. */
  response: readonly [description: string, body?: ResponseBody];
  status?: 201 | 202 | 303;
  /** Errors besides those that follow from method, path and access: codes in the external API, or statuses if the app ignores the code. */
  errors?: readonly (ErrorCode | ErrorStatus)[];
  handle(request: RouteRequest<Body, Query>, reply: FastifyReply): Promise<z.input<ResponseBody>>;
}

type RouteRequest<Body extends z.ZodType, Query extends z.ZodType> = FastifyRequest & {
  body: z.output<Body>;
  query: z.output<Query>;
  params: { id: string };
};

const json = (description: string, schema: z.ZodType) => ({
  description,
  content: { 'application/json': { schema } },
});

const meaningOf = (status: ErrorStatus, codes: ErrorCode[]): string => {
  const own = codes.filter((code) => ERRORS[code].status === status);
  if (own.length === 0) return ERROR_STATUSES[status];
  return codesInWords(own);
};

export const codesInWords = (codes: ErrorCode[]): string =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' ');

/** Returns a function that registers a route of a feature with its entry in the OpenAPI document. */
export const routesOf =
  (app: FastifyInstance, shared: Shared) =>
  <
    Body extends z.ZodType = z.ZodType,
    Query extends z.ZodType = z.ZodType,
    ResponseBody extends z.ZodType = z.ZodType,
  >(
    route: Route<Body, Query, ResponseBody>,
  ): void => {
    const { at, operationId, summary, description, headers, query, body, bodyLimit, ...rest } = route;
    const { response, status: given, errors = [], handle, ...own } = rest;
    const { tag, ...config } = { ...shared, ...own };
    const [meaning, schema] = response;
    const status = given ?? (schema ? 200 : 204);
    const [method = '', url = ''] = at.split(' ');
    const hasId = url.includes(':id');
    const codes = errors.filter((each) => typeof each === 'string');
    const statusOf = (each: ErrorCode | ErrorStatus) =>
      typeof each === 'string' ? (ERRORS[each].status as ErrorStatus) : each;
    const failing = new Set<ErrorStatus>([400, 429, 500, 503, ...errors.map(statusOf)]);
    if (!config.isPublic) failing.add(401);
    if (method !== 'GET') failing.add(403).add(413).add(415);
    else if (!config.isPublic && !config.withoutFactor) failing.add(403);
    if (hasId) failing.add(404);
    const failures = [...failing].map((each) => [each, json(meaningOf(each, codes), ErrorBody)]);
    app.route({
      method,
      url,
      config,
      ...(bodyLimit && { bodyLimit }),
      schema: {
        operationId,
        summary,
        ...(description && { description }),
        tags: [tag],
        ...(config.isPublic && { security: [] }),
        ...(hasId && { params: z.object({ id: z.string() }) }),
        ...(headers && { headers }),
        ...(query && { querystring: query }),
        ...(body && { body }),
        response: {
          [status]: schema ? json(meaning, schema) : z.null().meta({ description: meaning }),
          ...Object.fromEntries(failures),
        },
      },
      async handler(request, reply) {
        reply.code(status);
        const result = await handle(request as RouteRequest<Body, Query>, reply);
        return status === 204 ? null : result;
      },
    });
  };

/** Sends JSON that is serialised already: a text, or a stream if it is large. */
export const sendJson = async <Body>(
  reply: FastifyReply,
  text: Promise<string | Readable>,
): Promise<Body> => {
  const body: unknown = await text;
  reply.type('application/json; charset=utf-8');
  // A HEAD request, and one that got its 503 at the deadline, get no body, so nothing more is read for them.
  if (body instanceof Readable && (reply.request.method === 'HEAD' || reply.sent)) body.destroy();
  return body as Body;
};

export const sendPage = <Item>(
  reply: FastifyReply,
  page: Promise<{ body: string | Readable; items?: Item[] }>,
): Promise<ReturnType<typeof listEnvelope<Item>>> =>
  sendJson(
    reply,
    page.then(({ body }) => body),
  );

export const idempotencyKeyOf = ({ headers }: FastifyRequest): string | undefined =>
  headers['idempotency-key'] as string | undefined;

/** Sends the response of a creation. A header marks that of an earlier request with the same key. */
export const sendCreated = async (
  reply: FastifyReply,
  created: Promise<{ body: unknown; replayed: boolean }>,
): Promise<unknown> => {
  const { body, replayed } = await created;
  if (replayed) reply.header('idempotency-replayed', 'true');
  return body;
};
