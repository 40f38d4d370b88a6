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

/** Follows the feed until Ctrl-C or SIGTERM, and then prints the cursor to go on from. */
export const followEvents = async (options: EventsOptions): Promise<void> => {
  const { key, url, after, types, forward, json } = options;
  const stopping = new AbortController();
  const end = () => stopping.abort();
  // A second Ctrl-C ends it at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const stop = stopping.signal;
  const feed = { url: feedUrl(url), key, types };
  // The beginning of the feed has no cursor.
  const start = after === undefined || after === 'oldest' ? null : after;
  const doing = forward ? `Forwarding ${feed.url} to ${forward.to}` : `Following ${feed.url}`;
  say(`${doing}, starting ${describeStart(start)}. Ctrl-C ends it.`);

  process.stdout.on('error', end);
  const send = forward && forwarding(forward, stop);
  let cursor = start;
  try {
    for await (const page of pagesOf(feed, start, stop)) {
      for (const event of page.items) {
        if (stop.aborted) return;
        const forwarded = await send?.(event);
        if (forwarded === null) return;
        const line = json
          ? JSON.stringify({ ...event, ...(forwarded && { forwarded }) })
          : lineFor(event, forwarded);
        // Waits for a slow reader. One that goes away instead is reported by the listener above.
        if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain').catch(() => {});
      }
      cursor = page.cursor;
    }
  } finally {
    if (cursor !== start) say(`To continue from here, pass --after ${cursor}`);
    end();
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

type BackOff = ReturnType<typeof backOff>;
const backOff = (stop: AbortSignal, isBack: string) => {
  let failures = 0;
  let said = '';
  return {
    /** Waits longer after each failure in a row, or as long as the other side asks, and says so once for each reason. */
    async failed(why: string, waitMs = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS)) {
      // What the stop broke off has not failed.
      if (stop.aborted) return null;
      failures += 1;
      if (why !== said) say(`${why}; trying again in ${Math.ceil(waitMs / 1000)} s`);
      said = why;
      // Spread out, so that callers that failed together do not return together.
      await pause(waitMs * (1 + Math.random() / 10), stop);
      return null;
    },
    worked(): void {
      if (failures > 0) say(isBack);
      failures = 0;
      said = '';
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
type FeedEvent = EventsPage['items'][number];

const feedUrl = (base: string): string => {
  const root = base.replace(/\/+$/, '');
  return `${root.endsWith(BASE_PATH) ? root : root + BASE_PATH}/events`;
};

/** A service that has nothing and does not wait either is not asked again at once. */
const LEAST_BETWEEN_EMPTY_MS = 1_000;

async function* pagesOf(feed: Feed, start: string | null, stop: AbortSignal): AsyncGenerator<EventsPage> {
  const service = backOff(stop, 'the service answers again');
  let cursor = start;
  while (!stop.aborted) {
    const askedAt = performance.now();
    const page = await readPage(feed, cursor, stop, service);
    if (!page) continue;
    service.worked();
    yield page;
    if (page.items.length === 0 && page.cursor === cursor)
      await pause(LEAST_BETWEEN_EMPTY_MS - (performance.now() - askedAt), stop);
    cursor = page.cursor;
  }
}

const PAGE_SIZE = 100;
/** The wait, and time for a response that is large or comes a long way. */
const RESPONSE_WITHIN_MS = (LONGEST_WAIT_SECONDS + 20) * 1000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const LONGEST_MESSAGE = 300;

/** null where it failed, and can be asked for again. */
const readPage = async (feed: Feed, after: string | null, stop: AbortSignal, service: BackOff) => {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
  // The newest cursor is there at once; to wait for it could mean to wait for an event and skip it.
  if (after !== 'latest') query.set('wait', String(LONGEST_WAIT_SECONDS));
  if (after !== null) query.set('after', after);
  if (feed.types !== undefined) query.set('types', feed.types);
  const late = AbortSignal.timeout(RESPONSE_WITHIN_MS);
  try {
    const response = await fetch(`${feed.url}?${query}`, {
      headers: { 'x-api-key': feed.key, 'user-agent': `Handback-CLI/${VERSION}`, accept: 'application/json' },
      // A redirect would take the key to another host.
      redirect: 'manual',
      signal: AbortSignal.any([stop, late]),
    });
    return await pageIn(feed, response, await response.text(), service);
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    const why = late.aborted
      ? `no response within ${RESPONSE_WITHIN_MS / 1000} s`
      : describeSendError((error as Error).cause ?? error);
    return service.failed(`the service cannot be reached: ${why}`);
  }
};

const LISTS = RETURN_TABLES.map((table) => `/${RETURN_KINDS[table].path}`).join(' and ');
const EXPIRED =
  `the cursor is older than the 30 days that the feed keeps. Read the lists once (GET ${LISTS}), ` +
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

const pageIn = ({ url, key }: Feed, response: Response, text: string, service: BackOff) => {
  const { status } = response;
  if (status === 200) {
    // Numbers keep their digits, so that a forwarded event has the bytes of its webhook.
    const page = EventsPage.safeParse(jsonOr(text, null, withExactNumbers));
    if (page.success) return page.data;
    throw new CliFailure(`${url} is not an event feed: check that --url is the address of the service`);
  }
  const message = messageIn(text).replaceAll(key, '(the key)');
  if (status !== 429 && status !== 408 && status < 500)
    throw new CliFailure(explainFinal(url, status, message));
  return service.failed(answered(status, message), retryAfterMs(response.headers.get('retry-after') ?? ''));
};

const messageIn = (text: string): string => {
  const { message = '' } = (jsonOr(text, null) ?? {}) as { message?: unknown };
  return printable([message].flat().join('; ')).slice(0, LONGEST_MESSAGE);
};

const retryAfterMs = (header: string): number | undefined => {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
};

// --- forwarding ---

interface Forwarded {
  statusCode: number;
  attempts: number;
}

/**
 * Sends events as the dispatcher would, but in order, one at a time, and each until the receiver accepts it. A stop breaks off
 * what is being sent: that event comes again, as webhooks may.
 */
const forwarding = ({ to: url, secret }: { to: string; secret: string }, stop: AbortSignal) => {
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const receiver = backOff(stop, 'the receiver accepts events again');
  stop.addEventListener('abort', () => void sender.close());
  /** null where the command was stopped before the receiver accepted it. */
  return async ({ id, event, timestamp, data }: FeedEvent): Promise<Forwarded | null> => {
    const body = Buffer.from(eventBody(event, timestamp, data));
    for (let attempts = 1; !stop.aborted; attempts++) {
      const attempt = Math.min(attempts, MAX_ATTEMPTS);
      const outcome = await sender.send({ url, secret, id, event, attempt, body });
      const statusCode = outcome?.statusCode ?? null;
      if (statusCode !== null && isAcknowledged(statusCode)) {
        receiver.worked();
        return { statusCode, attempts };
      }
      const why = outcome?.error ?? `status ${statusCode}`;
      await receiver.failed(`the receiver does not accept ${event} ${id}: ${why}`);
    }
    return null;
  };
};

// --- printing ---

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
