import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BASE_PATH } from '../../contract/common.ts';
import { LONGEST_WAIT_SECONDS } from '../../contract/event-feed.ts';
import { RETURN_KINDS, RETURN_TABLES } from '../../contract/kinds.ts';
import { eventBody } from '../events/event.ts';
import { jsonOr, withExactNumbers } from '../lib/json.ts';
import { VERSION } from '../platform/config.ts';
import { CliFailure } from '../platform/start-failure.ts';
import { addressGuard } from '../webhooks/address-guard.ts';
import { isAcknowledged, MAX_ATTEMPTS } from '../webhooks/policy.ts';
import { createSender, describeSendError } from '../webhooks/worker/send.ts';
import { printable } from './command.ts';

interface Feed {
  url: string;
  key: string;
  types?: string;
}

interface EventsOptions extends Feed {
  after?: string;
  forward?: { to: string; secret: string };
  json: boolean;
}

/** Follows the feed until Ctrl-C or SIGTERM, and then prints the cursor to continue from. */
export const followEvents = async (options: EventsOptions): Promise<void> => {
  const { key, url, after, types, forward, json } = options;
  const stopping = new AbortController();
  const end = () => stopping.abort();
  // A second Ctrl-C ends the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const stop = stopping.signal;
  const feed = { url: feedUrl(url), key, types };
  // The beginning of the feed has no cursor.
  const start = after === undefined || after === 'oldest' ? null : after;
  const activity = forward ? `Forwarding ${feed.url} to ${forward.to}` : `Following ${feed.url}`;
  printNotice(`${activity}, starting ${describeStart(start)}. Ctrl-C ends it.`);

  process.stdout.on('error', end);
  const send = forward && createForwarder(forward, stop);
  let cursor = start;
  try {
    for await (const page of followPages(feed, start, stop)) {
      for (const event of page.items) {
        if (stop.aborted) return;
        const forwarded = await send?.(event);
        if (forwarded === null) return;
        const line = json
          ? JSON.stringify({ ...event, ...(forwarded && { forwarded }) })
          : formatEvent(event, forwarded);
        // This waits for a slow reader. If the reader goes away, the listener above ends the command.
        if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain').catch(() => {});
      }
      cursor = page.cursor;
    }
  } finally {
    if (cursor !== start) printNotice(`To continue from here, pass --after ${cursor}`);
    end();
  }
};

const printNotice = (line: string): void => void process.stderr.write(`${line}\n`);

const describeStart = (cursor: string | null): string => {
  if (cursor === null) return 'with the oldest stored event (pass --after latest for new ones only)';
  return cursor === 'latest' ? 'with the next event' : `after ${cursor}`;
};

// --- waiting ---

const MIN_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 30_000;

const interruptiblePause = async (ms: number, stop: AbortSignal): Promise<void> => {
  // The pause rejects when the command is stopped, which the caller checks itself.
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
};

type BackOff = ReturnType<typeof createBackOff>;
const createBackOff = (stop: AbortSignal, recoveredMessage: string) => {
  let failures = 0;
  let lastReason = '';
  return {
    /** Waits longer after each consecutive failure, or as long as the server asks. Each reason is printed once. */
    async backOff(why: string, waitMs = Math.min(MIN_BACK_OFF_MS * 2 ** failures, MAX_BACK_OFF_MS)) {
      // Work that the stop aborted has not failed.
      if (stop.aborted) return null;
      failures += 1;
      if (why !== lastReason) printNotice(`${why}; trying again in ${Math.ceil(waitMs / 1000)} s`);
      lastReason = why;
      // The wait is random, so that callers that failed together do not return together.
      await interruptiblePause(waitMs * (1 + Math.random() / 10), stop);
      return null;
    },
    reset(): void {
      if (failures > 0) printNotice(recoveredMessage);
      failures = 0;
      lastReason = '';
    },
  };
};

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
});
type EventsPage = z.infer<typeof EventsPage>;
type FollowedEvent = EventsPage['items'][number];

const feedUrl = (base: string): string => {
  const root = base.replace(/\/+$/, '');
  return `${root.endsWith(BASE_PATH) ? root : root + BASE_PATH}/events`;
};

/** The minimum interval of requests if a service returns empty pages without waiting. */
const MIN_EMPTY_INTERVAL_MS = 1_000;

async function* followPages(feed: Feed, start: string | null, stop: AbortSignal): AsyncGenerator<EventsPage> {
  const service = createBackOff(stop, 'the service responds again');
  let cursor = start;
  while (!stop.aborted) {
    const askedAt = performance.now();
    const page = await readPage(feed, cursor, stop, service);
    if (!page) continue;
    service.reset();
    yield page;
    if (page.items.length === 0 && page.cursor === cursor)
      await interruptiblePause(MIN_EMPTY_INTERVAL_MS - (performance.now() - askedAt), stop);
    cursor = page.cursor;
  }
}

const EVENTS_PER_PAGE = 100;
/** The wait of the request, and time for a large or slow response. */
const FEED_TIMEOUT_MS = (LONGEST_WAIT_SECONDS + 20) * 1000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const LONGEST_MESSAGE = 300;

