import type { FastifyInstance } from 'fastify';
import { REFUSALS, ServiceError } from '../errors.ts';
import { errorBody } from './errors.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

// What Node would answer by itself, with an empty body, is answered here like everything else.

/** A path that cannot be decoded names nothing; its percent signs are taken as they stand, and it goes the way of every path. */
export const decodable = (url: string): string => {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
};

/** How often a header is there. Node takes the first and forgets the others; a proxy before us may have looked at another one. */
export const countOf = (name: string, rawHeaders: string[]): number => {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === name.length && rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
};

export const answerOddRequests = (app: FastifyInstance, now: () => number): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const hosts = countOf('host', raw.rawHeaders);
    if (hosts === 0 && raw.httpVersion === '1.1')
      done(new ServiceError('BAD_REQUEST', { message: 'The Host header is missing.' }));
    else if (hosts > 1)
      done(new ServiceError('BAD_REQUEST', { message: 'The Host header is there more than once.' }));
    else done();
  });
  app.server.on('checkExpectation', (request, response) => {
    const requestId = requestIdOf(request, now());
    const { status } = REFUSALS.EXPECTATION_FAILED;
    const body = JSON.stringify(errorBody(new ServiceError('EXPECTATION_FAILED'), requestId));
    const headers = {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
    };
    response.writeHead(status, { ...headers, [REQUEST_ID_HEADER]: requestId, connection: 'close' }).end(body);
  });
};
