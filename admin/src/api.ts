import type { ErrorBody } from '../../contract/common.ts';

/** An error answer of the API, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody | null;

  constructor(status: number, body: ErrorBody | null) {
    super(
      body
        ? [body.message].flat().join('; ')
        : 'The service cannot be reached. Check the connection and try again.',
    );
    this.status = status;
    this.body = body;
  }

  /** Messages by field, which a form shows beside its inputs. */
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
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer as Answer;
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
