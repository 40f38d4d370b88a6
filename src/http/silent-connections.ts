import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Closes, at a stop, the connections on which nobody has asked anything: Node waits for those as if they were requests. */
export const closeSilentConnections = (app: FastifyInstance): void => {
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of silent) socket.destroy();
  });
};
