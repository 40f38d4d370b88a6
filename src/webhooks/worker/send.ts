import { Agent, type Dispatcher } from 'undici';
import { type AddressGuard, ForbiddenAddress } from '../address-guard.ts';
import { ANSWER_LIMIT_BYTES, EXCHANGE_TIMEOUT_MS } from '../policy.ts';
import { AnswerTooLong, withAnswerLimit } from './answer-limit.ts';
import { headersOf, type Signed } from './signing.ts';

interface Outgoing extends Signed {
  url: string;
  /** Gets what the receiver answered, piece by piece, for whoever wants to show it. */
  onAnswer?: (piece: Buffer) => void;
}

/** What came back: a status, or why there was none. */
interface Outcome {
  statusCode: number | null;
  error: string | null;
}

export interface Sender {
  /** null: a stop broke the exchange off, so it tells nothing of the receiver. */
  send(outgoing: Outgoing): Promise<Outcome | null>;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** An exchange has one limit for all of it. */
const NO_OTHER_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

export const createSender = (guard: AddressGuard): Sender => {
  // Connections are kept for the next event. How many there are is bounded by what may be in flight, not here: two clients
  // may share a host, and one that hangs must not use up the other's. No HTTP/2: there exchanges share a connection, and
  // nobody could say which of them brought in how much.
  const agent = new Agent({
    connect: withAnswerLimit(guard.connect),
    keepAliveTimeout: 10_000,
    pipelining: 1,
    allowH2: false,
    // Counted with the rest of the answer; undici's own limit is a quarter of it.
    maxHeaderSize: ANSWER_LIMIT_BYTES,
  });
  const underWay = new Set<Exchange>();

  return {
    async send({ url, onAnswer, ...signed }) {
      try {
        const { origin, pathname, search } = new URL(url);
        const outgoing = {
          origin,
          path: pathname + search,
          method: 'POST',
          headers: headersOf(signed),
          body: signed.body,
          ...NO_OTHER_LIMITS,
        };
        return await new Promise<Outcome | null>((done) => {
          const exchange: Exchange = new Exchange((outcome) => {
            underWay.delete(exchange);
            done(outcome);
          }, onAnswer);
          underWay.add(exchange);
          agent.dispatch(outgoing, exchange);
        });
      } catch (error) {
        return { statusCode: null, error: wordsFor(error) };
      }
    },
    close() {
      for (const exchange of underWay) exchange.abandon();
      return agent.destroy();
    },
  };
};

/**
 * One request and its answer as undici tells of it. Its `request` would make a stream of every answer, which costs a third
 * of the whole exchange, for a status.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #done: (outcome: Outcome | null) => void;
  readonly #onAnswer: Outgoing['onAnswer'];
  readonly #limit: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;
  #statusCode: number | null = null;

  constructor(done: (outcome: Outcome | null) => void, onAnswer: Outgoing['onAnswer']) {
    this.#done = done;
    this.#onAnswer = onAnswer;
    this.#limit = setTimeout(
      () => this.#breakOff({ statusCode: null, error: TOO_LATE }),
      EXCHANGE_TIMEOUT_MS,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error(TOO_LATE));
  }
  onResponseStart(_: unknown, statusCode: number): void {
    // Interim answers say nothing yet.
    if (statusCode >= 200) this.#statusCode = statusCode;
  }
  /** Read to its end, so that the connection can be used again; how long that may be is the connection's limit. */
  onResponseData(_: unknown, piece: Buffer): void {
    this.#onAnswer?.(piece);
  }
  onResponseEnd(): void {
    this.#end(this.#answered());
  }
  onResponseError(_: unknown, error: Error): void {
    // Of an answer that is too long the status counts, where that has come (decision 39).
    const answered = this.#statusCode !== null && isTooLong(error);
    this.#end(answered ? this.#answered() : { statusCode: null, error: wordsFor(error) });
  }
  abandon(): void {
    this.#breakOff(null);
  }

  #answered(): Outcome {
    return { statusCode: this.#statusCode, error: null };
  }
  #breakOff(outcome: Outcome | null): void {
    this.#end(outcome);
    this.#controller?.abort(new Error('broken off'));
  }
  #end(outcome: Outcome | null): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#limit);
    this.#done(outcome);
  }
}

const TOO_LATE = 'no complete answer within 10 s';

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

/** Undici has a limit of its own for headers and trailers, below ours. */
const isTooLong = (error: unknown): boolean =>
  error instanceof AnswerTooLong || codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW';

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

/** Why an attempt failed, in words for the shop's Admin, with the code for whoever wants to look it up. */
export const wordsFor = (error: unknown): string => {
  if (error instanceof ForbiddenAddress) return 'address not allowed: it leads into a private network';
  if (error instanceof AnswerTooLong) return 'the answer is longer than 64 KiB or 1,000 lines';
  const { name, code, cause } = error as { name?: string; code?: string | number; cause?: unknown };
  if (cause instanceof ForbiddenAddress) return wordsFor(cause);
  if (error instanceof AggregateError && error.errors.length > 0) return wordsFor(error.errors[0]);
  if (name === 'HTTPParserError') return 'the answer is not valid HTTP';
  const words = WORDS.find(([pattern]) => pattern.test(String(code ?? '')))?.[1] ?? 'sending failed';
  return code === undefined ? words : `${words} (${code})`;
};
