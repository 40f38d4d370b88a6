import { z } from 'zod';
import { BASE_PATH } from '../../../contract/common.ts';
import { LONGEST_WAIT_SECONDS } from '../../../contract/event-feed.ts';
import { exactNumber } from '../../exact-number.ts';
import { VERSION } from '../../version.ts';
import { describeSendError } from '../../webhooks/worker/send.ts';
import { CliFailure, printable } from '../output.ts';

const FeedPage = z.object({
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
export type FeedPage = z.infer<typeof FeedPage>;
export type FeedEvent = FeedPage['items'][number];

/** A page, or why there is none now and how long the service asks us to wait. */
type Reading = { page: FeedPage } | { page: null; why: string; waitMs: number | null };

export interface Feed {
  url: string;
  /** null: from the oldest event that is kept. Throws where asking again would not help. */
  read(after: string | null, stop: AbortSignal): Promise<Reading>;
}

const PAGE_SIZE = 100;
/** The wait, and time for an answer that is large or comes a long way. */
const ANSWER_WITHIN_MS = (LONGEST_WAIT_SECONDS + 20) * 1000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const MOST_SAID = 300;

/** The feed of a service: its address may be given with the base path or without. */
export const openFeed = (base: string, key: string): Feed => {
  const root = base.replace(/\/+$/, '');
  const url = `${root.endsWith(BASE_PATH) ? root : root + BASE_PATH}/events`;
  return {
    url,
    async read(after, stop) {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      // The newest cursor is there at once; to wait for it could mean to wait for an event and skip it.
      if (after !== 'latest') query.set('wait', String(LONGEST_WAIT_SECONDS));
      if (after !== null) query.set('after', after);
      const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
      try {
        const response = await fetch(`${url}?${query}`, {
          headers: { 'x-api-key': key, 'user-agent': `Handback-CLI/${VERSION}`, accept: 'application/json' },
          // A redirect would take the key to another host.
          redirect: 'manual',
          signal: AbortSignal.any([stop, late]),
        });
        return readingOf(url, key, response, await response.text());
      } catch (error) {
        if (error instanceof CliFailure) throw error;
        const why = late.aborted
          ? `no answer within ${ANSWER_WITHIN_MS / 1000} s`
          : describeSendError((error as Error).cause ?? error);
        return { page: null, why: `the service cannot be reached: ${why}`, waitMs: null };
      }
    },
  };
};

const EXPIRED =
  'the place to go on from is older than the 30 days that the feed keeps. Read the lists once (GET /offline-repairs and /trade-returns), ' +
  'then go on with --after latest; --after oldest begins with the oldest event that is kept';

/** What to say where asking again would not help. */
const HOPELESS: Record<number, (url: string, said: string) => string> = {
  301: (url) => `${url} has moved: give its new address as --url`,
  302: (url) => `${url} has moved: give its new address as --url`,
  307: (url) => `${url} has moved: give its new address as --url`,
  308: (url) => `${url} has moved: give its new address as --url`,
  401: (_, said) => `the service does not take the key: ${said}`,
  404: (url) => `there is no event feed at ${url}: is --url the address of the service?`,
  410: () => EXPIRED,
};

const readingOf = (url: string, key: string, response: Response, text: string): Reading => {
  const { status } = response;
  if (status === 200) {
    const page = pageIn(text);
    if (!page)
      throw new CliFailure(`what ${url} answers is no event feed: is --url the address of the service?`);
    return { page };
  }
  const said = saidIn(text).replaceAll(key, '(the key)');
  const why = `the service answered ${status}${said ? `: ${said}` : ''}`;
  if (status !== 429 && status !== 408 && status < 500)
    throw new CliFailure(HOPELESS[status]?.(url, said) ?? why);
  return { page: null, why, waitMs: retryAfterMs(response.headers.get('retry-after')) };
};

/** Numbers keep their digits, so that an event that is forwarded has the bytes of its webhook. */
const withExactNumbers = (_name: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && source !== undefined ? exactNumber(source) : value;

const parsed = (text: string, reviver?: typeof withExactNumbers): unknown => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    // The caller tells that this is no answer of the service.
    return null;
  }
};

const pageIn = (text: string): FeedPage | null => {
  const result = FeedPage.safeParse(parsed(text, withExactNumbers));
  return result.success ? result.data : null;
};

/** The sentences of an error body. */
const saidIn = (text: string): string => {
  const { message } = (parsed(text) ?? {}) as { message?: unknown };
  const sentences = Array.isArray(message) ? message.join('; ') : message;
  return typeof sentences === 'string' ? printable(sentences).slice(0, MOST_SAID) : '';
};

/** Seconds, or a date. */
const retryAfterMs = (header: string | null): number | null => {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
};
