import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { untilHolds } from './until.ts';

interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: asserted on field by field
  body: any;
}

/** How the receiver answers the nth request (from 1): a status, or whatever the function does with the response. */
export type Behaviour = (n: number, response: ServerResponse, received: Received) => number | undefined;

/** A webhook receiver on loopback that remembers what it was sent, to the byte. */
export const startReceiver = async (behaviour: Behaviour = () => 200) => {
  const received: Received[] = [];
  let behave = behaviour;
  const server = createServer(async (request, response) => {
    const at = Date.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const one = {
      at,
      path: request.url ?? '',
      headers: request.headers,
      bytes,
      body: JSON.parse(bytes.toString('utf8')),
    };
    received.push(one);
    const status = behave(received.length, response, one);
    if (status !== undefined) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    behave: (next: Behaviour) => {
      behave = next;
    },
    /** Resolves when so many requests have come. */
    got: (count: number, withinMs?: number) =>
      untilHolds(
        `${count} deliveries arrive`,
        () => received,
        ({ length }) => length >= count,
        withinMs,
      ),
  };
};
export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** Sends a receiver half of a request and breaks the connection off, as soon as the half has gone out. */
export const hangUpHalfway = async (port: number): Promise<void> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const half = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"event"';
  await new Promise((resolve) => socket.write(half, resolve));
  socket.resetAndDestroy();
  await once(socket, 'close');
};
