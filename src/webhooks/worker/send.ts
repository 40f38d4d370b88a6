import { createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { VERSION } from '../../platform/config.ts';
import { type AddressGuard, ForbiddenAddress } from '../address-guard.ts';
import { EXCHANGE_TIMEOUT_MS, RESPONSE_LIMIT_BYTES, RESPONSE_LIMIT_LINES } from '../policy.ts';

export const signatureOf = (secret: string, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex');

interface Outgoing {
  url: string;
  secret: string;
  id: string;
  event: string;
  attempt: number;
  body: Buffer;
  onChunk?: (chunk: Buffer) => void;
}

interface Outcome {
  statusCode: number | null;
  error: string | null;
}

export interface Sender {
  /** Resolves to null if a stop aborted the exchange, which reveals nothing about the receiver. */
  send(outgoing: Outgoing): Promise<Outcome | null>;
  close(): Promise<void>;
}

export const createSender = (guard: AddressGuard): Sender => {
  // The pools of receivers bound the number of connections, not the agent: two clients may share a host, and one that hangs
  // must not use up the connections of the other. HTTP/2 is off, since exchanges share its connections and their bytes mix.
  const agent = new Agent({
    connect: (options, callback) =>
      guard.connect(options, (...result) => {
        const [, socket] = result;
        if (socket) limitResponses(socket);
        callback(...result);
      }),
    keepAliveTimeout: 10_000,
    // One time limit applies to the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    allowH2: false,
    // Headers count towards the limit of the whole response. The default limit of undici is a quarter of it.
    maxHeaderSize: RESPONSE_LIMIT_BYTES,
  });
  let isClosed = false;
  const onOverdue = createOverdueQueue();

  return {
    async send({ url, secret, id, event, attempt, body, onChunk }) {
      const handler = new ResponseHandler(onChunk, onOverdue);
      try {
        const { origin, pathname, search } = new URL(url);
        const headers = {
          'content-type': 'application/json',
          'user-agent': `Handback/${VERSION}`,
          'x-webhook-signature': signatureOf(secret, body),
          'x-webhook-id': id,
          'x-webhook-event': event,
          'x-webhook-attempt': String(attempt),
        };
        agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, handler);
      } catch (error) {
        handler.fail(error);
      }
      const outcome = await handler.outcome;
      return isClosed && outcome.statusCode === null ? null : outcome;
    },
    close() {
      isClosed = true;
      return agent.destroy();
    },
  };
};

/**
 * Only this many exchanges are aborted at once. Aborting 400 hanging receivers together blocked everything else for 80 ms;
 * aborting them in consecutive turns of the event loop delayed other events by 60 ms, as PostgreSQL wrote their results.
 */
const ABORTED_AT_ONCE = 8;
const ABORT_PAUSE_MS = 10;
const createOverdueQueue = () => {
  const overdue: ResponseHandler[] = [];
  const abortSome = (): void => {
    for (const handler of overdue.splice(0, ABORTED_AT_ONCE)) handler.abort();
    if (overdue.length > 0) setTimeout(abortSome, ABORT_PAUSE_MS);
  };
  return (handler: ResponseHandler): void => {
    if (overdue.push(handler) === 1) setImmediate(abortSome);
  };
};

/** Reads the status of one response. undici's `request` would create a stream, which costs a third of the whole exchange. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<Outcome>();
  readonly outcome = this.#ended.promise;
  readonly #onChunk: Outgoing['onChunk'];
  readonly #limit: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #received: Outcome = { statusCode: null, error: null };

  constructor(onChunk: Outgoing['onChunk'], onOverdue: (handler: ResponseHandler) => void) {
    this.#onChunk = onChunk;
    this.#limit = setTimeout(() => onOverdue(this), EXCHANGE_TIMEOUT_MS);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error(TIMED_OUT));
  }
  onResponseStart(_: unknown, statusCode: number): void {
    // Interim responses (1xx) are not the result.
    if (statusCode >= 200) this.#received = { statusCode, error: null };
  }
  /** The body is read to its end so that the connection can be reused. `limitResponses` bounds its size. */
  onResponseData(_: unknown, chunk: Buffer): void {
    this.#onChunk?.(chunk);
  }
  onResponseEnd(): void {
    this.#end(this.#received);
  }
  onResponseError(_: unknown, error: Error): void {
    // If a response is too long, its status still counts once it has arrived (docs/contract.md).
    if (this.#received.statusCode !== null && isTooLong(error)) this.#end(this.#received);
    else this.fail(error);
  }
  fail(error: unknown): void {
    this.#end({ statusCode: null, error: describeSendError(error) });
  }
  abort(): void {
    if (this.#isOver) return;
    this.#end({ statusCode: null, error: TIMED_OUT });
    this.#controller?.abort(new Error(TIMED_OUT));
  }
  #end(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#limit);
    this.#ended.resolve(outcome);
  }
}

class ResponseTooLong extends Error {}

const LINE_BREAK = 0x0a;

/** Returns how much of a chunk fits into the remaining bytes and lines. */
const lengthWithin = (chunk: Buffer, bytes: number, lines: number): { length: number; lines: number } => {
  let found = 0;
  let end = -1;
  while (found < lines) {
    end = chunk.indexOf(LINE_BREAK, end + 1);
    if (end === -1 || end >= bytes) return { length: Math.min(bytes, chunk.length), lines: found };
    found += 1;
  }
  return { length: end + 1, lines: found };
};

/**
 * Closes a connection when the response of one exchange exceeds a limit. undici cannot do this: `maxResponseSize` counts only
 * bodies, `maxHeaderSize` restarts with every 1xx, and neither counts lines, which need more memory than their bytes (ADR 0008).
 * Bytes beyond a limit never reach the parser. An exchange begins with a write, so each write restarts the count.
 */
const limitResponses = (socket: Socket): void => {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytesLeft = RESPONSE_LIMIT_BYTES;
  let linesLeft = RESPONSE_LIMIT_LINES;
  let isOver = false;
  socket.read = (size?: number) => {
    const chunk: Buffer | null = isOver ? null : read(size);
    if (chunk === null) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      bytesLeft = RESPONSE_LIMIT_BYTES;
      linesLeft = RESPONSE_LIMIT_LINES;
    }
    const { length, lines } = lengthWithin(chunk, bytesLeft, linesLeft);
    bytesLeft -= length;
    linesLeft -= lines;
    if (length === chunk.length) return chunk;
    isOver = true;
    // The parser sees the permitted bytes first, since a status among them still counts.
    queueMicrotask(() => socket.destroy(new ResponseTooLong()));
    return length === 0 ? null : chunk.subarray(0, length);
  };
};

