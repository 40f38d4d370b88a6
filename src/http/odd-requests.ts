import type { FastifyInstance } from 'fastify';
import { ADMIN_BASE_PATH } from '../../contract/admin-people.ts';
import { BASE_PATH } from '../../contract/common.ts';
import { ERRORS, ServiceError } from '../service/errors.ts';
import { errorBody } from './error-answers.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './observe.ts';

// Requests that Node would answer itself, with an empty body. Here they get the usual error body.

const decoded = (encoded: string): string | null => {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return null;
  }
};

/** A path that cannot be decoded: its percent signs are taken literally, so that it ends as a normal 404. */
const decodable = (url: string): string => {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  return decoded(path) === null ? [path.replaceAll('%', '%25'), ...query].join('?') : url;
};

const SLASH_AT_END = new RegExp(`^((?:${BASE_PATH}|${ADMIN_BASE_PATH})/[^?]*[^/?])/(?=\\?|$)`);

/** The address as the router takes it. In both APIs a slash at its end changes nothing (docs/contract.md). */
export const routable = (url: string): string => decodable(url.replace(SLASH_AT_END, '$1'));

/** The parameters of a query whose value is not UTF-8 in percent-encoding (`%ff`, `%zz`). The parser would take it literally. */
export const undecodableParameters = (url: string): string[] => {
  const at = url.indexOf('?');
  if (at === -1 || !url.includes('%', at)) return [];
  return url
    .slice(at + 1)
    .split('&')
    .filter((pair) => decoded(pair) === null)
    .map((pair) => decoded(pair.split('=', 1)[0] ?? '') || 'query');
};

/** How often a header was sent. Node keeps the first; a proxy in front of us may have used another one. */
export const countOf = (name: string, rawHeaders: string[]): number => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
};

export const answerOddRequests = (app: FastifyInstance, now: () => number, baseUrl: string): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const hosts = countOf('host', raw.rawHeaders);
    const isMissing = hosts === 0 && raw.httpVersion === '1.1';
    if (!isMissing && hosts <= 1) return void done();
    const message = `The Host header is ${isMissing ? 'missing' : 'there more than once'}.`;
    done(new ServiceError('BAD_REQUEST', { message }));
  });
  app.server.on('checkExpectation', (request, response) => {
    const requestId = requestIdOf(request, now());
    const { status } = ERRORS.EXPECTATION_FAILED;
    const body = JSON.stringify(errorBody(new ServiceError('EXPECTATION_FAILED'), requestId, baseUrl));
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
    };
    response.writeHead(status, { ...headers, [REQUEST_ID_HEADER]: requestId, connection: 'close' }).end(body);
  });
};
