import type { ErrorBody } from '../../contract/common.ts';

// What people read when the service refuses something. Its own sentences are for programs; those that need no other words stay.

const WORDS: Record<string, string | ((wait: string) => string)> = {
  RATE_LIMITED: (wait) => `Too many at once; try again ${wait}.`,
  LOCKED_OUT: (wait) => `Too many wrong passwords; try again ${wait}.`,
  SIGNED_OUT: 'You are signed out. Sign in again; what you typed stays.',
  PROOF_REQUIRED: 'This needs your password. Try again, and confirm that it is you.',
  OWN_ACCOUNT: 'This is your own account: change it on your account page.',
  CROSS_SITE: 'Open this page at its usual address and try again.',
  LIMIT_EXCEEDED: 'All returns of this month are used. No more can be made until next month.',
  USAGE_CAP_EXCEEDED: 'All returns of this month are used. No more can be made until next month.',
  NOT_FOUND: 'There is no such return.',
  ROUTE_NOT_FOUND: 'This page and the service do not fit together. Load the page again.',
  METHOD_NOT_ALLOWED: 'This page and the service do not fit together. Load the page again.',
  UNSUPPORTED_MEDIA_TYPE: 'This page and the service do not fit together. Load the page again.',
  INVALID_JSON: 'Something of what was typed cannot be sent. Look for unusual characters.',
  REQUEST_TIMEOUT: 'The connection is too slow. Try again.',
  MOVE_NOT_ALLOWED: 'Someone else moved this return, so this is not possible any more.',
  IDEMPOTENCY_KEY_IN_USE: 'This is being created already. Wait a moment, then try again.',
  IDEMPOTENCY_KEY_REUSED:
    'This was sent before with other words. Look in the list whether it is there already.',
  BODY_TOO_LARGE: 'This is too much text to be sent at once.',
  HEADERS_TOO_LARGE: 'This page sends too much at once. Delete the cookies of this address.',
};

const MINUTE_S = 60;
const count = (value: number, unit: string): string => `in ${value} ${unit}${value === 1 ? '' : 's'}`;

const waitText = (seconds: number | null): string => {
  if (seconds === null) return 'in a moment';
  return seconds > MINUTE_S ? count(Math.ceil(seconds / MINUTE_S), 'minute') : count(seconds, 'second');
};

const inPlainWords = (body: ErrorBody, retryAfterS: number | null): string => {
  const words = WORDS[body.code];
  if (words === undefined) return [body.message].flat().join('; ');
  return typeof words === 'string' ? words : words(waitText(retryAfterS));
};

export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong.';

const UNREACHABLE = 'The service cannot be reached. Check the connection and try again.';

/** An error answer of the API, or no answer at all (`status` 0). Its message is for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody | null;

  constructor(status: number, body: ErrorBody | null, retryAfterS: number | null = null) {
    super(body ? inPlainWords(body, retryAfterS) : UNREACHABLE);
    this.status = status;
    this.body = body;
  }

  get byField(): Record<string, string> {
    return Object.fromEntries((this.body?.errors ?? []).map(({ field, message }) => [field, message]));
  }
}

const BASE = '/admin/api';
type Query = Record<string, string | number | undefined>;

const urlOf = (path: string, query: Query): string => {
  const filled = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${BASE}${path}?${search}` : `${BASE}${path}`;
};

/** They turn the text around them, or hide in which order it is; scripts that run from right to left do without them. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

const readAnswer = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return null;
  const text = await response.text();
  return JSON.parse(text.replaceAll(TURNING, ''));
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

/** Calls that need a proof at the same time wait for the same answer. */
const isProved = (): Promise<boolean> => {
  beingAsked ??= (askForProof?.() ?? Promise.resolve(false)).finally(() => {
    beingAsked = null;
  });
  return beingAsked;
};

const request = async <Answer>(
  method: string,
  path: string,
  query: Query,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(urlOf(path, query), {
    method,
    headers: method === 'GET' ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, null);
  });
  const answer = await readAnswer(response).catch(() => null);
  if (response.ok) return answer as Answer;
  const error = answer as ErrorBody | null;
  if (error?.code === 'SIGNED_OUT') window.dispatchEvent(new Event(SIGNED_OUT));
  if (error?.code === 'PROOF_REQUIRED' && (await isProved()))
    return request(method, path, query, body, headers);
  throw new ApiError(response.status, error, Number(response.headers.get('retry-after')) || null);
};

/** Calls the admin API. The caller names the type of the answer, taken from the contract's schemas. */
export const api = {
  get: <Answer>(path: string, query: Query = {}) => request<Answer>('GET', path, query),
  post: <Answer>(path: string, body: unknown = {}, headers: Record<string, string> = {}, query: Query = {}) =>
    request<Answer>('POST', path, query, body, headers),
  put: <Answer>(path: string, body: unknown) => request<Answer>('PUT', path, {}, body),
  patch: <Answer>(path: string, body: unknown) => request<Answer>('PATCH', path, {}, body),
  delete: <Answer>(path: string) => request<Answer>('DELETE', path, {}, {}),
};