const TIMED_OUT = 'no complete response within 10 s';

/** undici has a separate limit for headers and trailers, which is below ours. */
const isTooLong = (error: Error): boolean =>
  error instanceof ResponseTooLong || ('code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW');

const ERROR_PHRASES: [RegExp, string][] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)/, TIMED_OUT],
  [/^ECONNREFUSED/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/, 'connection closed'],
  [/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ENONAME|EREFUSED)/, 'host name not found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)/, 'host not reachable'],
  [/^UND_ERR_HEADERS_OVERFLOW/, 'the response headers are too long'],
  [/^UND_ERR_(RES_|RESPONSE)/, 'the response is not valid HTTP'],
  [
    /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/,
    'TLS connection not trusted',
  ],
];

/** Describes why an attempt failed, with the error code, for the shop's Admin. */
export const describeSendError = (error: unknown): string => {
  if (error instanceof ForbiddenAddress) return 'address not allowed: it leads into a private network';
  if (error instanceof ResponseTooLong) return 'the response is longer than 64 KiB or 1,000 lines';
  const { name, code, cause } = error as { name?: string; code?: string | number; cause?: unknown };
  if (cause instanceof ForbiddenAddress) return describeSendError(cause);
  if (error instanceof AggregateError && error.errors.length > 0) return describeSendError(error.errors[0]);
  if (name === 'HTTPParserError') return 'the response is not valid HTTP';
  const words = ERROR_PHRASES.find(([pattern]) => pattern.test(String(code ?? '')))?.[1] ?? 'sending failed';
  return code === undefined ? words : `${words} (${code})`;
};
