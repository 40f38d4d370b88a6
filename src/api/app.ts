import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { apiClientRoutes } from '../api-clients/routes.ts';
import { auditRoutes } from '../audit/routes.ts';
import { isLockTimeout } from '../db/database-errors.ts';
import { saveFact } from '../db/installation-facts.ts';
import { eventRoutes } from '../events/routes.ts';
import { noRoute, refuseOtherMethods } from '../http/error-responses.ts';
import { describeApi, serveDocument } from '../http/openapi.ts';
import { createServer } from '../http/server.ts';
import { QueueTimeout } from '../lib/batch.ts';
import { DAY_MS, isoOrNull } from '../lib/time.ts';
import { overviewRoutes } from '../overview/routes.ts';
import { erasureRoutes, formerEmployeeRoutes, personalDataRoutes } from '../personal-data/routes.ts';
import { warning } from '../platform/log.ts';
import { returnAdminRoutes, returnRoutes } from '../returns/routes.ts';
import { savedViewRoutes } from '../saved-views/routes.ts';
import { ruleRoutes, settingsRoutes, usageRoutes } from '../shops/routes.ts';
import { sessionRoutes } from '../staff/session-routes.ts';
import { userRoutes } from '../staff/user-routes.ts';
import { watchQueue } from '../webhooks/queue.ts';
import { clientDeliveryRoutes } from '../webhooks/routes.ts';
import { addAdminGates } from './admin-gates.ts';
import type { Context } from './context.ts';
import { addExternalGates } from './external-gates.ts';
import { ADMIN_API } from './openapi/admin-api.ts';
import { EXTERNAL_API } from './openapi/external-api.ts';
import { operationRoutes } from './operations.ts';
import { servePages } from './pages.ts';
import { pageLimitGate } from './rate-limits.ts';

/** Warns once a day, in the log and for `doctor`. Behind an untrusted proxy all callers have the same address. */
const warnOfUntrustedProxy = (app: FastifyInstance, { log, clock, background }: Context): void => {
  let warnedMs = Number.NEGATIVE_INFINITY;
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['x-forwarded-for'] !== undefined && clock.now() - warnedMs >= DAY_MS) {
      warnedMs = clock.now();
      log.warn(
        'X-Forwarded-For came with a request, but TRUST_PROXY is off: all callers behind a proxy count as one',
      );
      saveFact(background, 'untrusted-proxy', String(warnedMs)).catch(
        warning(log, 'saving the warning for doctor failed'),
      );
    }
    done();
  });
};

const BLOCKERS_EVERY_MS = 60_000;
const LOG_BLOCKERS_EVERY_MS = 200;

/** Logs which session holds a lock. Otherwise the log would only say that requests waited too long. */
const logBlockers = (app: FastifyInstance, { log, blockers, changes }: Context): void => {
  let nextLookMs = 0;
  const look = async (): Promise<void> => {
    if (performance.now() < nextLookMs) return;
    nextLookMs = performance.now() + LOG_BLOCKERS_EVERY_MS;
    const sessions = (await blockers()).map((each) => ({ ...each, since: isoOrNull(each.since) }));
    if (sessions.length === 0) return;
    nextLookMs = performance.now() + BLOCKERS_EVERY_MS;
    log.warn({ sessions }, 'requests wait for locks that other sessions of the database hold');
  };
  const lookNow = () => void look().catch(warning(log, 'the sessions that hold locks could not be read'));
  // Changes fail between two attempts, when none of them waits for the lock.
  changes.onLocked = lookNow;
  app.addHook('onError', (_request, _reply, error, done) => {
    if (error instanceof QueueTimeout || isLockTimeout(error)) lookNow();
    done();
  });
};

type Routes = (app: FastifyInstance, ctx: Context) => void;

const EXTERNAL_ROUTES: Routes[] = [
  returnRoutes,
  usageRoutes,
  eventRoutes,
  clientDeliveryRoutes,
  erasureRoutes,
];

const ADMIN_ROUTES: Routes[] = [
  sessionRoutes,
  userRoutes,
  returnAdminRoutes,
  overviewRoutes,
  savedViewRoutes,
  apiClientRoutes,
  settingsRoutes,
  ruleRoutes,
  auditRoutes,
  personalDataRoutes,
  formerEmployeeRoutes,
];

/** Registers everything that is served, with its base path. A worker only serves the operator's endpoints. */
export const buildApp = async (ctx: Context): Promise<FastifyInstance> => {
  const { config } = ctx;
  const app = createServer({
    ...ctx,
    callerFields: ({ caller }) => (caller ? { shopId: caller.shop.id, actorId: caller.actor.id } : {}),
  });
  if (config.trustProxy === false) warnOfUntrustedProxy(app, ctx);
  logBlockers(app, ctx);
  const limitPages = pageLimitGate();
  watchQueue(ctx);
  operationRoutes(app, ctx);
  if (config.role === 'worker') {
    app.setNotFoundHandler({ preValidation: limitPages }, noRoute);
    return app;
  }

  for (const api of [EXTERNAL_API, ADMIN_API]) await describeApi(app, config.publicUrl, api);
  await app.register(async (pages) => {
    pages.addHook('onRequest', limitPages);
    servePages(pages, config);
  });
  // Requests that wait for an event get their response before connections are closed.
  app.addHook('preClose', () => ctx.feedWatches.stop());
  const external = async (api: FastifyInstance) => {
    addExternalGates(api, ctx);
    refuseOtherMethods(api);
    for (const register of EXTERNAL_ROUTES) register(api, ctx);
    serveDocument(api, () => app.swagger());
  };
  const admin = async (api: FastifyInstance) => {
    await api.register(cookie);
    addAdminGates(api, ctx, limitPages);
    refuseOtherMethods(api);
    for (const register of ADMIN_ROUTES) register(api, ctx);
    serveDocument(api, () => app.adminSwagger(), [limitPages]);
  };
  await app.register(external, { prefix: BASE_PATH });
  await app.register(admin, { prefix: ADMIN_BASE_PATH });
  return app;
};
