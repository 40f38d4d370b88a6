import type { OutgoingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import { IncomingMessage, ServerResponse } from './node-http.ts';

/** Helmet sets the same headers on every answer, so it runs once, on an answer that is never sent. */
const headersOf = (options: HelmetOptions): OutgoingHttpHeaders => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => {});
  return response.getHeaders();
};

export const setSecurityHeaders = (app: FastifyInstance, options: HelmetOptions): void => {
  const headers = headersOf(options);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
};
