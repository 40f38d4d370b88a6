import { createHmac } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import { VERSION } from '../version.ts';
import { type AddressGuard, ForbiddenAddress } from './address-guard.ts';
import { ANSWER_LIMIT_BYTES, EXCHANGE_TIMEOUT_MS } from './policy.ts';

/** Lower-case hex HMAC-SHA256 over the exact bytes. */
export const signatureOf = (secret: string, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex');

interface Outgoing {
  url: string;
  secret: string;
  id: string;
  event: string;
  /** 1 to 4. */
  attempt: number;
  body: string;
}

/** What came back: a status, or why there was none. */
interface Outcome {
  statusCode: number | null;
  error: string | null;
  timedOut: boolean;
}

export interface Sender {
  send(outgoing: Outgoing): Promise<Outcome>;
  close(): Promise<void>;
}

/** An exchange has one limit for all of it. */
const NO_OTHER_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

export const createSender = (guard: AddressGuard): Sender => {
  // Connections are kept for the next event. How many there are is bounded by what may be in flight, not here: two clients
  // may share a host, and one that hangs must not use up the other's.
  const agent = new Agent({ connect: guard.connect, keepAliveTimeout: 10_000, pipelining: 1 });

  return {
    async send({ url, secret, id, event, attempt, body }) {
      try {
        const bytes = Buffer.from(body, 'utf8');
        const { origin, pathname, search } = new URL(url);
        const headers = {
          'content-type': 'application/json',
          'user-agent': `Handback/${VERSION}`,
          'x-webhook-signature': signatureOf(secret, bytes),
          'x-webhook-id': id,
          'x-webhook-event': event,
          'x-webhook-attempt': String(attempt),
        };
        const outgoing = {
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body: bytes,
          ...NO_OTHER_LIMITS,
        };
        return await new Promise<Outcome>((done) => {
          agent.dispatch(outgoing, new Exchange(done));
        });
      } catch (error) {
        return { statusCode: null, error: wordsFor(error), timedOut: false };
      }
    },
    close: () => agent.destroy(),
  };
};

/**
 * One request and its answer as undici tells of it. Its `request` would make a stream of every answer, which costs a third
 * of the whole exchange, for a status.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #done: (outcome: Outcome) => void;
  readonly #limit: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;
  #statusCode: number | null = null;
  #bytes = 0;

  constructor(done: (outcome: Outcome) => void) {
    this.#done = done;
    this.#limit = setTimeout(
      () => this.#breakOff({ statusCode: null, error: TOO_LATE, timedOut: true }),
      EXCHANGE_TIMEOUT_MS,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error(TOO_LATE));
  }
  onResponseStart(_: unknown, statusCode: number): void {
    this.#statusCode = statusCode;
  }
  /** To its end, so that the connection can be used again, but never more than the limit. */
  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > ANSWER_LIMIT_BYTES) this.#breakOff(this.#answered());
  }
  onResponseEnd(): void {
    this.#end(this.#answered());
  }
  onResponseError(_: unknown, error: Error): void {
    this.#end({ statusCode: null, error: wordsFor(error), timedOut: false });
  }

  #answered(): Outcome {
    return { statusCode: this.#statusCode, error: null, timedOut: false };
  }
  #breakOff(outcome: Outcome): void {
    this.#end(outcome);
    this.#controller?.abort(new Error('broken off'));
  }
  #end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#limit);
    this.#done(outcome);
  }
}

const TOO_LATE = 'no complete answer within 10 s';

const WORDS: [RegExp, string][] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)/, TOO_LATE],
  [/^ECONNREFUSED/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)/, 'connection broken off'],
  [/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ENONAME|EREFUSED)/, 'host name not found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)/, 'host not reachable'],
  [/^UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE)/, 'the answer is not valid HTTP'],
  [
    /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/,
    'TLS connection not trusted',
  ],
];

/** Why an attempt failed, in words for the shop's Admin, with the code for whoever wants to look it up. */
const wordsFor = (error: unknown): string => {
  if (error instanceof ForbiddenAddress) return 'address not allowed: it leads into a private network';
  const { name, code, cause } = error as { name?: string; code?: string | number; cause?: unknown };
  if (cause instanceof ForbiddenAddress) return wordsFor(cause);
  if (error instanceof AggregateError && error.errors.length > 0) return wordsFor(error.errors[0]);
  if (name === 'HTTPParserError') return 'the answer is not valid HTTP';
  const words = WORDS.find(([pattern]) => pattern.test(String(code ?? '')))?.[1] ?? 'sending failed';
  return code === undefined ? words : `${words} (${code})`;
};
