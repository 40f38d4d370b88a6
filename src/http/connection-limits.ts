import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { timeLimit } from '../lib/time-limits.ts';
import { ServiceError } from '../platform/errors.ts';
import { addressKey } from './requests.ts';

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections;
  }
  interface FastifyRequest {
    deadline: Deadline;
  }
}

/** The time limits of a connection as server options (docs/guide/limits.md). */
export const CONNECTION_LIMITS = {
  /** Closes a connection without traffic. It is longer than any response may take; Node exempts idle keep-alive connections. */
  connectionTimeout: 30_000,
  /** From the first byte of a request to its last. It is shorter than the limit above, which closes without a response. */
  requestTimeout: 25_000,
  keepAliveTimeout: 72_000,
  http: {
    headersTimeout: 10_000,
    /** The interval at which late callers are cut off, together: a thousand of them delay all other requests. */
    connectionsCheckingInterval: 100,
    requireHostHeader: false,
  },
};

/** The process must not run out of file descriptors. */
const MAX_CONNECTIONS = 5_000;

/** After the response a caller may send the rest of its body for this long, up to this many bytes (docs/contract.md). */
const LINGER_MS = 1_000;
const LINGER_BYTES = 512 * 1024;

/** Closes a connection after its last response. If it were destroyed while bytes arrive, the caller's system would discard the response. */
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

interface OpenConnection {
  address: string;
  own: Set<Socket>;
  pending: number;
}

// A new connection above a limit closes the one that has been idle longest, or is refused if none is idle (docs/contract.md). So an
// address that holds idle connections does not lock out others.
class Connections {
  /** While true, `/readyz` returns 503 and every response closes its connection, so that callers move to other processes. */
  isDraining = false;
  readonly #app: FastifyInstance;
  readonly #perAddress: number;
  readonly #open = new Map<Socket, OpenConnection>();
  /** Connections without a request, longest idle first. */
  readonly #idle = new Set<Socket>();
  readonly #byAddress = new Map<string, Set<Socket>>();

  constructor(app: FastifyInstance, perAddress: number) {
    this.#app = app;
    this.#perAddress = perAddress;
    app.server.on('connection', (socket) => this.#add(socket));
    app.server.on('request', ({ socket }, response) => this.#begin(socket, response));
    app.addHook('preClose', (done) => {
      this.isDraining = true;
      for (const socket of this.#idle) socket.destroy();
      done();
    });
  }

  /** Stops listening, closes idle connections, and destroys the others after `withinMs`. Resolves when all are closed. */
  async finish(withinMs: number): Promise<void> {
    const cut = setTimeout(() => {
      for (const socket of this.#open.keys()) socket.destroy();
    }, withinMs);
    await this.#app.close();
    clearTimeout(cut);
  }

  #add(socket: Socket): void {
    const address = addressKey(socket.remoteAddress ?? '');
    const own = this.#byAddress.get(address) ?? new Set();
    if (!this.#makeRoom(own)) return void socket.destroy();
    socket.once('close', () => this.#forget(socket));
    this.#open.set(socket, { address, own, pending: 0 });
    this.#idle.add(socket);
    this.#byAddress.set(address, own.add(socket));
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const open = this.#open.get(socket);
    if (!open) return;
    open.pending += 1;
    this.#idle.delete(socket);
    response.once('close', () => {
      open.pending -= 1;
      if (open.pending > 0 || !socket.writable) return;
      // A response that began before the stop may have said keep-alive.
      if (this.#app.server.listening) this.#idle.add(socket);
      else socket.destroy();
    });
  }

  #makeRoom(own: Set<Socket>): boolean {
    const isAddressFull = own.size >= this.#perAddress;
    if (!isAddressFull && this.#open.size < MAX_CONNECTIONS) return true;
    for (const socket of this.#idle) {
      if (isAddressFull && !own.has(socket)) continue;
      // It is forgotten before it has closed, since others may connect meanwhile.
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #forget(socket: Socket): void {
    const open = this.#open.get(socket);
    this.#open.delete(socket);
    this.#idle.delete(socket);
    open?.own.delete(socket);
    if (open?.own.size === 0) this.#byAddress.delete(open.address);
  }
}

/**
 * Limits the number of connections, stops reading a body once the response is known (a 401 does not read 100 MB first), and drains
 * connections at a stop.
 */
export const manageConnections = (app: FastifyInstance, perAddress: number): void => {
  const connections = new Connections(app, perAddress);
  app.decorate('connections', connections);
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (connections.isDraining) reply.header('connection', 'close');
    if (!hasUnreadBody(raw)) return void done();
    // The response may be known before Node has parsed the rest of the packet, which may contain a short body.
    setImmediate(() => {
      if (hasUnreadBody(raw)) {
        reply.header('connection', 'close');
        // Node calls this after a response that closes its connection.
        raw.socket.destroySoon = () => {
          closeSoon(raw.socket);
          raw.resume();
        };
      }
      done();
    });
  });
};

// --- how long a request may take ---

interface Deadline {
  timer: NodeJS.Timeout;
  startedAt: number;
  leftMs: number;
}

/** Every response begins within 5 s of the end of the request's body (docs/guide/limits.md): 4.5 s, and time to write it. */
export const DEADLINE_MS = 4_500;

const DEADLINE_PASSED = { message: 'The response took too long: try again in a moment.' };
const SILENT_LOG = pino({ level: 'silent' });

const startTimer = (request: FastifyRequest, reply: FastifyReply, leftMs: number): void => {
  const timer = setTimeout(() => {
    if (reply.sent || reply.raw.headersSent || request.socket.destroyed) return;
    reply.send(new ServiceError('SERVICE_UNAVAILABLE', DEADLINE_PASSED));
    // The handler is still running. Fastify would log its late result with the request's address.
    reply.log = SILENT_LOG;
  }, leftMs);
  request.deadline = { timer, startedAt: performance.now(), leftMs };
};

/** Responds with 503 when a request takes too long, and ignores the later result of its handler. */
export const keepDeadlines = (app: FastifyInstance): void => {
  app.decorateRequest('deadline');
  app.addHook('onRequest', (request, reply, done) => {
    const deadlineMs = timeLimit(request.routeOptions.config.deadlineMs ?? DEADLINE_MS);
    // Without traffic meanwhile, Node would close the connection before the response.
    if (deadlineMs >= app.server.timeout) request.socket.setTimeout(deadlineMs + DEADLINE_MS);
    startTimer(request, reply, deadlineMs);
    done();
  });
  // The timer stops while the body arrives, which has its own time limit.
  app.addHook('preParsing', ({ deadline }, _reply, _payload, done) => {
    clearTimeout(deadline.timer);
    deadline.leftMs -= performance.now() - deadline.startedAt;
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    startTimer(request, reply, Math.max(1, request.deadline.leftMs));
    done();
  });
  // There is no deadline once the response has started.
  app.addHook('onSend', ({ deadline, socket, routeOptions }, _reply, _payload, done) => {
    clearTimeout(deadline?.timer);
    if (routeOptions.config.deadlineMs) socket.setTimeout(app.server.timeout);
    done();
  });
};
