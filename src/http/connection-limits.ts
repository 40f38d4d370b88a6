import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { addressKey } from './requests.ts';

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections;
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

/** How often to close connections that became idle during a stop: an answer that began before it said keep-alive. */
const SWEEP_MS = 100;

interface OpenConnection {
  address: string;
  unanswered: number;
}

// A new connection beyond a limit closes the one that has been idle longest, or is refused where none is (docs/contract.md). So an
// address that holds idle connections keeps no other out.
class Connections {
  /** From now on `/readyz` answers 503 and every answer closes its connection, so that callers go elsewhere. */
  isDraining = false;
  readonly #app: FastifyInstance;
  readonly #perAddress: number;
  readonly #open = new Map<Socket, OpenConnection>();
  /** Between requests, or without one so far; longest idle first. */
  readonly #idle = new Set<Socket>();
  readonly #perAddressNow = new Map<string, number>();

  constructor(app: FastifyInstance, perAddress: number) {
    this.#app = app;
    this.#perAddress = perAddress;
    app.server.on('connection', (socket) => this.#add(socket));
    app.server.on('request', ({ socket }, response) => this.#begin(socket, response));
    app.addHook('preClose', (done) => {
      this.isDraining = true;
      this.#closeIdle();
      const sweep = setInterval(() => this.#closeIdle(), SWEEP_MS).unref();
      app.server.once('close', () => clearInterval(sweep));
      done();
    });
  }

  /** Stops listening and closes idle connections; destroys the others after `withinMs`. Resolves when all are closed. */
  async finish(withinMs: number): Promise<void> {
    const cut = setTimeout(() => {
      for (const socket of this.#open.keys()) socket.destroy();
    }, withinMs);
    await this.#app.close();
    clearTimeout(cut);
  }

  #closeIdle(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #add(socket: Socket): void {
    const address = addressKey(socket.remoteAddress ?? '');
    if (!this.#makeRoom(address)) return void socket.destroy();
    socket.once('close', () => this.#forget(socket));
    this.#open.set(socket, { address, unanswered: 0 });
    this.#idle.add(socket);
    this.#perAddressNow.set(address, this.#countOf(address) + 1);
  }

  #countOf(address: string): number {
    return this.#perAddressNow.get(address) ?? 0;
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const open = this.#open.get(socket);
    if (!open) return;
    open.unanswered += 1;
    this.#idle.delete(socket);
    response.once('close', () => {
      open.unanswered -= 1;
      if (open.unanswered === 0 && socket.writable) this.#idle.add(socket);
    });
  }

  #makeRoom(address: string): boolean {
    const isAddressFull = this.#countOf(address) >= this.#perAddress;
    if (!isAddressFull && this.#open.size < MAX_CONNECTIONS) return true;
    for (const socket of this.#idle) {
      if (isAddressFull && this.#open.get(socket)?.address !== address) continue;
      // At once, not when it has closed: others may connect before that.
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #forget(socket: Socket): void {
    const { address } = this.#open.get(socket) ?? {};
    if (address === undefined) return;
    this.#open.delete(socket);
    this.#idle.delete(socket);
    const others = this.#countOf(address) - 1;
    if (others > 0) this.#perAddressNow.set(address, others);
    else this.#perAddressNow.delete(address);
  }
}

/** Limits their number, stops reading a body once the answer is known (a 401 does not read 100 MB first), and drains them at a stop. */
export const manageConnections = (app: FastifyInstance, perAddress: number): void => {
  const connections = new Connections(app, perAddress);
  app.decorate('connections', connections);
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (connections.isDraining) reply.header('connection', 'close');
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
