import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../platform/errors.ts';
import { sha256 } from '../platform/secrets.ts';
import type { Context } from './context.ts';

const isLoopback = (ip: string): boolean => ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';

const isOwnName = (host = ''): boolean => {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name.toLowerCase() === 'localhost' || isIP(name) !== 0;
};

/** Headers that proxies add. By default nginx adds none, but uses HTTP/1.0. */
const OF_PROXIES =
  /^(?:x-forwarded(?:-.*)?|x-real-ip|x-client-ip|true-client-ip|(?:cf|fastly)-.*|x-envoy-.*|forwarded|via)$/;

/** A proxy on this machine forwards calls of others, and a web page can resolve its own name to our address (DNS rebinding). */
const isDirectAndLocal = ({ ip, headers, raw }: FastifyRequest): boolean =>
  isLoopback(ip) &&
  isOwnName(headers.host) &&
  raw.httpVersion !== '1.0' &&
  !Object.keys(headers).some((name) => OF_PROXIES.test(name));

const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));

/** Requests within this time share one check of the database. */
const SHARED_FOR_MS = 100;

export const operationRoutes = (app: FastifyInstance, ctx: Context): void => {
  const healthCheck = { config: { isHealthCheck: true } } as const;
  app.get('/healthz', healthCheck, async () => ({ status: 'ok' }));

  let checking = Promise.resolve();
  let checkedAt = Number.NEGATIVE_INFINITY;
  const checkReady = (): Promise<void> => {
    if (performance.now() - checkedAt > SHARED_FOR_MS) {
      checkedAt = performance.now();
      checking = ctx.checkReady();
    }
    return checking;
  };
  // It serves installations whose proxy does not call /readyz, and times without requests.
  ctx.metrics.watch('handback_ready', '1 while the database responds and takes writes, else 0.', () =>
    checkReady().then(
      () => 1,
      () => 0,
    ),
  );
  app.get('/readyz', healthCheck, async () => {
    if (app.connections.isDraining)
      throw new ServiceError('SERVICE_UNAVAILABLE', { message: 'The service is stopping.', quiet: true });
    await checkReady().catch((cause) => {
      const message = 'The database does not answer, or takes no writes.';
      throw new ServiceError('SERVICE_UNAVAILABLE', { message, cause });
    });
    return { status: 'ready' };
  });

  app.get('/metrics', async (request, reply) => {
    const { metricsToken } = ctx.config;
    // Without a token only direct callers on this machine get the metrics. Others get a 404 (docs/contract.md).
    if (!metricsToken && !isDirectAndLocal(request)) throw new ServiceError('ROUTE_NOT_FOUND');
    const sent = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (metricsToken && !isSameText(sent, metricsToken)) {
      const message = 'The metrics need METRICS_TOKEN as a Bearer token.';
      throw new ServiceError('UNAUTHENTICATED', { message });
    }
    return reply.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics());
  });
};
