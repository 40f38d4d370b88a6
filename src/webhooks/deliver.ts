import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
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

export const createSender = (guard: AddressGuard): Sender => {
  // Connections are kept for the next event. How many there are is bounded by what may be in flight, not here: two clients
  // may share a host, and one that hangs must not use up the other's.
  const agent = new Agent({ connect: guard.connect, keepAliveTimeout: 10_000, pipelining: 1 });

  return {
    async send({ url, secret, id, event, attempt, body }) {
      const bytes = Buffer.from(body, 'utf8');
      const signal = AbortSignal.timeout(EXCHANGE_TIMEOUT_MS);
      try {
        const {
          statusCode,
          headers,
          body: answer,
        } = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': `Handback/${VERSION}`,
            'x-webhook-signature': signatureOf(secret, bytes),
            'x-webhook-id': id,
            'x-webhook-event': event,
            'x-webhook-attempt': String(attempt),
          },
          body: bytes,
          signal,
          headersTimeout: EXCHANGE_TIMEOUT_MS,
          bodyTimeout: EXCHANGE_TIMEOUT_MS,
        });
        // Most answers are empty, and then there is nothing to wait for.
        if (statusCode === 204 || headers['content-length'] === '0') answer.resume();
        else await readSome(answer);
        return { statusCode, error: null, timedOut: false };
      } catch (error) {
        return { statusCode: null, error: wordsFor(error), timedOut: signal.aborted };
      }
    },
    close: () => agent.destroy(),
  };
};

/** To its end, so that the connection can be used again, but never more than the limit. */
const readSome = async (answer: AsyncIterable<Buffer>): Promise<void> => {
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT_BYTES) break;
  }
};

const WORDS: [RegExp, string][] = [
  [
    /^(ABORT|20|23|UND_ERR_(ABORTED|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|ETIMEDOUT)/,
    'no complete answer within 10 s',
  ],
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
  if (name === 'TimeoutError' || name === 'AbortError') return 'no complete answer within 10 s';
  const words = WORDS.find(([pattern]) => pattern.test(String(code ?? '')))?.[1] ?? 'sending failed';
  return code === undefined ? words : `${words} (${code})`;
};
