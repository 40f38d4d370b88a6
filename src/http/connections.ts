import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Time limits of a connection, as server options: decision 90. */
export const CONNECTION_LIMITS = {
  /** No byte in either direction. Longer than any answer may take; Node exempts idle keep-alive connections. */
  connectionTimeout: 30_000,
  /** From a request's first byte to its last. Shorter than the limit above, which closes without an answer. */
  requestTimeout: 25_000,
  keepAliveTimeout: 72_000,
  http: {
    headersTimeout: 10_000,
    /** Whoever is late is cut off at these moments, all at once: a thousand in a second would hold up everybody else. */
    connectionsCheckingInterval: 100,
    requireHostHeader: false,
  },
};

/** Further connections are closed at once: the process must not run out of file descriptors. */
const MAX_CONNECTIONS = 5_000;

/** How long, and how many bytes, a caller may keep sending a body that was already answered: decision 91. */
const LINGER_MS = 1_000;
const LINGER_BYTES = 512 * 1024;

/**
 * Closes a connection after its last answer. If we destroyed the socket while bytes still arrive, the caller's system would
 * discard the answer, so we read a little more first.
 */
export const closeSoon = (socket: Socket): void => {
  let received = 0;
  socket.end();
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > LINGER_BYTES) socket.pause();
  });
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};

const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

/** Limits the number of connections, and stops reading a body once the answer is known: a 401 does not read 100 MB first. */
export const limitConnections = (app: FastifyInstance): void => {
  app.server.maxConnections = MAX_CONNECTIONS;
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (!hasUnreadBody(raw)) return void done();
    // The answer may be known before Node has parsed the rest of the packet, which may hold a short body.
    setImmediate(() => {
      if (hasUnreadBody(raw)) {
        reply.header('connection', 'close');
        // Node calls this after an answer that closes its connection.
        raw.socket.destroySoon = () => {
          closeSoon(raw.socket);
          raw.resume();
        };
      }
      done();
    });
  });
};
