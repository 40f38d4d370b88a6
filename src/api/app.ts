import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import type { Context } from '../context.ts';
import { saveFact } from '../db/installation-facts.ts';
import { describeError } from '../describe-error.ts';
import { noRoute } from '../http/errors.ts';
import { describeApi } from '../http/openapi/document.ts';
import { createServer } from '../http/server.ts';
import { watchQueue } from '../webhooks/start.ts';
import { adminApi } from './admin-api.ts';
import { externalApi } from './external-api.ts';
import { ADMIN_API } from './openapi/admin-api.ts';
import { EXTERNAL_API } from './openapi/external-api.ts';
import { operationRoutes } from './operations.ts';
import { servePages } from './pages.ts';
import { pageLimitGate } from './rate-limits.ts';

/** What the log says about who called; nothing before a gate has found out. */
const callerFields = ({ caller }: FastifyRequest): object =>
  caller ? { shopId: caller.shop.id, actorId: caller.actor.id } : {};

const DAY_MS = 24 * 60 * 60_000;

/** Warns once in the log, and once a day where `doctor` finds it. A proxy before us that is not trusted makes one address of all callers. */
const untrustedProxyWarning = ({ log, clock, withoutFsync }: Context): (() => void) => {
  let notedMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.now();
    if (nowMs - notedMs < DAY_MS) return;
    if (notedMs < 0)
      log.warn(
        'X-Forwarded-For came with a request, but TRUST_PROXY is off: all callers behind a proxy count as one',
      );
    notedMs = nowMs;
    saveFact(withoutFsync, 'untrusted-proxy', String(nowMs)).catch((error) =>
      log.warn({ fault: describeError(error) }, 'noting the untrusted proxy failed'),
    );
  };
};

/** Everything that is served, and under which base path. A worker serves the operator only. */
export const buildApp = async (ctx: Context): Promise<FastifyInstance> => {
  const { config, clock, log, metrics } = ctx;
  const app = createServer({
    config,
    clock,
    log,
    metrics,
    callerFields,
    onForwarded: config.trustProxy === false ? untrustedProxyWarning(ctx) : () => {},
  });
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
  // Whoever waits for an event is answered before connections are closed.
  app.addHook('preClose', () => ctx.feedWatches.stop());
  await app.register(externalApi(ctx), { prefix: BASE_PATH });
  await app.register(adminApi(ctx, limitPages), { prefix: ADMIN_BASE_PATH });
  return app;
};