/** Reads a page, or resolves to null if it failed and may be tried again. */
const readPage = async (feed: Feed, after: string | null, stop: AbortSignal, service: BackOff) => {
  const query = new URLSearchParams({ limit: String(EVENTS_PER_PAGE) });
  // A request for the newest cursor must not wait, since it could wait for an event and then skip it.
  if (after !== 'latest') query.set('wait', String(LONGEST_WAIT_SECONDS));
  if (after !== null) query.set('after', after);
  if (feed.types !== undefined) query.set('types', feed.types);
  const late = AbortSignal.timeout(FEED_TIMEOUT_MS);
  try {
    const response = await fetch(`${feed.url}?${query}`, {
      headers: { 'x-api-key': feed.key, 'user-agent': `Handback-CLI/${VERSION}`, accept: 'application/json' },
      // A redirect would take the key to another host.
      redirect: 'manual',
      signal: AbortSignal.any([stop, late]),
    });
    return await parsePage(feed, response, await response.text(), service);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const why = late.aborted
      ? `no response within ${FEED_TIMEOUT_MS / 1000} s`
      : describeSendError((error as Error).cause ?? error);
    return service.backOff(`the service cannot be reached: ${why}`);
  }
};

const LISTS = RETURN_TABLES.map((table) => `/${RETURN_KINDS[table].path}`).join(' and ');
const CURSOR_EXPIRED =
  `the cursor is older than the 30 days that the feed keeps. Read the lists once (GET ${LISTS}), ` +
  'then continue with --after latest; --after oldest begins with the oldest stored event';

/** Explains an error that another attempt would not fix. */
const explainFinal = (url: string, status: number, message: string): string => {
  if (status >= 300 && status < 400) return `${url} has moved: pass its new address as --url`;
  if (status === 401) return `the service does not accept the key: ${message}`;
  if (status === 404) return `there is no event feed at ${url}: is --url the address of the service?`;
  return status === 410 ? CURSOR_EXPIRED : statusLine(status, message);
};

const statusLine = (status: number, message: string): string =>
  `the service responded with ${status}${message ? `: ${message}` : ''}`;

const parsePage = ({ url, key }: Feed, response: Response, text: string, service: BackOff) => {
  const { status } = response;
  if (status === 200) {
    // Numbers keep their digits, so that a forwarded event has the bytes of its webhook.
    const page = EventsPage.safeParse(jsonOr(text, null, withExactNumbers));
    if (page.success) return page.data;
    throw new CliFailure(`${url} is not an event feed: check that --url is the address of the service`);
  }
  const message = parseMessage(text).replaceAll(key, '(the key)');
  if (status !== 429 && status !== 408 && status < 500)
    throw new CliFailure(explainFinal(url, status, message));
  return service.backOff(
    statusLine(status, message),
    retryAfterMs(response.headers.get('retry-after') ?? ''),
  );
};

const parseMessage = (text: string): string => {
  const { message = '' } = (jsonOr(text, null) ?? {}) as { message?: unknown };
  return printable([message].flat().join('; ')).slice(0, LONGEST_MESSAGE);
};

const retryAfterMs = (header: string): number | undefined => {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
};

// --- forwarding ---

interface ForwardResult {
  statusCode: number;
  attempts: number;
}

/**
 * Sends events like the dispatcher, but in order, one at a time, and each until the receiver accepts it. A stop aborts the
 * current attempt; that event is sent again later, as webhooks may be.
 */
const createForwarder = ({ to: url, secret }: { to: string; secret: string }, stop: AbortSignal) => {
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const receiver = createBackOff(stop, 'the receiver accepts events again');
  stop.addEventListener('abort', () => void sender.close());
  /** Resolves to null if the command was stopped before the receiver accepted the event. */
  return async ({ id, event, timestamp, data }: FollowedEvent): Promise<ForwardResult | null> => {
    const body = Buffer.from(eventBody(event, timestamp, data));
    for (let attempts = 1; !stop.aborted; attempts++) {
      const attempt = Math.min(attempts, MAX_ATTEMPTS);
      const outcome = await sender.send({ url, secret, id, event, attempt, body });
      const statusCode = outcome?.statusCode ?? null;
      if (statusCode !== null && isAcknowledged(statusCode)) {
        receiver.reset();
        return { statusCode, attempts };
      }
      const why = outcome?.error ?? `status ${statusCode}`;
      await receiver.backOff(`the receiver does not accept ${event} ${id}: ${why}`);
    }
    return null;
  };
};

// --- printing ---

const NAME_WIDTH = 'offline_repair.tracking_uploaded'.length;

const formatEvent = (
  { id, event, timestamp, data }: FollowedEvent,
  forwarded: ForwardResult | undefined,
): string => {
  const { rmaNumber, status, externalRef } = data;
  const attempts = forwarded && forwarded.attempts > 1 ? ` at attempt ${forwarded.attempts}` : '';
  const fields = [timestamp, event, rmaNumber, status, externalRef, id].map((field) =>
    printable(String(field ?? '-')),
  );
  fields[1] = fields[1]?.padEnd(NAME_WIDTH) ?? '';
  return [...fields, ...(forwarded ? [`-> ${forwarded.statusCode}${attempts}`] : [])].join('  ');
};
