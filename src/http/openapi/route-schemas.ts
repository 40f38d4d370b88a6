import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody } from '../../../contract/common.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Open to everybody: neither a key nor a session is needed. */
    isPublic?: boolean;
  }
}

/** The app as routes see it: request types come from the schemas. */
export type ApiApp = FastifyInstance<
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

/** An answer without a body. */
export const nothing = (description: string) => z.null().meta({ description });

/** What each refusal means, for integrators. */
const REFUSED: Record<number, string> = {
  400: 'The request is not valid. `message` lists every fault, `errors` the same in parts; nothing was changed.',
  401: 'The API key is missing, unknown or revoked, or two different keys were sent.',
  403: '`code` says why: `PLAN_REQUIRED`, `READ_ONLY`, and on creation `LIMIT_EXCEEDED` or `USAGE_CAP_EXCEEDED`.',
  404: 'The shop has no such RMA.',
  409: 'The first request with this `Idempotency-Key` is still running (`IDEMPOTENCY_KEY_IN_USE`).',
  410: 'Events after this cursor are not kept any more (`CURSOR_EXPIRED`).',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not `application/json`.',
  422: 'This `Idempotency-Key` was used with another body (`IDEMPOTENCY_KEY_REUSED`).',
  429: 'Too many requests from this address: wait `Retry-After` seconds.',
  503: 'The service cannot work right now; nothing was acknowledged. Try again after `Retry-After` seconds.',
};

/** For changes that people make by what they saw. */
export const stale = {
  409: answer(
    'Someone else changed this return since the person saw it (`EDIT_CONFLICT`), or its status does not allow the move any more (`MOVE_NOT_ALLOWED`).',
    ErrorBody,
  ),
};

export const refusals = (...statuses: (keyof typeof REFUSED)[]) =>
  Object.fromEntries(statuses.map((status) => [status, answer(REFUSED[status] ?? '', ErrorBody)]));
