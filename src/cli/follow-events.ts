import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BASE_PATH } from '../../contract/common.ts';
import { LONGEST_WAIT_SECONDS } from '../../contract/event-feed.ts';
import { eventBody } from '../events/event.ts';
import { withExactNumbers } from '../lib/json.ts';
import { VERSION } from '../service/config.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { isAcknowledged, MOST_ATTEMPTS } from '../webhooks/policy.ts';
import { createSender, describeSendError } from '../webhooks/worker/send.ts';
import { CliFailure, printable } from './command.ts';

export interface EventsOptions {
  key: string;
  url: string;
  after?: string;
  forward?: { to: string; secret: string };
  json: boolean;
}

/** Follows the feed until Ctrl-C or SIGTERM, and then prints the cursor to go on from. */
export const followEvents = async ({ key, url, after, forward, json }: EventsOptions): Promise<void> => {
  const stopping = new AbortController();
  const end = () => stopping.abort();
  // A second Ctrl-C ends it at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const stop = stopping.signal;
  const feed = { url: feedUrl(url), key };
  // The beginning of the feed has no cursor.
  const start = after === undefined || after === 'oldest' ? null : after;
  const doing = forward ? `Forwarding ${feed.url} to ${forward.to}` : `Following ${feed.url}`;
  say(`${doing}, starting ${describeStart(start)}. Ctrl-C ends it.`);

  const show = eventPrinter(json, end);
  const forwarder = forward && createForwarder(forward, stop);
  let cursor = start;
  try {
    for await (const page of pagesOf(feed, start, stop)) {
      for (const event of page.items) {
        if (stop.aborted) return;
        const forwarded = await forwarder?.send(event);
        if (forwarded === null) return;
        await show(event, forwarded);
      }
      cursor = page.cursor;
    }
  } finally {
    if (cursor !== start) say(`To go on from here, pass --after ${cursor}`);
    await forwarder?.close();
  }
};

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const describeStart = (cursor: string | null): string => {
  if (cursor === null) return 'with the oldest event that is kept (--after latest: only new ones)';
  return cursor === 'latest' ? 'with the next event' : `after ${cursor}`;
};

// --- waiting ---

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

const pause = async (ms: number, stop: AbortSignal): Promise<void> => {
  // Rejects when the command is stopped, which the caller sees by itself.
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
};

class BackOff {
  readonly #stop: AbortSignal;
  readonly #isBack: string;
  #failures = 0;
  #said = '';

  constructor(stop: AbortSignal, isBack: string) {
    this.#stop = stop;
    this.#isBack = isBack;
  }

  /** Waits longer after each failure in a row, or as long as the other side asks, and says so once for each reason. */
  async failed(why: string, waitMs: number | null = null): Promise<void> {
    const ms = waitMs ?? Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    if (why !== this.#said) say(`${why}; trying again in ${Math.ceil(ms / 1000)} s`);
    this.#said = why;
    // Spread out, so that callers that failed together do not return together.
    await pause(ms * (1 + Math.random() / 10), this.#stop);
  }

  worked(): void {
    if (this.#failures > 0) say(this.#isBack);
    this.#failures = 0;
    this.#said = '';
  }
}

// --- reading ---

const EventsPage = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      event: z.string(),
      timestamp: z.string(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
  cursor: z.string(),
  hasMore: z.boolean(),
});
type EventsPage = z.infer<typeof EventsPage>;
type FeedEvent = EventsPage['items'][number];

interface Feed {
  url: string;
  key: string;
}

const feedUrl = (base: string): string => {
  const root = base.replace(/\/+$/, '');
  return `${root.endsWith(BASE_PATH) ? root : root + BASE_PATH}/events`;
};

/** A service that has nothing and does not wait either is not asked again at once. */
const LEAST_BETWEEN_EMPTY_MS = 1_000;

async function* pagesOf(feed: Feed, start: string | null, stop: AbortSignal): AsyncGenerator<EventsPage> {
  const backOff = new BackOff(stop, 'the service answers again');
  let cursor = start;
  while (!stop.aborted) {
    const askedAt = performance.now();
    const answer = await readPage(feed, cursor, stop);
    if (stop.aborted) return;
    if (!answer.page) {
      await backOff.failed(answer.why, answer.waitMs);
      continue;
    }
    backOff.worked();
    yield answer.page;
    const { items, cursor: next } = answer.page;
    if (items.length === 0 && next === cursor)
      await pause(LEAST_BETWEEN_EMPTY_MS - (performance.now() - askedAt), stop);
    cursor = next;
  }
}

type FeedAnswer = { page: EventsPage } | { page: null; why: string; waitMs: number | null };

const PAGE_SIZE = 100;
/** The wait, and time for an answer that is large or comes a long way. */
const ANSWER_WITHIN_MS = (LONGEST_WAIT_SECONDS + 20) * 1000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const LONGEST_MESSAGE = 300;

const readPage = async (feed: Feed, after: string | null, stop: AbortSignal): Promise<FeedAnswer> => {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  // The newest cursor is there at once; to wait for it could mean to wait for an event and skip it.
  if (after !== 'latest') query.set('wait', String(LONGEST_WAIT_SECONDS));
  if (after !== null) query.set('after', after);
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const response = await fetch(`${feed.url}?${query}`, {
      headers: { 'x-api-key': feed.key, 'user-agent': `Handback-CLI/${VERSION}`, accept: 'application/json' },
      // A redirect would take the key to another host.
      redirect: 'manual',
      signal: AbortSignal.any([stop, late]),
    });
    return answerOf(feed, response, await response.text());
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const why = late.aborted
      ? `no answer within ${ANSWER_WITHIN_MS / 1000} s`
      : describeSendError((error as Error).cause ?? error);
    return { page: null, why: `the service cannot be reached: ${why}`, waitMs: null };
  }
};

const EXPIRED =
  'the cursor is older than the 30 days that the feed keeps. Read the lists once (GET /offline-repairs and /trade-returns), ' +
  'then go on with --after latest; --after oldest begins with the oldest event that is kept';

/** What to say where asking again would not help. */
const explainFinal = (url: string, status: number, message: string): string => {
  if (status >= 300 && status < 400) return `${url} has moved: pass its new address as --url`;
  if (status === 401) return `the service does not accept the key: ${message}`;
  if (status === 404) return `there is no event feed at ${url}: is --url the address of the service?`;
  return status === 410 ? EXPIRED : answered(status, message);
};

const answered = (status: number, message: string): string =>
  `the service answered ${status}${message ? `: ${message}` : ''}`;

const answerOf = ({ url, key }: Feed, response: Response, text: string): FeedAnswer => {
  const { status } = response;
  if (status === 200) {
    // Numbers keep their digits, so that a forwarded event has the bytes of its webhook.
    const page = EventsPage.safeParse(parsed(text, withExactNumbers));
    if (page.success) return { page: page.data };
    throw new CliFailure(`${url} does not answer as an event feed: is --url the address of the service?`);
  }
  const message = messageIn(text).replaceAll(key, '(the key)');
  if (status !== 429 && status !== 408 && status < 500)
    throw new CliFailure(explainFinal(url, status, message));
  const waitMs = retryAfterMs(response.headers.get('retry-after'));
  return { page: null, why: answered(status, message), waitMs };
};

const parsed = (text: string, reviver?: typeof withExactNumbers): unknown => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    // The caller says that the service did not answer this.
    return null;
  }
};

