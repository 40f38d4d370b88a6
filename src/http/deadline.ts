import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { ServiceError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    deadline: Deadline;
  }
  interface FastifyContextConfig {
    /** How long the route may take to answer, where that is not the usual time. */
    deadlineMs?: number;
  }
}

interface Deadline {
  timer: NodeJS.Timeout;
  startedAt: number;
  leftMs: number;
}

/** Every answer comes within 5 s; time for the body to arrive does not count: decision 93. */
const DEADLINE_MS = 4_500;

const TOO_LATE = { message: 'The answer took too long: try again in a moment.' };
const SILENT = pino({ level: 'silent' });

const start = (request: FastifyRequest, reply: FastifyReply, leftMs: number): void => {
  const timer = setTimeout(() => {
    if (reply.sent || reply.raw.headersSent || request.socket.destroyed) return;
    reply.send(new ServiceError('UNAVAILABLE', TOO_LATE));
    // The handler still runs. Fastify would log its late result, with the request's address.
    reply.log = SILENT;
  }, leftMs);
  request.deadline = { timer, startedAt: performance.now(), leftMs };
};

/** Answers with a 503 whatever takes too long, and ignores what the handler comes up with later. */
export const keepDeadlines = (app: FastifyInstance): void => {
  app.decorateRequest('deadline');
  app.addHook('onRequest', (request, reply, done) => {
    start(request, reply, request.routeOptions.config.deadlineMs ?? DEADLINE_MS);
    done();
  });
  // Stands still while the body arrives, which has a time limit of its own.
  app.addHook('preParsing', ({ deadline }, _reply, _payload, done) => {
    clearTimeout(deadline.timer);
    deadline.leftMs -= performance.now() - deadline.startedAt;
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    start(request, reply, Math.max(1, request.deadline.leftMs));
    done();
  });
  // An answer that has begun may take its time.
  app.addHook('onSend', ({ deadline }, _reply, _payload, done) => {
    clearTimeout(deadline?.timer);
    done();
  });
};
