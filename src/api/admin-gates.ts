import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerAddress } from '../http/requests.ts';
import { validationGate } from '../http/validation.ts';
import { ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';
import { requireProof } from '../staff/own-account.ts';
import { cookieIn, deviceId, findSession, recordUse } from '../staff/sessions.ts';
import type { Self } from '../staff/types.ts';
import type { Context } from './context.ts';
import { adminLimits, type PageLimit } from './rate-limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    linkLimit?: 'asked' | 'used';
    shopLimit?: 'settings' | 'clients';
  }
  /** The person who is signed in, in the admin API only. */
  interface FastifyRequest extends Self {}
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A page of another site can make a browser send a form, but JSON only after a CORS preflight. */
const JSON_TYPE = /^application\/json *(;|$)/i;
const contentTypeGate = ({ headers }: FastifyRequest): void => {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
};

/** The values of a browser's Sec-Fetch-Site for requests of other sites. Other clients send neither this header nor our cookies. */
const OTHER_ORIGINS: ReadonlySet<string> = new Set(['cross-site', 'same-site']);
const WEB_PROTOCOLS: ReadonlySet<string> = new Set(['http:', 'https:']);
const originGate = ({ headers }: FastifyRequest, ownOrigin: string): void => {
  const { origin, host } = headers;
  const url = URL.parse(origin ?? '');
  // This compares the Host header, since callers can forge X-Forwarded-Host unless the proxy removes it. The
  // protocol is checked, too, since the origin of a browser extension may contain our host name.
  const isOwn =
    origin === undefined ||
    origin === ownOrigin ||
    (url !== null && WEB_PROTOCOLS.has(url.protocol) && url.host === host?.toLowerCase());
  if (!isOwn || OTHER_ORIGINS.has(String(headers['sec-fetch-site']))) throw new ServiceError('CROSS_SITE');
};

/** The body limit without a session, which is enough for a password or a link. A higher limit would let any stranger make us parse more. */
const VISITOR_BODY_BYTES = 8 * 1024;

// The checks on every request to the admin API, in this order: limit of the address; JSON and our own origin
// for changes; session, or the limits without one; limit of links; limit of the session; second factor, role, body and query, proof,
// limit of the shop. The action checks the rest.
export const addAdminGates = (app: FastifyInstance, ctx: Context, limitPages: PageLimit): void => {
  const { origin } = new URL(ctx.config.publicUrl);
  app.decorateRequest('caller');
  app.decorateRequest('user');
  app.decorateRequest('provedAt', 0);
  app.decorateRequest('sessionToken', '');
  const limit = adminLimits(ctx);

  app.addHook('onRoute', (route) => {
    if (route.config?.isPublic) route.bodyLimit = VISITOR_BODY_BYTES;
  });
  app.addHook('onRequest', async (request, reply) => {
    // Responses are for one person, and a shared computer must not store them.
    reply.header('cache-control', 'no-store');
    if (request.is404) return limitPages(request, reply);
    const address = callerAddress(request);
    await limit('address', address);
    if (!SAFE_METHODS.has(request.method)) {
      contentTypeGate(request);
      originGate(request, origin);
    }
    const { isPublic, role, withoutFactor, linkLimit } = request.routeOptions.config;
    const token = cookieIn(ctx, request, 'session');
    const session = isPublic ? null : await findSession(ctx, token);
    if (!session) {
      // A browser that signed in before has a separate limit, which a stranger at the same address cannot use up.
      const device = deviceId(ctx.secrets, cookieIn(ctx, request, 'device'));
      await limit('signedOut', device ?? address);
      // This follows the browser's own limit, so that its refused calls do not count for other browsers at its address.
      if (device) await limit('devices', address);
    }
    if (linkLimit) await limit(linkLimit, address);
    if (isPublic) return;
    if (!session) throw new ServiceError('SIGNED_OUT');
    await limit('session', sha256(token));
    recordUse(ctx, token, address, session.lastUsedAt);
    const { user, provedAt, caller } = session;
    request.caller = { shop: caller.shop, actor: { ...caller.actor, address } };
    request.user = user;
    request.provedAt = provedAt;
    request.sessionToken = token;
    const lacksFactor = caller.shop.secondFactorRequired && !user.secondFactor && !user.throughProvider;
    if (lacksFactor && !withoutFactor) throw new ServiceError('SET_UP_SECOND_FACTOR');
    if (role === 'ADMIN' && user.role !== 'ADMIN') throw new ServiceError('ADMIN_REQUIRED');
  });
  app.addHook('preValidation', validationGate);
  // This follows the check of the body, so that nobody enters a password for a request that is refused anyway.
  app.addHook('preHandler', async (request) => {
    const { proof, shopLimit } = request.routeOptions.config;
    if (proof) requireProof(ctx, request.provedAt);
    if (shopLimit) await limit(shopLimit, request.caller.shop.id);
  });
};
