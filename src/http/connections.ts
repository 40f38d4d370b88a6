import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** What a connection may take, as options of the server: decision 90. */
export const CONNECTION_LIMITS = {
  /** Nothing moves in either direction. Longer than any answer may be held back; Node exempts idle keep-alive connections. */
  connectionTimeout: 30_000,
  /** From a request's first byte to its last. Shorter than the time above, which closes without an answer. */
  requestTimeout: 25_000,
  keepAliveTimeout: 72_000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, requireHostHeader: false },
};

/** Beyond these a new connection is closed at once; without a bound the process would run out of file descriptors. */
const MOST_CONNECTIONS = 5_000;

/** How long, and for how many bytes, a caller may go on sending a body whose answer is already on its way: decision 91. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 512 * 1024;

/**
 * Closes a connection after its last answer. A socket that is destroyed while bytes arrive makes the caller's system throw
 * away the answer, so a little more is read first.
 */
export const closeSoon = (socket: Socket): void => {
  let taken = 0;
  socket.end();
  socket.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > LINGER_BYTES) socket.pause();
  });
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};

const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/** Bounds connections, and stops reading a body once the answer is known: a 401 takes in no 100 MB. */
export const limitConnections = (app: FastifyInstance): void => {
  app.server.maxConnections = MOST_CONNECTIONS;
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (!hasUnreadBody(raw)) return void done();
    // The answer may be known before Node has looked at the rest of the same packet; a short body is in there.
    setImmediate(() => {
      if (hasUnreadBody(raw)) {
        reply.header('connection', 'close');
        // Node calls this at the end of an answer that closes its connection.
        raw.socket.destroySoon = () => {
          closeSoon(raw.socket);
          raw.resume();
        };
      }
      done();
    });
  });
};
