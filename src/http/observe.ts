import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { newId } from '../lib/ids.ts';
import type { Metrics } from '../service/metrics.ts';

export const REQUEST_ID_HEADER = 'x-request-id';
const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

export const requestIdOf = (request: Pick<IncomingMessage, 'headers'>, nowMs: number): string => {
  const own = request.headers[REQUEST_ID_HEADER];
  return typeof own === 'string' && PRINTABLE.test(own) ? own : newId(nowMs);
};

export interface Observation {
  metrics: Pick<Metrics, 'beginRequest' | 'endRequest' | 'observeRequest'>;
  log: Logger;
  callerFields(request: FastifyRequest): object;
}

/** Gives every answer its request id, and counts, times and logs it. Logs the route, never the address: that may hold a customer's data. */
export const observeRequests = (app: FastifyInstance, { metrics, log, callerFields }: Observation): void => {
  app.addHook('onRequest', (request, reply, done) => {
    metrics.beginRequest();
    // Also fires when the caller hangs up.
    reply.raw.once('close', metrics.endRequest);
    reply.header(REQUEST_ID_HEADER, request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const status = reply.statusCode;
    metrics.observeRequest({ method, route, status }, reply.elapsedTime / 1000);
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    log.info({ requestId: request.id, method, route, status, ms, ...callerFields(request) }, 'request');
    done();
  });
};
