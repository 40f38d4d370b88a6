import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { apiClientRoutes } from '../api-clients/routes.ts';
import { auditRoutes } from '../audit/routes.ts';
import { saveFact } from '../db/installation-facts.ts';
import { eventRoutes } from '../events/routes.ts';
import { noRoute, refuseOtherMethods } from '../http/error-answers.ts';
import { describeApi, serveDocument } from '../http/openapi.ts';
import { createServer } from '../http/server.ts';
import { overviewRoutes } from '../overview/routes.ts';
import { erasureRoutes, formerEmployeeRoutes, personalDataRoutes } from '../personal-data/routes.ts';
import { returnAdminRoutes, returnRoutes, searchRoutes } from '../returns/routes.ts';
import { savedViewRoutes } from '../saved-views/routes.ts';
import type { Context } from '../service/context.ts';
import { warning } from '../service/log.ts';
import { ruleRoutes, settingsRoutes, usageRoutes } from '../shops/routes.ts';
import { sessionRoutes } from '../staff/session-routes.ts';
import { userRoutes } from '../staff/user-routes.ts';
import { watchQueue } from '../webhooks/queue.ts';
import { deliveryRoutes } from '../webhooks/routes.ts';
import { addAdminGates } from './admin-gates.ts';
import { addExternalGates } from './external-gates.ts';
import { ADMIN_API } from './openapi/admin-api.ts';
import { EXTERNAL_API } from './openapi/external-api.ts';
import { operationRoutes } from './operations.ts';
import { servePages } from './pages.ts';
import { type PageLimit, pageLimitGate } from './rate-limits.ts';

const callerFields = ({ caller }: FastifyRequest): object =>
  caller ? { shopId: caller.shop.id, actorId: caller.actor.id } : {};

const DAY_MS = 24 * 60 * 60_000;

/** Warns once in the log, and once a day where `doctor` finds it. Behind an untrusted proxy all callers have one address. */
const untrustedProxyWarning = ({ log, clock, background }: Context): (() => void) => {
  let notedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.now();
    if (nowMs - notedMs < DAY_MS) return;
    if (notedMs < 0)
      log.warn(
        'X-Forwarded-For came with a request, but TRUST_PROXY is off: all callers behind a proxy count as one',
      );
    notedMs = nowMs;
    saveFact(background, 'untrusted-proxy', String(nowMs)).catch(
      warning(log, 'saving the warning for doctor failed'),
    );
  };
};

type Routes = (app: FastifyInstance, ctx: Context) => void;

const EXTERNAL_ROUTES: Routes[] = [returnRoutes, usageRoutes, eventRoutes, deliveryRoutes, erasureRoutes];

const ADMIN_ROUTES: Routes[] = [
  sessionRoutes,
  userRoutes,
  returnAdminRoutes,
  overviewRoutes,
  savedViewRoutes,
  searchRoutes,
  apiClientRoutes,
  settingsRoutes,
  ruleRoutes,
  auditRoutes,
  personalDataRoutes,
  formerEmployeeRoutes,
];

const externalApi = (ctx: Context) => async (app: FastifyInstance) => {
  app.setNotFoundHandler(noRoute);
  addExternalGates(app, ctx);
  refuseOtherMethods(app, () => {
    for (const register of EXTERNAL_ROUTES) register(app, ctx);
    serveDocument(app, () => app.swagger());
  });
};

const adminApi = (ctx: Context, limitPages: PageLimit) => async (app: FastifyInstance) => {
  app.setNotFoundHandler(noRoute);
  await app.register(cookie);
  addAdminGates(app, ctx, limitPages);
  refuseOtherMethods(app, () => {
    for (const register of ADMIN_ROUTES) register(app, ctx);
    serveDocument(app, () => app.adminSwagger(), [limitPages]);
  });
};

/** Everything that is served, and under which base path. A worker serves the operator only. */
export const buildApp = async (ctx: Context): Promise<FastifyInstance> => {
  const { config } = ctx;
  const onForwarded = config.trustProxy === false ? untrustedProxyWarning(ctx) : () => {};
  const app = createServer({ ...ctx, callerFields, onForwarded });
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
    pages.setNotFoundHandler(noRoute);
    servePages(pages, config);
  });
  // Requests that wait for an event are answered before connections are closed.
  app.addHook('preClose', () => ctx.feedWatches.stop());
  await app.register(externalApi(ctx), { prefix: BASE_PATH });
  await app.register(adminApi(ctx, limitPages), { prefix: ADMIN_BASE_PATH });
  return app;
};
