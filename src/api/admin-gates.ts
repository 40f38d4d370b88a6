import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { callerAddress } from '../http/caller-address.ts';
import { validationGate } from '../http/validation.ts';
import { sessionTokenOf } from '../staff/cookies.ts';
import { findSession, type SignedInUser } from '../staff/sessions.ts';
import type { PageLimit } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in. Only in the admin API. */
    user: SignedInUser;
  }
  interface FastifyContextConfig {
    /** Who may call the route; without it, everybody who is signed in. */
    role?: 'ADMIN';
    /** Open also to those whose shop requires a second factor that they have not set up yet. */
    withoutFactor?: boolean;
  }
}

/** Methods that change nothing. Requests with these may come from anywhere. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page of another site can make a browser send a form, but JSON only after asking us (CORS). */
const JSON_TYPE = /^application\/json *(;|$)/i;
const contentTypeGate = ({ headers }: FastifyRequest): void => {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
};

/** What a browser says about where a request comes from. Programs send no such header, and no cookie by accident. */
const OTHER_SITES: ReadonlySet<string> = new Set(['cross-site', 'same-site']);
const originGate =
  (ownOrigin: string) =>
  ({ headers, host }: FastifyRequest): void => {
    const { origin } = headers;
    const isOwn =
      origin === undefined ||
      origin === ownOrigin ||
      (URL.canParse(origin) && new URL(origin).host === host.toLowerCase());
    if (!isOwn || OTHER_SITES.has(String(headers['sec-fetch-site']))) throw new ServiceError('CROSS_SITE');
  };

/**
 * The checks on every request to the admin API, in this order: changes must be JSON and come from our own pages; then
 * session, second factor, role, body and query. Everything after that (the id, the business rules) is up to the action.
 */
export const addAdminGates = (app: FastifyInstance, ctx: Context, limitPages: PageLimit): void => {
  const checkOrigin = originGate(new URL(ctx.config.publicUrl).origin);
  app.decorateRequest('caller');
  app.decorateRequest('user');

  app.addHook('onRequest', async (request, reply) => {
    // Answers are for one person; a shared computer must not keep them.
    reply.header('cache-control', 'no-store');
    if (request.is404) return limitPages(request, reply);
    if (!SAFE_METHODS.has(request.method)) {
      contentTypeGate(request);
      checkOrigin(request);
    }
    const { isPublic, role, withoutFactor } = request.routeOptions.config;
    if (isPublic) return;
    const session = await findSession(ctx, sessionTokenOf(ctx.config, request));
    if (!session) throw new ServiceError('SIGNED_OUT');
    const { shop, actor } = session.caller;
    request.caller = { shop, actor: { ...actor, address: callerAddress(request) } };
    request.user = session.user;
    const lacksFactor = session.caller.shop.secondFactorRequired && !session.user.hasFactor;
    if (lacksFactor && !withoutFactor) throw new ServiceError('SET_UP_SECOND_FACTOR');
    if (role === 'ADMIN' && session.user.role !== 'ADMIN') throw new ServiceError('ADMIN_REQUIRED');
  });
  app.addHook('preValidation', validationGate);
};
