import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A receiver that speaks bytes, not HTTP. `onRequest` is called with the first bytes of each connection, or as soon as there is
 * one.
 */
export const rawServer = async (
  onRequest: (socket: Socket) => void,
  { atConnection = false }: { atConnection?: boolean } = {},
): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (atConnection) onRequest(socket);
    else socket.once('data', () => onRequest(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};
