import { type FastifyInstance, fastify, LogController } from 'fastify';
import type { Logger } from 'pino';
import { ADMIN_BASE_PATH } from '../contract/admin-people.ts';
import { BASE_PATH } from '../contract/common.ts';
import { adminApi } from './admin-api.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { ServiceError } from './errors.ts';
import { serveAdminApp } from './http/admin-app.ts';
import { CONNECTION_LIMITS, limitConnections } from './http/connections.ts';
import { keepDeadlines } from './http/deadline.ts';
import { serveDocs } from './http/docs.ts';
import { prepareDrain } from './http/drain.ts';
import { answerError, answerParserError } from './http/errors.ts';
import { ignoreForwardedPorts } from './http/forwarded-for.ts';
import { raiseGates } from './http/gates.ts';
import { BODY_LIMIT_BYTES, takeJsonBodies } from './http/json-body.ts';
import { refusingOtherMethods } from './http/method-not-allowed.ts';
import { observeRequests } from './http/observe.ts';
import { answerOddRequests, decodable } from './http/odd-requests.ts';
import { ADMIN_API } from './http/openapi/admin-api.ts';
import { describeApi, serveDocument } from './http/openapi/document.ts';
import { EXTERNAL_API } from './http/openapi/external-api.ts';
import type { ApiApp } from './http/openapi/route-schemas.ts';
import { operationRoutes } from './http/operations.ts';
import { pageLimitGate } from './http/rate-limit.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './http/request-id.ts';
import { setSecurityHeaders } from './http/security-headers.ts';
import { offlineRepairRoutes } from './offline-repairs/routes.ts';
import { tradeReturnRoutes } from './trade-returns/routes.ts';
import { watchQueue } from './webhooks/start.ts';

/** Longer than any id, so that an over-long one reaches the handler and gets the same 404 as every other unknown id. */
const MAX_PARAM_LENGTH = 16 * 1024;

/** A number trusts that many hops, counted from us; Fastify takes only addresses or a function. */
const trustedProxies = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;

/** Where every route is registered, and under which base path. A worker answers the operator only. */
export const buildApp = async (ctx: Context): Promise<FastifyInstance> => {
  const app = fastify({
    loggerInstance: ctx.log as Logger,
    // Our lines name the request themselves; a logger for each would cost more than the lines.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies(ctx.config.trustProxy),
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: (request) => requestIdOf(request, ctx.clock.now()),
    frameworkErrors: (error, request, reply) => {
      reply.header(REQUEST_ID_HEADER, request.id);
      answerError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => answerParserError(error, socket, ctx.log),
    // While it closes, a request that came in time is answered like any other.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    rewriteUrl: ({ url = '/' }) => decodable(url),
    ...CONNECTION_LIMITS,
  }) as unknown as FastifyInstance;

  app.setErrorHandler(answerError);
  const limitPages = pageLimitGate();
  app.setNotFoundHandler({ preValidation: limitPages }, () => {
    throw new ServiceError('NO_ROUTE');
  });
  // Our own gate checks requests, with all faults at once; answers are shaped by views and checked by the tests.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  prepareDrain(app);
  limitConnections(app);
  takeJsonBodies(app);
  observeRequests(app, ctx);
  keepDeadlines(app);
  ignoreForwardedPorts(app);
  answerOddRequests(app, ctx.clock.now);
  setSecurityHeaders(app, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: ctx.config.publicUrl.startsWith('https:'),
  });
  watchQueue(ctx);
  operationRoutes(app, ctx);
  if (ctx.config.role === 'worker') return app;

  for (const api of [EXTERNAL_API, ADMIN_API]) await describeApi(app, ctx.config.publicUrl, api);
  await app.register(async (pages) => {
    pages.addHook('onRequest', limitPages);
    for (const serve of [serveDocs, serveAdminApp]) await pages.register(serve);
  });
  await app.register(
    async (external) => {
      external.setNotFoundHandler(() => {
        throw new ServiceError('NO_ROUTE');
      });
      raiseGates(external, ctx);
      refusingOtherMethods(external, () => {
        offlineRepairRoutes(external as ApiApp, ctx);
        tradeReturnRoutes(external as ApiApp, ctx);
        serveDocument(external, () => app.swagger());
      });
    },
    { prefix: BASE_PATH },
  );
  await app.register(adminApi(ctx, limitPages), { prefix: ADMIN_BASE_PATH });
  return app;
};
