import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerAddress } from '../http/requests.ts';
import { validationGate } from '../http/validation.ts';
import type { Context } from '../service/context.ts';
import { ServiceError } from '../service/errors.ts';
import { sha256 } from '../service/secrets.ts';
import { requireProof } from '../staff/own-account.ts';
import {
  deviceId,
  deviceOf,
  findSession,
  recordUse,
  type SignedInUser,
  sessionTokenOf,
} from '../staff/sessions.ts';
import { adminLimits, type PageLimit } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The person who is signed in. Only in the admin API. */
    user: SignedInUser;
    /** When they last gave their password or a code in this session. */
    provedAt: number;
    sessionToken: string;
  }
}

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
  ({ headers }: FastifyRequest): void => {
    const { origin, host } = headers;
    // The Host header as it came: X-Forwarded-Host is the caller's own word where the proxy does not remove it.
    const isOwn =
      origin === undefined ||
      origin === ownOrigin ||
      (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase());
    if (!isOwn || OTHER_SITES.has(String(headers['sec-fetch-site']))) throw new ServiceError('CROSS_SITE');
  };

/** Before a session there is little to say: a password, a link. Parsing more is work that any caller could cause. */
const VISITOR_BODY_BYTES = 8 * 1024;

// The checks on every request to the admin API, in this order: the address's limit; changes must be JSON and come from our own
// pages; then session and its limit, second factor, role, body and query, proof. The id and the business rules are up to the action.
export const addAdminGates = (app: FastifyInstance, ctx: Context, limitPages: PageLimit): void => {
  const checkOrigin = originGate(new URL(ctx.config.publicUrl).origin);
  app.decorateRequest('caller');
  app.decorateRequest('user');
  app.decorateRequest('provedAt', 0);
  app.decorateRequest('sessionToken', '');
  const limit = adminLimits(ctx);

  app.addHook('onRoute', (route) => {
    if (route.config?.isPublic) route.bodyLimit = VISITOR_BODY_BYTES;
  });
  app.addHook('onRequest', async (request, reply) => {
    // Answers are for one person; a shared computer must not keep them.
    reply.header('cache-control', 'no-store');
    if (request.is404) return limitPages(request, reply);
    const address = callerAddress(request);
    await limit('address', address);
    if (!SAFE_METHODS.has(request.method)) {
      contentTypeGate(request);
      checkOrigin(request);
    }
    const { isPublic, role, withoutFactor } = request.routeOptions.config;
    const token = sessionTokenOf(ctx.config, request);
    const session = isPublic ? null : await findSession(ctx, token);
    // A browser that signed in before has a share of its own: a stranger at the same address cannot use it up.
    if (!session) await limit('signedOut', deviceId(ctx.secrets, deviceOf(ctx.config, request)) ?? address);
    if (isPublic) return;
    if (!session) throw new ServiceError('SIGNED_OUT');
    await limit('session', sha256(token));
    recordUse(ctx, token, address, session.lastUsedAt);
    const { user, provedAt, caller } = session;
    request.caller = { shop: caller.shop, actor: { ...caller.actor, address } };
    request.user = user;
    request.provedAt = provedAt;
    request.sessionToken = token;
    const lacksFactor = caller.shop.secondFactorRequired && !user.secondFactor;
    if (lacksFactor && !withoutFactor) throw new ServiceError('SET_UP_SECOND_FACTOR');
    if (role === 'ADMIN' && user.role !== 'ADMIN') throw new ServiceError('ADMIN_REQUIRED');
  });
  app.addHook('preValidation', validationGate);
  // After the body was checked: a person should not type a password for what is refused anyway.
  app.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.proof) requireProof(ctx, request.provedAt);
  });
};
