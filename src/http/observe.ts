import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** Names every answer, and counts, times and logs it. The route's pattern is logged, never its address: that may hold a customer's data. */
export const observeRequests = (app: FastifyInstance, ctx: Context): void => {
  app.addHook('onRequest', (request, reply, done) => {
    ctx.metrics.beginRequest();
    // Also where the caller hangs up.
    reply.raw.once('close', ctx.metrics.endRequest);
    reply.header(REQUEST_ID_HEADER, request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const status = reply.statusCode;
    ctx.metrics.observeRequest({ method, route, status }, reply.elapsedTime / 1000);
    ctx.log.info(
      {
        requestId: request.id,
        method,
        route,
        status,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(request.caller ? { shopId: request.caller.shop.id, actorId: request.caller.actor.id } : {}),
      },
      'request',
    );
    done();
  });
};