const messageIn = (text: string): string => {
  const { message } = (parsed(text) ?? {}) as { message?: unknown };
  const sentences = Array.isArray(message) ? message.join('; ') : message;
  return typeof sentences === 'string' ? printable(sentences).slice(0, LONGEST_MESSAGE) : '';
};

const retryAfterMs = (header: string | null): number | null => {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
};

// --- forwarding ---

interface Forwarded {
  statusCode: number;
  attempts: number;
}

/** How long a stop waits for the answer to what was sent already, so that it need not be sent again. */
const FINISH_WITHIN_MS = 2_000;

/** Sends events as the dispatcher would, but in order, one at a time, and each until the receiver accepts it. */
const createForwarder = ({ to: url, secret }: { to: string; secret: string }, stop: AbortSignal) => {
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const backOff = new BackOff(stop, 'the receiver accepts events again');
  let cutOff: NodeJS.Timeout | undefined;
  stop.addEventListener('abort', () => {
    cutOff = setTimeout(() => sender.close(), FINISH_WITHIN_MS);
  });
  return {
    /** null where the command was stopped before the receiver accepted it. */
    async send({ id, event, timestamp, data }: FeedEvent): Promise<Forwarded | null> {
      const body = Buffer.from(eventBody(event, timestamp, data));
      for (let attempts = 1; !stop.aborted; attempts++) {
        const attempt = Math.min(attempts, MOST_ATTEMPTS);
        const outcome = await sender.send({ url, secret, id, event, attempt, body });
        const statusCode = outcome?.statusCode ?? null;
        if (statusCode !== null && isAcknowledged(statusCode)) {
          backOff.worked();
          return { statusCode, attempts };
        }
        if (outcome)
          await backOff.failed(
            `the receiver does not accept ${event} ${id}: ${outcome.error ?? `status ${statusCode}`}`,
          );
      }
      return null;
    },
    close(): Promise<void> {
      clearTimeout(cutOff);
      return sender.close();
    },
  };
};

// --- printing ---

/** Prints each event in a line; waits for a slow reader, and ends the command when the reader has gone. */
const eventPrinter = (json: boolean, end: () => void) => {
  let isGone = false;
  process.stdout.on('error', () => {
    isGone = true;
    end();
  });
  return async (event: FeedEvent, forwarded: Forwarded | undefined): Promise<void> => {
    if (isGone) return;
    const line = json
      ? JSON.stringify({ ...event, ...(forwarded && { forwarded }) })
      : lineFor(event, forwarded);
    // A reader that goes away instead is reported by the listener above.
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain').catch(() => {});
  };
};

const NAME_WIDTH = 'offline_repair.tracking_uploaded'.length;

const lineFor = ({ id, event, timestamp, data }: FeedEvent, forwarded: Forwarded | undefined): string => {
  const { rmaNumber, status, externalRef } = data;
  const attempts = forwarded && forwarded.attempts > 1 ? ` at attempt ${forwarded.attempts}` : '';
  const fields = [timestamp, event, rmaNumber, status, externalRef, id].map((field) =>
    printable(String(field ?? '-')),
  );
  fields[1] = fields[1]?.padEnd(NAME_WIDTH) ?? '';
  return [...fields, ...(forwarded ? [`-> ${forwarded.statusCode}${attempts}`] : [])].join('  ');
};
