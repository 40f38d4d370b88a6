import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../service/errors.ts';
import { addressKey } from './requests.ts';

declare module 'fastify' {
  interface FastifyInstance {
    drain: Drain;
  }
}

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

/** Closes a connection after its last answer. Destroyed while bytes still arrive, the caller's system would discard the answer. */
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

/** ConnectionTable of one address, or of all; those between requests, longest idle first. */
interface HeldSockets {
  open: Set<Socket>;
  idle: Set<Socket>;
}
const noneHeld = (): HeldSockets => ({ open: new Set(), idle: new Set() });

interface Known {
  /** What the connection counts in. */
  counts: HeldSockets[];
  unanswered: number;
  /** Without a request so far. Node does not count it as idle. */
  isSilent: boolean;
}

// A new connection beyond a limit closes the one that has been idle longest, or is refused where none is (docs/contract.md). So an
// address that holds idle connections keeps no other out.
class ConnectionTable {
  readonly #server: Server;
  readonly #perAddress: number;
  readonly #all = noneHeld();
  readonly #byAddress = new Map<string, HeldSockets>();
  readonly #known = new WeakMap<Socket, Known>();

  constructor(server: Server, perAddress: number) {
    this.#server = server;
    this.#perAddress = perAddress;
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', ({ socket }, response) => this.#begin(socket, response));
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#all.idle) if (this.#known.get(socket)?.isSilent) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#all.open) socket.destroy();
  }

  #add(socket: Socket): void {
    const address = addressKey(socket.remoteAddress ?? '');
    const own = this.#heldBy(address);
    socket.once('close', () => {
      this.#forget(socket);
      if (this.#byAddress.get(address)?.open.size === 0) this.#byAddress.delete(address);
    });
    const hasRoom = this.#makeRoom(own, this.#perAddress) && this.#makeRoom(this.#all, MAX_CONNECTIONS);
    if (!hasRoom) return void socket.destroy();
    const counts = [own, this.#all];
    this.#known.set(socket, { counts, unanswered: 0, isSilent: true });
    for (const { open, idle } of counts) {
      open.add(socket);
      idle.add(socket);
    }
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const known = this.#known.get(socket);
    if (!known) return;
    known.isSilent = false;
    known.unanswered += 1;
    for (const { idle } of known.counts) idle.delete(socket);
    response.once('close', () => {
      known.unanswered -= 1;
      if (known.unanswered === 0 && !socket.destroyed) for (const { idle } of known.counts) idle.add(socket);
    });
  }

  #heldBy(address: string): HeldSockets {
    const held = this.#byAddress.get(address) ?? noneHeld();
    this.#byAddress.set(address, held);
    return held;
  }

  #makeRoom({ open, idle }: HeldSockets, limit: number): boolean {
    if (open.size < limit) return true;
    const [longestIdle] = idle;
    if (!longestIdle) return false;
    // At once, not when it has closed: others may connect before that.
    this.#forget(longestIdle);
    longestIdle.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    for (const { open, idle } of this.#known.get(socket)?.counts ?? []) {
      open.delete(socket);
      idle.delete(socket);
    }
  }
}

/** How the server stops: first it reports that it is not ready but answers every request, then it closes. */
interface Drain {
  /** From now on `/readyz` answers 503 and every answer closes its connection, so that callers go elsewhere. */
  begin(): void;
  refuse(request: unknown, reply: unknown, done: (refusal?: Error) => void): void;
  /** Stops listening and closes idle connections; destroys the others after `withinMs`. Resolves when all are closed. */
  finish(withinMs: number): Promise<void>;
}

const SWEEP_MS = 100;
const STOPPING = { message: 'The service is stopping.', quiet: true };

/** Limits their number, stops reading a body once the answer is known (a 401 does not read 100 MB first), and drains them at a stop. */
export const manageConnections = (app: FastifyInstance, perAddress: number): void => {
  const connections = new ConnectionTable(app.server, perAddress);
  let isDraining = false;

  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
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
  app.addHook('preClose', (done) => {
    isDraining = true;
    connections.closeIdle();
    // Repeatedly: an answer that began before the stop said keep-alive, and leaves an idle connection behind.
    const sweep = setInterval(() => connections.closeIdle(), SWEEP_MS).unref();
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
      const cut = setTimeout(() => connections.destroyAll(), withinMs);
      await app.close();
      clearTimeout(cut);
    },
  });
};
