import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Context } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { readinessCheck } from './readiness.ts';

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');

const sameText = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));

/** What the operator's tools ask: alive, ready, figures. */
export const operationRoutes = (app: FastifyInstance, ctx: Context): void => {
  const hide = { schema: { hide: true } };

  app.get('/healthz', hide, async () => ({ status: 'ok' }));

  const mustBeReady = readinessCheck(ctx);
  app.get('/readyz', hide, async () => {
    await mustBeReady();
    return { status: 'ready' };
  });

  app.get('/metrics', hide, async (request, reply) => {
    const { metricsToken, host } = ctx.config;
    // Without a token the figures are for this machine only; elsewhere the page is not there at all.
    if (!metricsToken && !isLoopback(host)) throw new ServiceError('NO_ROUTE');
    const sent = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (metricsToken && !sameText(sent, metricsToken))
      throw new ServiceError('UNAUTHORIZED', {
        message: 'The metrics need METRICS_TOKEN as a Bearer token.',
      });
    return reply.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics());
  });
};
