import { createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { VERSION } from '../../platform/config.ts';
import { type AddressGuard, ForbiddenAddress } from '../address-guard.ts';
import { ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES, EXCHANGE_TIMEOUT_MS } from '../policy.ts';

export const signatureOf = (secret: string, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex');

interface Outgoing {
  url: string;
  secret: string;
  id: string;
  event: string;
  attempt: number;
  body: Buffer;
  onAnswer?: (piece: Buffer) => void;
}

interface Outcome {
  statusCode: number | null;
  error: string | null;
}

export interface Sender {
  /** null: a stop broke the exchange off, which says nothing about the receiver. */
  send(outgoing: Outgoing): Promise<Outcome | null>;
  close(): Promise<void>;
}

export const createSender = (guard: AddressGuard): Sender => {
  // How many connections there are is bounded by the pools of receivers, not here: two clients may share a host, and one that
  // hangs must not use up the other's. No HTTP/2: there exchanges share a connection, and their bytes cannot be told apart.
  const agent = new Agent({
    connect: (options, callback) =>
      guard.connect(options, (...result) => {
        const [, socket] = result;
        if (socket) limitAnswers(socket);
        callback(...result);
      }),
    keepAliveTimeout: 10_000,
    // An exchange has one limit for all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    allowH2: false,
    // Counted with the rest of the answer; undici's own limit is a quarter of it.
    maxHeaderSize: ANSWER_LIMIT_BYTES,
  });
  let isClosed = false;
  const onOverdue = openOverdue();

  return {
    async send({ url, secret, id, event, attempt, body, onAnswer }) {
      const handler = new AnswerHandler(onAnswer, onOverdue);
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
 * So many, and then others get their turn: 400 receivers that hang, broken off at once, stopped everything else for 80 ms; broken off
 * one turn of the event loop after the other, they made events of others 60 ms late, with PostgreSQL that writes their results.
 */
const BROKEN_OFF_AT_ONCE = 8;
const BREAK_OFF_PAUSE_MS = 10;
const openOverdue = () => {
  const overdue: AnswerHandler[] = [];
  const breakOffSome = (): void => {
    for (const handler of overdue.splice(0, BROKEN_OFF_AT_ONCE)) handler.breakOff();
    if (overdue.length > 0) setTimeout(breakOffSome, BREAK_OFF_PAUSE_MS);
  };
  return (handler: AnswerHandler): void => {
    if (overdue.push(handler) === 1) setImmediate(breakOffSome);
  };
};

/** Reads one answer for its status. undici's `request` would create a stream, which costs a third of the whole exchange. */
class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<Outcome>();
  readonly outcome = this.#ended.promise;
  readonly #onAnswer: Outgoing['onAnswer'];
  readonly #limit: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;
  #answer: Outcome = { statusCode: null, error: null };

  constructor(onAnswer: Outgoing['onAnswer'], onOverdue: (handler: AnswerHandler) => void) {
    this.#onAnswer = onAnswer;
    this.#limit = setTimeout(() => onOverdue(this), EXCHANGE_TIMEOUT_MS);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error(TOO_LATE));
  }
  onResponseStart(_: unknown, statusCode: number): void {
    // Interim answers say nothing yet.
    if (statusCode >= 200) this.#answer = { statusCode, error: null };
  }
  /** Read to its end, so that the connection can be used again; how long that may be is the connection's limit. */
  onResponseData(_: unknown, piece: Buffer): void {
    this.#onAnswer?.(piece);
  }
  onResponseEnd(): void {
    this.#end(this.#answer);
  }
  onResponseError(_: unknown, error: Error): void {
    // Of an answer that is too long the status counts, where that has come (docs/contract.md).
    if (this.#answer.statusCode !== null && isTooLong(error)) this.#end(this.#answer);
    else this.fail(error);
  }
  fail(error: unknown): void {
    this.#end({ statusCode: null, error: describeSendError(error) });
  }
  breakOff(): void {
    if (this.#over) return;
    this.#end({ statusCode: null, error: TOO_LATE });
    this.#controller?.abort(new Error(TOO_LATE));
  }
  #end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#limit);
    this.#ended.resolve(outcome);
  }
}

class AnswerTooLong extends Error {}

const LINE_BREAK = 0x0a;

/** How many bytes of a piece may be read when so many bytes and lines are left. */
const lengthWithin = (piece: Buffer, bytes: number, lines: number): { length: number; lines: number } => {
  let found = 0;
  let end = -1;
  while (found < lines) {
    end = piece.indexOf(LINE_BREAK, end + 1);
    if (end === -1 || end >= bytes) return { length: Math.min(bytes, piece.length), lines: found };
    found += 1;
  }
  return { length: end + 1, lines: found };
};

/**
 * Breaks off a connection when one exchange has brought in more than the limits. undici cannot: its `maxResponseSize` counts bodies
 * only, `maxHeaderSize` starts again with every 1xx, and neither counts lines, which cost more memory than their bytes (ADR 0008). What
 * is beyond a limit is kept from the parser. An exchange begins with a write, so what came before the last write is not counted.
 */
const limitAnswers = (socket: Socket): void => {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytesLeft = ANSWER_LIMIT_BYTES;
  let linesLeft = ANSWER_LIMIT_LINES;
  let isOver = false;
  socket.read = (size?: number) => {
    const piece: Buffer | null = isOver ? null : read(size);
    if (piece === null) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      bytesLeft = ANSWER_LIMIT_BYTES;
      linesLeft = ANSWER_LIMIT_LINES;
    }
    const { length, lines } = lengthWithin(piece, bytesLeft, linesLeft);
    bytesLeft -= length;
    linesLeft -= lines;
    if (length === piece.length) return piece;
    isOver = true;
    // After the parser has seen the rest: a status that is in it still counts.
    queueMicrotask(() => socket.destroy(new AnswerTooLong()));
    return length === 0 ? null : piece.subarray(0, length);
  };
};

const TOO_LATE = 'no complete answer within 10 s';

/** Undici has a limit of its own for headers and trailers, below ours. */
const isTooLong = (error: Error): boolean =>
  error instanceof AnswerTooLong || ('code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW');

const WORDS: [RegExp, string][] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)/, TOO_LATE],
  [/^ECONNREFUSED/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/, 'connection broken off'],
  [/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ENONAME|EREFUSED)/, 'host name not found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)/, 'host not reachable'],
  [/^UND_ERR_HEADERS_OVERFLOW/, 'the head of the answer is too long'],
  [/^UND_ERR_(RES_|RESPONSE)/, 'the answer is not valid HTTP'],
  [
    /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/,
    'TLS connection not trusted',
  ],
];

/** Why an attempt failed, in words for the shop's Admin, with the code. */
export const describeSendError = (error: unknown): string => {
  if (error instanceof ForbiddenAddress) return 'address not allowed: it leads into a private network';
  if (error instanceof AnswerTooLong) return 'the answer is longer than 64 KiB or 1,000 lines';
  const { name, code, cause } = error as { name?: string; code?: string | number; cause?: unknown };
  if (cause instanceof ForbiddenAddress) return describeSendError(cause);
  if (error instanceof AggregateError && error.errors.length > 0) return describeSendError(error.errors[0]);
  if (name === 'HTTPParserError') return 'the answer is not valid HTTP';
  const words = WORDS.find(([pattern]) => pattern.test(String(code ?? '')))?.[1] ?? 'sending failed';
  return code === undefined ? words : `${words} (${code})`;
};
