import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A receiver that takes every connection and never answers. */
export const startSilence = async (): Promise<{ url: string; close(): Promise<void> }> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
