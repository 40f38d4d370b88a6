import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ErrorBody } from '../../contract/common.ts';
import { isUnavailable } from '../db/database-errors.ts';
import { newId } from '../lib/ids.ts';
import type { Clock } from '../lib/time.ts';
import type { Config } from '../service/config.ts';
import { ERRORS, type ErrorCode, ServiceError } from '../service/errors.ts';
import { describeError } from '../service/log.ts';
import { closeSoon } from './connection-limits.ts';
import { countOf, REQUEST_ID_HEADER, requestIdOf } from './requests.ts';

/** An `import` would read every export of the module, and so load Node's own undici: 7 % of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const FASTIFY_ERRORS: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BAD_REQUEST',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
};

const RETRY_AFTER_UNAVAILABLE_S = '2';

const serviceErrorFrom = (error: unknown, bodyLimit: number): ServiceError => {
  if (error instanceof ServiceError) return error;
  if (isUnavailable(error)) return new ServiceError('SERVICE_UNAVAILABLE', { cause: error });
  const { code, statusCode } = error as FastifyError;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ServiceError('BODY_TOO_LARGE', {
      message: `The body is larger than ${bodyLimit / 1024} KiB.`,
    });
  const isOurs = statusCode === undefined || statusCode >= 500;
  return new ServiceError(FASTIFY_ERRORS[code] ?? (isOurs ? 'INTERNAL_ERROR' : 'BAD_REQUEST'));
};

type PublicUrl = Pick<Config, 'publicUrl' | 'publicUrlIsSet'>;

/** A name or an address, and a port. Anything else in a Host header is not repeated. */
const HOST = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;

/** PUBLIC_URL, else the address of this very request, if that can be one. */
export const baseUrlFor = (
  { publicUrl, publicUrlIsSet }: PublicUrl,
  { protocol, host }: FastifyRequest,
): string =>
  !publicUrlIsSet && HOST.test(host) && /^https?$/.test(protocol) ? `${protocol}://${host}` : publicUrl;

export const errorBody = (error: ServiceError, requestId: string, baseUrl: string): ErrorBody => {
  const { status } = ERRORS[error.code];
  return {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: error.errors ? error.errors.map((problem) => problem.message) : error.message,
    code: error.code,
    ...(error.errors ? { errors: error.errors } : {}),
    ...(error.right ? { right: error.right } : {}),
    ...(error.refused ? { refused: error.refused } : {}),
    docs: `${baseUrl}/docs/errors#${error.code}`,
    requestId,
  };
};

export const noRoute = (): never => {
  throw new ServiceError('ROUTE_NOT_FOUND');
};

/** The one place where an error becomes an answer. */
export const errorAnswer =
  (config: PublicUrl) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // A caller who disconnects in the middle of a body gets no answer, and it is not our error: do not log it.
    const hungUp = request.raw.destroyed && !request.raw.complete;
    const refusal = hungUp
      ? new ServiceError('BAD_REQUEST')
      : serviceErrorFrom(error, request.routeOptions.bodyLimit);
    const { status } = ERRORS[refusal.code];
    if (status >= 500 && !refusal.quiet)
      request.log.error({ requestId: request.id, error: describeError(error) }, 'request failed');
    reply.header('cache-control', 'no-store');
    if (status === 503) reply.header('retry-after', RETRY_AFTER_UNAVAILABLE_S);
    reply
      .code(status)
      .headers(refusal.headers)
      .type('application/json')
      .send(errorBody(refusal, request.id, baseUrlFor(config, request)));
  };

/** For requests that reach no handler. */
const rawAnswer = (code: ErrorCode, requestId: string, baseUrl: string) => {
  const body = JSON.stringify(errorBody(new ServiceError(code), requestId, baseUrl));
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
    [REQUEST_ID_HEADER]: requestId,
    connection: 'close',
  };
  return { status: ERRORS[code].status, headers, body };
};

const PARSER_ERRORS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** For bytes that are not HTTP, and for requests that never end. There is no request yet, only a socket. */
export const answerParserError = (
  error: Error & { code?: string },
  socket: Socket,
  log: Logger,
  baseUrl: string,
): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = newId(Date.now());
  log.debug({ requestId, code: error.code }, 'not HTTP');
  const code = PARSER_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST';
  const { status, headers, body } = rawAnswer(code, requestId, baseUrl);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
  closeSoon(socket);
};

/** Requests that Node would answer itself, with an empty body. Here they get the usual error body. */
export const answerOddRequests = (app: FastifyInstance, clock: Clock, baseUrl: string): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const hosts = countOf('host', raw.rawHeaders);
    const isMissing = hosts === 0 && raw.httpVersion === '1.1';
    if (!isMissing && hosts <= 1) return void done();
    const message = `The Host header is ${isMissing ? 'missing' : 'there more than once'}.`;
    done(new ServiceError('BAD_REQUEST', { message }));
  });
  app.server.on('checkExpectation', (request, response) => {
    const requestId = requestIdOf(request, clock.now());
    const { status, headers, body } = rawAnswer('EXPECTATION_FAILED', requestId, baseUrl);
    response.writeHead(status, headers).end(body);
  });
};

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

/** `/offline-repairs/:id` as a pattern for addresses. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]*')}$`);

const methodNotAllowed = (taken: Iterable<string>): ServiceError => {
  const allow = [...taken].join(', ');
  return new ServiceError('METHOD_NOT_ALLOWED', {
    message: `This address takes ${allow}.`,
    headers: { allow },
  });
};

/** Pages are read and nothing else: 405 where there is one. */
export const refuseOtherMethodsOn = (app: FastifyInstance, isPage: (path: string) => boolean): void => {
  app.addHook('onRequest', async ({ is404, url }) => {
    if (is404 && isPage(pathOf(url))) throw methodNotAllowed(['GET', 'HEAD']);
  });
};

// Runs `register`, then answers 405 where an address that it registered is called with another method, and 404 elsewhere, before
// anything of the body is read. To register a route for each of those methods would take longer than all the rest of a start.
export const refuseOtherMethods = (app: FastifyInstance, register: () => void): void => {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByUrl.set(url, methods);
  });
  register();
  const known = [...methodsByUrl].map(([url, methods]) => ({ pattern: patternOf(url), methods }));
  app.addHook('onRequest', async ({ is404, url }) => {
    if (!is404) return;
    const found = known.find(({ pattern }) => pattern.test(pathOf(url)));
    throw found ? methodNotAllowed(found.methods) : new ServiceError('ROUTE_NOT_FOUND');
  });
};
