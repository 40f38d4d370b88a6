import type { ErrorBody } from '../../contract/common.ts';
import { texts } from './texts.ts';

const words = texts.common;
/** What people read when the service refuses something, by its code: its own sentences are for programs. */
const REFUSALS: Record<string, string | ((wait: string) => string)> = words.refusals;

const MINUTE_S = 60;
const waitText = (seconds: number | null): string => {
  if (seconds === null) return words.inAMoment;
  return seconds > MINUTE_S ? words.inMinutes(Math.ceil(seconds / MINUTE_S)) : words.inSeconds(seconds);
};

const inPlainWords = (body: ErrorBody, retryAfterS: number | null): string => {
  const said = REFUSALS[body.code];
  if (said === undefined) return words.refused(body.code);
  return typeof said === 'string' ? said : said(waitText(retryAfterS));
};

export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : words.wentWrong;

/** An error response of the API, or no response at all (`status` 0). Its message is for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody | null;
  /** Whether a read may soon be answered: where the service was busy or a connection was lost, not where nobody answered in time. */
  isWorthRetry: boolean;

  constructor(status: number, body: ErrorBody | null, retryAfterS: number | null = null) {
    super(body ? inPlainWords(body, retryAfterS) : words.unreachable);
    this.status = status;
    this.body = body;
    this.isWorthRetry = status === 503;
  }

  get byField(): Record<string, string> {
    return Object.fromEntries((this.body?.errors ?? []).map(({ field, message }) => [field, message]));
  }
}

/** The path of PUBLIC_URL, or nothing. This file is below /admin/assets/, in development below /admin/src/. */
export const PUBLIC_PATH = new URL(import.meta.url).pathname.replace(/\/admin\/\w+\/[^/]*$/, '');
export const APP_PATH = `${PUBLIC_PATH}/admin`;
const BASE = `${APP_PATH}/api`;
type Query = Record<string, string | number | undefined>;

const urlOf = (path: string, query: Query): string => {
  const filled = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${BASE}${path}?${search}` : `${BASE}${path}`;
};

/** They turn the text around them, or hide in which order it is; scripts that run from right to left do without them. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

const readBody = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return null;
  const text = await response.text();
  return JSON.parse(text.replaceAll(TURNING, ''));
};

/** The service responds within 5 s to all requests but those of `postLong`; the rest is for a slow network. */
const TIME_LIMIT_MS = 30_000;
/** Longer than ERASE_DEADLINE_MS in src/personal-data/routes.ts. A TIME_LIMIT_FACTOR of the service stretches neither. */
const LONG_TIME_LIMIT_MS = 130_000;

interface Exchange {
  response: Response;
  received: unknown;
}

/**
 * One request with its body. A lost connection, one that says nothing within the time limit, and a 200 that is not JSON (as of a
 * portal that asks for a sign-in to the network) are all the same: the service was not reached.
 */
const exchange = async (
  url: string,
  timeLimitMs: number,
  { signal, ...init }: RequestInit,
): Promise<Exchange> => {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeLimitMs);
  try {
    const response = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    });
    const received = await readBody(response).catch((error: unknown) => {
      if (response.ok) throw error;
      return null;
    });
    return { response, received };
  } catch {
    signal?.throwIfAborted();
    throw Object.assign(new ApiError(0, null), { isWorthRetry: !limit.signal.aborted });
  } finally {
    clearTimeout(timer);
  }
};

/** Sent to the window when the service no longer knows who is signed in. */
export const SIGNED_OUT = 'handback:signed-out';

let askForProof: (() => Promise<boolean>) | null = null;
let beingAsked: Promise<boolean> | null = null;

/** Names what asks the person for a proof of identity, and says whether they gave it; returns how to stop that. */
export const askForProofWith = (ask: () => Promise<boolean>): (() => void) => {
  askForProof = ask;
  return () => {
    askForProof = null;
  };
};

/** Calls that need a proof at the same time wait for the same response. */
const isProved = (): Promise<boolean> => {
  beingAsked ??= (askForProof?.() ?? Promise.resolve(false)).finally(() => {
    beingAsked = null;
  });
  return beingAsked;
};

interface Content {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | null;
  timeLimitMs?: number;
}

const request = async <Result>(
  method: string,
  path: string,
  query: Query,
  { body, headers, signal = null, timeLimitMs = TIME_LIMIT_MS }: Content = {},
): Promise<Result> => {
  const { response, received } = await exchange(urlOf(path, query), timeLimitMs, {
    method,
    signal,
    headers: method === 'GET' ? {} : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return received as Result;
  const error = received as ErrorBody | null;
  if (error?.code === 'SIGNED_OUT') window.dispatchEvent(new Event(SIGNED_OUT));
  if (error?.code === 'PROOF_REQUIRED' && (await isProved()))
    return request(method, path, query, { body, headers, signal, timeLimitMs });
  throw new ApiError(response.status, error, Number(response.headers.get('retry-after')) || null);
};

/** Calls the admin API. The caller names the type of the response, taken from the contract's schemas. */
export const api = {
  get: <Result>(path: string, query: Query = {}, signal?: AbortSignal) =>
    request<Result>('GET', path, query, { signal }),
  post: <Result>(path: string, body: unknown = {}, headers: Record<string, string> = {}, query: Query = {}) =>
    request<Result>('POST', path, query, { body, headers }),
  /** For the requests that the service may work on for two minutes. */
  postLong: <Result>(path: string, body: unknown) =>
    request<Result>('POST', path, {}, { body, timeLimitMs: LONG_TIME_LIMIT_MS }),
  put: <Result>(path: string, body: unknown, query: Query = {}) =>
    request<Result>('PUT', path, query, { body }),
  patch: <Result>(path: string, body: unknown) => request<Result>('PATCH', path, {}, { body }),
  delete: <Result>(path: string, query: Query = {}) => request<Result>('DELETE', path, query, { body: {} }),
};
