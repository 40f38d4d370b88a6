import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { readinessCheck } from './readiness.ts';

const isLoopback = (ip: string): boolean => ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';

const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));

/** For the operator's tools: is the process alive, is it ready, and its metrics. */
export const operationRoutes = (app: FastifyInstance, ctx: Context): void => {
  const hide = { schema: { hide: true } };

  app.get('/healthz', hide, async () => ({ status: 'ok' }));

  const mustBeReady = readinessCheck(ctx);
  app.get('/readyz', { ...hide, onRequest: app.drain.refuse }, async () => {
    await mustBeReady();
    return { status: 'ready' };
  });

  app.get('/metrics', hide, async (request, reply) => {
    const { metricsToken } = ctx.config;
    // Without a token only callers on this machine get the metrics; for others the page does not exist (decision 34).
    if (!metricsToken && !isLoopback(request.ip)) throw new ServiceError('ROUTE_NOT_FOUND');
    const sent = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (metricsToken && !isSameText(sent, metricsToken))
      throw new ServiceError('UNAUTHENTICATED', {
        message: 'The metrics need METRICS_TOKEN as a Bearer token.',
      });
    return reply.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics());
  });
};
