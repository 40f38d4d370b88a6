import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    drain: Drain;
  }
}

/** How the server leaves: first it is not ready any more but answers everybody, then it closes. */
interface Drain {
  /** From now on `/readyz` is a 503 and every answer closes its connection, so that callers move on. */
  begin(): void;
  /** A hook for routes that turn callers away from then on. */
  refuse(request: unknown, reply: unknown, done: (refusal?: Error) => void): void;
  /** Stops listening and closes what is idle; destroys after `withinMs` what is left. Ends with the last connection. */
  finish(withinMs: number): Promise<void>;
}

const SWEEP_MS = 100;
const STOPPING = { message: 'The service is stopping.', quiet: true };

export const prepareDrain = (app: FastifyInstance): void => {
  const open = new Set<Socket>();
  // Connections on which nobody has asked anything. Node counts these as requests, not as idle.
  const silent = new Set<Socket>();
  let begun = false;

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
    if (begun) reply.header('connection', 'close');
    done();
  });

  const closeIdle = (): void => {
    app.server.closeIdleConnections();
    for (const socket of silent) socket.destroy();
  };
  app.addHook('preClose', (done) => {
    begun = true;
    closeIdle();
    // Again and again: an answer that began before the stop still says keep-alive, and leaves an idle connection behind.
    const sweep = setInterval(closeIdle, SWEEP_MS).unref();
    app.server.once('close', () => clearInterval(sweep));
    done();
  });

  app.decorate('drain', {
    begin() {
      begun = true;
    },
    refuse(_request, _reply, done) {
      done(begun ? new ServiceError('UNAVAILABLE', STOPPING) : undefined);
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
