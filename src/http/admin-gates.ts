import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { findSession, type SignedInUser } from '../staff/sessions.ts';
import type { PageLimit } from './rate-limit.ts';
import { sessionTokenOf } from './session-cookie.ts';
import { validationGate } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; in the admin API only. */
    user: SignedInUser;
  }
  interface FastifyContextConfig {
    /** Who may call the route; everybody who is signed in when absent. */
    role?: 'ADMIN';
  }
}

/** Methods that change nothing, and may come from anywhere. */
const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page of another site can make a browser send a form, but not this type without asking us first. */
const JSON_TYPE = /^application\/json *(;|$)/i;
const contentTypeGate = ({ headers }: FastifyRequest): void => {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
};

/** What a browser says of where a request comes from. Programs say nothing, and have no cookie that was not given to them. */
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
 * What every request to the admin API passes, in this order: a change is JSON and comes from our own pages, then session,
 * role, body and query. What comes after (the id, what the change means) is the action's to decide.
 */
export const raiseAdminGates = (app: FastifyInstance, ctx: Context, limitPages: PageLimit): void => {
  const checkOrigin = originGate(new URL(ctx.config.publicUrl).origin);
  app.decorateRequest('caller', null as unknown as Caller);
  app.decorateRequest('user', null as unknown as SignedInUser);

  app.addHook('onRequest', async (request, reply) => {
    // Answers are for one person; a shared computer keeps none of them.
    reply.header('cache-control', 'no-store');
    if (request.is404) return limitPages(request, reply);
    if (!HARMLESS.has(request.method)) {
      contentTypeGate(request);
      checkOrigin(request);
    }
    const { keyless, role } = request.routeOptions.config;
    if (keyless) return;
    const session = await findSession(ctx, sessionTokenOf(request));
    if (!session) throw new ServiceError('SIGNED_OUT');
    request.caller = session.caller;
    request.user = session.user;
    if (role === 'ADMIN' && session.user.role !== 'ADMIN') throw new ServiceError('ADMIN_REQUIRED');
  });
  app.addHook('preValidation', validationGate);
};
