import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ErrorBody } from '../../contract/common.ts';
import type { Config } from '../config.ts';
import { isUnavailable } from '../db/errors.ts';
import { describeError } from '../describe-error.ts';
import { REFUSALS, type RefusalCode, ServiceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { closeSoon } from './connections.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** Codes that say more than the status. Only these appear in the body. */
const CODES_IN_BODY: ReadonlySet<RefusalCode> = new Set([
  'CROSS_SITE',
  'ADMIN_REQUIRED',
  'PLAN_REQUIRED',
  'READ_ONLY',
  'LIMIT_EXCEEDED',
  'USAGE_CAP_EXCEEDED',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'CURSOR_EXPIRED',
  'MOVE_NOT_OPEN',
  'CHANGED_MEANWHILE',
  'NO_WEBHOOK',
  'CLIENT_REVOKED',
  'CLIENT_REPLACED',
  'SET_UP_OVER',
  'ALREADY_SET_UP',
  'TOO_MANY_VIEWS',
  'EMAIL_TAKEN',
  'LAST_ADMIN',
  'SECOND_FACTOR_REQUIRED',
  'SECOND_FACTOR_WRONG',
  'SET_UP_SECOND_FACTOR',
  'SECOND_FACTOR_ON',
  'SECOND_FACTOR_OFF',
  'OWN_SECOND_FACTOR',
  'LINK_OVER',
]);

/** Fastify's own errors, as ours. */
const FASTIFY_REFUSALS: Record<string, RefusalCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BAD_REQUEST',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
};

/** Every 503 says when to try again. */
const RETRY_AFTER_UNAVAILABLE_S = '2';

const serviceErrorFrom = (error: unknown, bodyLimit: number): ServiceError => {
  if (error instanceof ServiceError) return error;
  if (isUnavailable(error)) return new ServiceError('UNAVAILABLE', { cause: error });
  const { code, statusCode } = error as FastifyError;
  const refusal =
    FASTIFY_REFUSALS[code] ?? (statusCode !== undefined && statusCode < 500 ? 'BAD_REQUEST' : 'INTERNAL');
  return new ServiceError(
    refusal,
    refusal === 'BODY_TOO_LARGE' ? { message: `The body is larger than ${bodyLimit / 1024} KiB.` } : {},
  );
};

/** Where a code is explained: below PUBLIC_URL if that is set, else a path, since no header of a caller is believed. */
const explanationOf = (code: RefusalCode, { publicUrl, publicUrlIsSet }: DocsAddress): string =>
  `${publicUrlIsSet ? publicUrl : ''}/docs/errors#${code}`;
export type DocsAddress = Pick<Config, 'publicUrl' | 'publicUrlIsSet'>;

export const errorBody = (error: ServiceError, requestId: string, docs: DocsAddress): ErrorBody => {
  const { status } = REFUSALS[error.code];
  return {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: error.faults ? error.faults.map((fault) => fault.message) : error.message,
    ...(CODES_IN_BODY.has(error.code) ? { code: error.code } : {}),
    ...(error.faults ? { errors: error.faults } : {}),
    docs: explanationOf(error.code, docs),
    requestId,
  };
};

/** Handles a request to an address that does not exist. */
export const noRoute = (): never => {
  throw new ServiceError('NO_ROUTE');
};

/** The one place where an error becomes an answer. */
export const errorAnswer =
  (docs: DocsAddress) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // A caller who hung up in the middle of a body gets no answer, and it is not our fault: do not log it.
    const hungUp = request.raw.destroyed && !request.raw.complete;
    const refusal = hungUp
      ? new ServiceError('BAD_REQUEST')
      : serviceErrorFrom(error, request.routeOptions.bodyLimit);
    const { status } = REFUSALS[refusal.code];
    if (status >= 500 && !refusal.quiet)
      request.log.error({ requestId: request.id, fault: describeError(error) }, 'request failed');
    reply.header('cache-control', 'no-store');
    if (status === 503) reply.header('retry-after', RETRY_AFTER_UNAVAILABLE_S);
    reply
      .code(status)
      .headers(refusal.headers)
      .type('application/json')
      .send(errorBody(refusal, request.id, docs));
  };

const PARSER_REFUSALS: Record<string, RefusalCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** For bytes that are not HTTP, and for requests that never end. There is no request yet, only a socket. */
export const answerParserError = (
  error: Error & { code?: string },
  socket: Socket,
  log: Logger,
  docs: DocsAddress,
): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const requestId = newId(Date.now());
  const refusal = new ServiceError(PARSER_REFUSALS[error.code ?? ''] ?? 'BAD_REQUEST');
  const body = JSON.stringify(errorBody(refusal, requestId, docs));
  const { status } = REFUSALS[refusal.code];
  log.debug({ requestId, code: error.code }, 'not HTTP');
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `${REQUEST_ID_HEADER}: ${requestId}\r\nconnection: close\r\n\r\n${body}`,
  );
  closeSoon(socket);
};
