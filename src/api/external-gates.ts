import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countOf } from '../http/requests.ts';
import { validationGate } from '../http/validation.ts';
import { ServiceError } from '../platform/errors.ts';
import { type Caller, mustHaveApi } from '../shops/plans.ts';
import type { Context } from './context.ts';
import { rateLimits } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    prefetched: Promise<unknown> | undefined;
  }
  interface FastifyContextConfig {
    /** The rate limit of the route; `other` if absent. */
    limit?: 'create';
    /** Starts to read the rows of the route while the key is still being looked up. */
    prefetch?: (params: unknown) => Promise<unknown>;
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** A route without a right requires `write`, so that a new one is never open to read-only clients by mistake. */
const writeGate = ({ caller, method, routeOptions }: FastifyRequest): void => {
  if (READS.has(method)) return;
  const { right = 'write', whileReadOnly } = routeOptions.config;
  if (!caller.rights?.includes(right))
    throw new ServiceError('RIGHT_REQUIRED', {
      message: `The API client lacks the right ${right}: an Admin can give it in the admin app.`,
      right,
    });
  if (!caller.shop.active && !whileReadOnly) throw new ServiceError('READ_ONLY');
};

/** Browsers send a preflight before a page may send a key. The response has no CORS headers, so they stop. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const hasOneKey = ({ headers, raw }: FastifyRequest): boolean =>
  headers.authorization === undefined || countOf('authorization', raw.rawHeaders) === 1;

// The checks on every request to the external API, in the contract's order: rate limit, key, plan, right, read-only, then body and query. The
// action checks the id and the allowance.
export const addExternalGates = (app: FastifyInstance, ctx: Context): void => {
  const limits = rateLimits(ctx);
  app.decorateRequest('caller');
  app.decorateRequest('prefetched');

  app.addHook('onRequest', async (request, reply) => {
    // Responses contain customers' data, which no cache may store.
    reply.header('cache-control', 'no-store');
    const { isPublic, prefetch, limit = 'other' } = request.routeOptions.config;
    const counted = limits[limit](request, reply);
    if (request.is404 || isPublic) {
      await counted;
      if (isPreflight(request)) throw new ServiceError('CORS_NOT_SUPPORTED');
      return;
    }
    // The key and the row are looked up meanwhile, but used only after the rate limit has allowed the request. A request that is
    // refused before must not cause an unhandled rejection, hence the empty catches.
    const finding = ctx.authenticate(hasOneKey(request) ? request.headers : {});
    finding.catch(() => {});
    request.prefetched = prefetch?.(request.params);
    request.prefetched?.catch(() => {});
    await counted;
    request.caller = await finding;
    mustHaveApi(request.caller.shop);
    writeGate(request);
  });
  app.addHook('preValidation', validationGate);
};
