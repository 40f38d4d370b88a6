import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { ServiceError } from '../service/errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    deadline: Deadline;
  }
}

interface Deadline {
  timer: NodeJS.Timeout;
  startedAt: number;
  leftMs: number;
}

/** Every answer comes within 5 s, not counting the time the body takes to arrive: docs/contract.md. */
export const DEADLINE_MS = 4_500;

const TOO_LATE = { message: 'The answer took too long: try again in a moment.' };
const SILENT = pino({ level: 'silent' });

const startTimer = (request: FastifyRequest, reply: FastifyReply, leftMs: number): void => {
  const timer = setTimeout(() => {
    if (reply.sent || reply.raw.headersSent || request.socket.destroyed) return;
    reply.send(new ServiceError('SERVICE_UNAVAILABLE', TOO_LATE));
    // The handler is still running. Fastify would log its late result with the request's address.
    reply.log = SILENT;
  }, leftMs);
  request.deadline = { timer, startedAt: performance.now(), leftMs };
};

/** Answers 503 when a request takes too long, and ignores what its handler returns later. */
export const keepDeadlines = (app: FastifyInstance): void => {
  app.decorateRequest('deadline');
  app.addHook('onRequest', (request, reply, done) => {
    startTimer(request, reply, request.routeOptions.config.deadlineMs ?? DEADLINE_MS);
    done();
  });
  // The timer stops while the body arrives; that has its own time limit.
  app.addHook('preParsing', ({ deadline }, _reply, _payload, done) => {
    clearTimeout(deadline.timer);
    deadline.leftMs -= performance.now() - deadline.startedAt;
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    startTimer(request, reply, Math.max(1, request.deadline.leftMs));
    done();
  });
  // Once the answer has started, there is no deadline.
  app.addHook('onSend', ({ deadline }, _reply, _payload, done) => {
    clearTimeout(deadline?.timer);
    done();
  });
};
