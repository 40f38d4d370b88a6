import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { addressKey } from './caller-address.ts';

/** Time limits of a connection, as server options: docs/contract.md. */
export const CONNECTION_LIMITS = {
  /** No byte in either direction. Longer than any answer may take; Node exempts idle keep-alive connections. */
  connectionTimeout: 30_000,
  /** From a request's first byte to its last. Shorter than the limit above, which closes without an answer. */
  requestTimeout: 25_000,
  keepAliveTimeout: 72_000,
  http: {
    headersTimeout: 10_000,
    /** Late callers are cut off at these moments, all at once: a thousand at a time would delay all other requests. */
    connectionsCheckingInterval: 100,
    requireHostHeader: false,
  },
};

/** The process must not run out of file descriptors. */
const MAX_CONNECTIONS = 5_000;

/** How long, and how many bytes, a caller may keep sending a body that was already answered: docs/contract.md. */
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

/** Connections of one address, or of all; those between requests, longest idle first. */
interface Held {
  open: Set<Socket>;
  idle: Set<Socket>;
}
const noneHeld = (): Held => ({ open: new Set(), idle: new Set() });

/**
 * A new connection beyond a limit closes the one that has been idle longest, or is refused where none is (docs/contract.md). So an
 * address that holds idle connections keeps no other out. `perAddress` null: all come from a proxy.
 */
const limitNumber = (server: Server, perAddress: number | null): void => {
  const all = noneHeld();
  const byAddress = new Map<string, Held>();
  /** What each connection counts in, and how many of its requests have no answer yet. */
  const known = new WeakMap<Socket, { counts: Held[]; requests: number }>();

  const heldBy = (address: string): Held => {
    const held = byAddress.get(address) ?? noneHeld();
    byAddress.set(address, held);
    return held;
  };
  const forget = (socket: Socket): void => {
    for (const { open, idle } of known.get(socket)?.counts ?? []) {
      open.delete(socket);
      idle.delete(socket);
    }
  };
  const makeRoom = ({ open, idle }: Held, limit: number): boolean => {
    if (open.size < limit) return true;
    const [longestIdle] = idle;
    if (!longestIdle) return false;
    // At once, not when it has closed: others may connect before that.
    forget(longestIdle);
    longestIdle.destroy();
    return true;
  };

  server.on('connection', (socket: Socket) => {
    const address = addressKey(socket.remoteAddress ?? '');
    const own = perAddress === null ? null : heldBy(address);
    socket.once('close', () => {
      forget(socket);
      if (byAddress.get(address)?.open.size === 0) byAddress.delete(address);
    });
    if ((own && !makeRoom(own, perAddress ?? 0)) || !makeRoom(all, MAX_CONNECTIONS)) {
      socket.destroy();
      return;
    }
    const counts = own ? [own, all] : [all];
    known.set(socket, { counts, requests: 0 });
    for (const { open, idle } of counts) {
      open.add(socket);
      idle.add(socket);
    }
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const state = known.get(socket);
    if (!state) return;
    state.requests += 1;
    for (const { idle } of state.counts) idle.delete(socket);
    response.once('close', () => {
      state.requests -= 1;
      if (state.requests === 0 && !socket.destroyed) for (const { idle } of state.counts) idle.add(socket);
    });
  });
};

/** Limits the number of connections, and stops reading a body once the answer is known: a 401 does not read 100 MB first. */
export const limitConnections = (app: FastifyInstance, perAddress: number | null): void => {
  limitNumber(app.server, perAddress);
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
