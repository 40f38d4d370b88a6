import type { AddressInfo } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A receiver behind TLS that takes everything with a 200 and counts the bytes that it was entrusted with. */
export const tlsReceiver = async (options: TlsOptions): Promise<{ url: string; received: () => number }> => {
  let received = 0;
  const server = createServer(options, (socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        received += bytes.length;
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}/hook`, received: () => received };
};
