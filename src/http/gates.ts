import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../api-clients/authenticate.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { hasApi } from '../shops/plans.ts';
import { countOf } from './odd-requests.ts';
import { type RateLimitName, rateLimitGate } from './rate-limit.ts';
import { validationGate } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    /** What the route began to read ahead, where it does. */
    ahead: Promise<unknown> | undefined;
  }
  interface FastifyContextConfig {
    /** Which rate limit counts the route; `other` when absent. */
    limit?: RateLimitName;
    /** Open to all: rate-limited, but without a key. */
    keyless?: boolean;
    /** Begins to read what the route will need while it is still being found out who calls. */
    readAhead?: (params: unknown) => Promise<unknown>;
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const planGate = ({ caller }: FastifyRequest): void => {
  if (!hasApi(caller.shop)) throw new ServiceError('PLAN_REQUIRED');
};

const readOnlyGate = ({ caller, method }: FastifyRequest): void => {
  if (!caller.shop.active && !READS.has(method)) throw new ServiceError('READ_ONLY');
};

/** Two of the same header may hold two keys, of which nobody can say which is meant. */
const hasOneKey = ({ headers, raw }: FastifyRequest): boolean =>
  headers.authorization === undefined || countOf('authorization', raw.rawHeaders) === 1;

/**
 * What every request to the external API passes, in the contract's order: rate limit, key, plan, read-only, then body and
 * query. What comes after (the id, the allowance) is the action's to decide.
 */
export const raiseGates = (app: FastifyInstance, ctx: Context): void => {
  const rateLimit = rateLimitGate(ctx);
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('ahead', undefined);

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    // Answers hold customers' data; no cache on the way keeps them.
    reply.header('cache-control', 'no-store');
    const counted = rateLimit(request, reply);
    const { keyless, readAhead } = request.routeOptions.config;
    if (request.is404 || keyless) return counted;
    // Looked up meanwhile, but not looked at before the call is counted. Whoever is turned away first hears of no other error.
    const finding = authenticate(ctx, hasOneKey(request) ? request.headers : {});
    finding.catch(() => {});
    request.ahead = readAhead?.(request.params);
    request.ahead?.catch(() => {});
    await counted;
    request.caller = await finding;
    planGate(request);
    readOnlyGate(request);
  });
  app.addHook('preValidation', validationGate);
};
