import { Socket } from 'node:net';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import type { Clock } from '../lib/time.ts';
import { timeLimit } from '../lib/time-limits.ts';
import type { Config } from '../platform/config.ts';
import type { Metrics } from '../platform/metrics.ts';
import { CONNECTION_LIMITS, keepDeadlines, manageConnections } from './connection-limits.ts';
import { errorHandler, handleOddRequests, handleParserError } from './error-responses.ts';
import { acceptJsonBodies, BODY_LIMIT_BYTES } from './json-body.ts';
import { REQUEST_ID_HEADER, readForwardedFor, requestIdOf, routerPath } from './requests.ts';

/** An import would load Node's own undici (`error-responses.ts`). */
const { IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http');

/** It is longer than any id, so that an overlong id reaches the handler and gets the same 404 as an unknown one. */
const MAX_PARAM_LENGTH = 16 * 1024;

/** A number is the number of trusted hops, counted from us. Fastify only takes addresses or a function. */
const trustedProxies = (setting: Config['trustProxy']) =>
  typeof setting === 'number' ? (_address: string, hop: number) => hop < setting : setting;

interface ServerParts {
  config: Config;
  clock: Clock;
  log: FastifyBaseLogger;
  metrics: Metrics;
  /** The fields of the log about the caller. */
  callerFields(request: FastifyRequest): object;
}

const newServer = ({ log, clock, config }: ServerParts): FastifyInstance =>
  fastify({
    loggerInstance: log,
    // Our log lines contain the request id. A child logger per request would cost more than the lines.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies(config.trustProxy),
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: (request) => requestIdOf(request, clock.now()),
    frameworkErrors: errorHandler(config),
    clientErrorHandler: (error, socket) => handleParserError(error, socket, log, config.publicUrl),
    // A request that arrives while the server closes is handled like any other.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routerPath(url, config.publicPath),
    ...CONNECTION_LIMITS,
    connectionTimeout: timeLimit(CONNECTION_LIMITS.connectionTimeout),
  });

/**
 * Gives every response its request id, and counts, times and logs it. It logs the route, never the address, which may hold a
 * customer's data.
 */
const observeRequests = (app: FastifyInstance, { metrics, log, callerFields }: ServerParts): void => {
  app.addHook('onRequest', (request, reply, done) => {
    metrics.openRequests += 1;
    // This event also fires when the caller disconnects.
    reply.raw.once('close', () => {
      metrics.openRequests -= 1;
    });
    reply.header(REQUEST_ID_HEADER, request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    const status = reply.statusCode;
    metrics.requests.observe({ method, route, status }, reply.elapsedTime / 1000);
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const level = request.routeOptions.config.isHealthCheck && status < 400 ? 'debug' : 'info';
    log[level]({ requestId: request.id, method, route, status, ms, ...callerFields(request) }, 'request');
    done();
  });
};

/** The browser features that our pages may use. The scan station reads bar codes with the camera. */
const PERMISSIONS = 'camera=(self), microphone=(), geolocation=(), payment=(), usb=()';

/** Helmet sets the same headers on every response, so it runs once, on a response that is never sent. */
const setSecurityHeaders = (app: FastifyInstance, options: HelmetOptions): void => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => {});
  response.setHeader('permissions-policy', PERMISSIONS);
  const headers = response.getHeaders();
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
};

/** Creates a server without routes, with everything that all responses have in common. The hooks run in this order. */
export const createServer = (parts: ServerParts): FastifyInstance => {
  const { config } = parts;
  const app = newServer(parts);
  app.setErrorHandler(errorHandler(config));
  // Our own gate validates requests and reports all errors at once. Views shape the responses, and the tests check them.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  // Behind a proxy, all connections have the proxy's address.
  manageConnections(app, config.trustProxy === false ? config.maxConnectionsPerAddress : Infinity);
  acceptJsonBodies(app);
  observeRequests(app, parts);
  keepDeadlines(app);
  if (config.trustProxy !== false) readForwardedFor(app);
  handleOddRequests(app);
  const directives = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };
  setSecurityHeaders(app, {
    // It does what `frame-ancestors` does in newer browsers.
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: { useDefaults: false, directives },
    // Below a path the host is shared, and its subdomains are not ours.
    strictTransportSecurity: config.publicUrl.startsWith('https:') && {
      includeSubDomains: config.publicPath === '',
    },
  });
  return app;
};
