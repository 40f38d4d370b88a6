import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service/errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    drain: Drain;
  }
}

/** How the server stops: first it reports that it is not ready but answers everybody, then it closes. */
interface Drain {
  /** From now on `/readyz` answers 503 and every answer closes its connection, so that callers go elsewhere. */
  begin(): void;
  refuse(request: unknown, reply: unknown, done: (refusal?: Error) => void): void;
  /** Stops listening and closes idle connections; destroys the others after `withinMs`. Resolves when all are closed. */
  finish(withinMs: number): Promise<void>;
}

const SWEEP_MS = 100;
const STOPPING = { message: 'The service is stopping.', quiet: true };

export const prepareDrain = (app: FastifyInstance): void => {
  const open = new Set<Socket>();
  // Connections without a request so far. Node does not count them as idle.
  const silent = new Set<Socket>();
  let isDraining = false;

  app.server.on('connection', (socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));

  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
    done();
  });

  const closeIdle = (): void => {
    app.server.closeIdleConnections();
    for (const socket of silent) socket.destroy();
  };
  app.addHook('preClose', (done) => {
    isDraining = true;
    closeIdle();
    // Repeatedly: an answer that began before the stop said keep-alive, and leaves an idle connection behind.
    const sweep = setInterval(closeIdle, SWEEP_MS).unref();
    app.server.once('close', () => clearInterval(sweep));
    done();
  });

  app.decorate('drain', {
    begin() {
      isDraining = true;
    },
    refuse(_request, _reply, done) {
      done(isDraining ? new ServiceError('SERVICE_UNAVAILABLE', STOPPING) : undefined);
    },
    async finish(withinMs) {
      const cut = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, withinMs);
      await app.close();
      clearTimeout(cut);
    },
  });
};
