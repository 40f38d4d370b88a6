import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from '../../contract/common.ts';
import { isUnavailable } from '../db/database-errors.ts';
import { newId } from '../lib/ids.ts';
import type { Config } from '../platform/config.ts';
import { ERRORS, type ErrorCode, ServiceError } from '../platform/errors.ts';
import { describeError } from '../platform/log.ts';
import { closeSoon } from './connection-limits.ts';
import { countOf, REQUEST_ID_HEADER } from './requests.ts';

/** An `import` would read every export of the module, which loads Node's own undici: 7 % of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const FASTIFY_ERRORS: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
};

const RETRY_AFTER_UNAVAILABLE_S = '2';

const serviceErrorFrom = (error: unknown, bodyLimit: number): ServiceError => {
  if (error instanceof ServiceError) return error;
  const { code, statusCode = 500 } = error as FastifyError;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ServiceError('BODY_TOO_LARGE', {
      message: `The body is larger than ${bodyLimit / 1024} KiB.`,
    });
  // This includes a caller who disconnects during the body, whose code is that of a database that closed the connection.
  if (statusCode < 500) return new ServiceError(FASTIFY_ERRORS[code] ?? 'BAD_REQUEST');
  return isUnavailable(error)
    ? new ServiceError('SERVICE_UNAVAILABLE', { cause: error })
    : new ServiceError('INTERNAL_ERROR');
};

type PublicUrl = Pick<Config, 'publicUrl' | 'publicUrlIsSet'>;

/** A Host header may contain a name or an address, and a port. Anything else is not repeated. */
const VALID_HOST = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;

/** Returns PUBLIC_URL or, without it, the address of this request, if it is valid. */
export const baseUrlFor = (
  { publicUrl, publicUrlIsSet }: PublicUrl,
  { protocol, host }: FastifyRequest,
): string =>
  !publicUrlIsSet && VALID_HOST.test(host) && /^https?$/.test(protocol) ? `${protocol}://${host}` : publicUrl;

export const errorBody = (error: ServiceError, requestId: string, baseUrl: string): ErrorBody => {
  const { status } = ERRORS[error.code];
  const { errors, right, refused } = error.details;
  return {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: errors ? errors.map((problem) => problem.message) : error.message,
    code: error.code,
    errors,
    right,
    refused,
    docs: `${baseUrl}/docs/errors#${error.code}`,
    requestId,
  };
};

export const noRoute = (): never => {
  throw new ServiceError('ROUTE_NOT_FOUND');
};

/** The only function that turns an error into a response. */
export const errorHandler =
  (config: PublicUrl) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = serviceErrorFrom(error, request.routeOptions.bodyLimit);
    const { status } = ERRORS[refusal.code];
    if (status >= 500 && !refusal.details.quiet)
      request.log.error({ requestId: request.id, error: describeError(error) }, 'request failed');
    reply.headers({ [REQUEST_ID_HEADER]: request.id, 'cache-control': 'no-store' });
    if (status === 503) reply.header('retry-after', RETRY_AFTER_UNAVAILABLE_S);
    reply
      .code(status)
      .headers(refusal.details.headers ?? {})
      .type('application/json')
      .send(errorBody(refusal, request.id, baseUrlFor(config, request)));
  };

const PARSER_ERRORS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Responds to bytes that are not HTTP, and to requests that never end. There is no request yet, only a socket. */
export const handleParserError = (
  error: Error & { code?: string },
  socket: Socket,
  log: FastifyBaseLogger,
  baseUrl: string,
): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = newId(Date.now());
  log.debug({ requestId, code: error.code }, 'not HTTP');
  const refusal = new ServiceError(PARSER_ERRORS[error.code ?? ''] ?? 'BAD_REQUEST');
  const { status } = ERRORS[refusal.code];
  const body = JSON.stringify(errorBody(refusal, requestId, baseUrl));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    'cache-control: no-store',
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${requestId}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  closeSoon(socket);
};

/** Gives requests that Node would refuse with an empty body the usual error body. */
export const handleOddRequests = (app: FastifyInstance): void => {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ raw, headers: { expect } }, _reply, done) => {
    if (expect && !/\b100-continue\b/i.test(expect)) return void done(new ServiceError('EXPECTATION_FAILED'));
    if (raw.httpVersionMajor < 1)
      return void done(new ServiceError('BAD_REQUEST', { message: 'HTTP/0.9 is not spoken here.' }));
    const hosts = countOf('host', raw.rawHeaders);
    const isMissing = hosts === 0 && raw.httpVersion === '1.1';
    if (!isMissing && hosts <= 1) return void done();
    const message = `The Host header is ${isMissing ? 'missing' : 'there more than once'}.`;
    done(new ServiceError('BAD_REQUEST', { message }));
  });
};

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]*')}$`);

/** Responds with 405 if the path has other methods, else with 404, before the body is read. */
export const refuseUnknown = (
  app: FastifyInstance,
  methodsAt: (path: string) => Iterable<string> | undefined,
): void => {
  app.setNotFoundHandler(noRoute);
  app.addHook('onRequest', async ({ is404, url }) => {
    if (!is404) return;
    const methods = methodsAt(url.split('?', 1)[0] ?? '');
    if (!methods) return noRoute();
    const allow = [...methods].join(', ');
    const message = `This address takes ${allow}.`;
    throw new ServiceError('METHOD_NOT_ALLOWED', { message, headers: { allow } });
  });
};

/**
 * Responds with 405 for the routes that are registered after this. A route for each other method would take longer than the rest of
 * a start.
 */
export const refuseOtherMethods = (app: FastifyInstance): void => {
  const known: Record<string, { pattern: RegExp; methods: Set<string> }> = {};
  app.addHook('onRoute', ({ method, url }) => {
    known[url] ??= { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) known[url].methods.add(each);
  });
  refuseUnknown(app, (path) => {
    const methods = Object.values(known)
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((each) => [...each.methods]);
    return methods.length > 0 ? new Set(methods) : undefined;
  });
};
