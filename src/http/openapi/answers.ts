import { STATUS_CODES } from 'node:http';
import type { Json } from './json.ts';

/** Headers every answer carries, and an example of each refusal: the same for all operations, so they are added here once. */
export const withHeadersAndExamples = (document: Json): Json => {
  const { components, paths } = document;
  components.headers = HEADERS;
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path as object)) as Json[]) {
    if (operation.requestBody)
      operation.requestBody.required = isNeeded(operation.requestBody, components.schemas);
    for (const [status, response] of Object.entries(operation.responses) as [string, Json][]) {
      const names = [...ALWAYS, ...(HEADERS_BY_STATUS[status] ?? [])];
      response.headers = Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      );
      const example = EXAMPLES[status];
      if (example) response.content['application/json'].example = exampleBody(Number(status), example);
    }
  }
  return document;
};

/** A body may be left out where none of its fields is required. */
const isNeeded = (requestBody: Json, schemas: Json): boolean => {
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  return (schemas[name].required ?? []).length > 0;
};

const header = (description: string, schema: object) => ({ description, schema });
const HEADERS = {
  'X-Request-Id': header('Names this request; your own is kept when you send one.', { type: 'string' }),
  'RateLimit-Limit': header('Requests the window allows.', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests left in the window.', { type: 'integer' }),
  'RateLimit-Reset': header('Seconds until the window ends.', { type: 'integer' }),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer' }),
  'Idempotency-Replayed': header('`true` when this is the answer of an earlier request with the same key.', {
    type: 'string',
    enum: ['true'],
  }),
};
const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const HEADERS_BY_STATUS: Record<string, string[]> = {
  201: ['Idempotency-Replayed'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const EXAMPLES: Record<string, object> = {
  400: {
    message: ['faultyItem.sku is required', 'ordrNumber is not a known field: did you mean orderNumber?'],
    errors: [
      { field: 'faultyItem.sku', rule: 'required', message: 'faultyItem.sku is required' },
      {
        field: 'ordrNumber',
        rule: 'unknown',
        message: 'ordrNumber is not a known field: did you mean orderNumber?',
      },
    ],
  },
  401: { message: 'A valid API key is needed: send it as X-Api-Key, or as a Bearer token in Authorization.' },
  403: { message: "The shop's monthly allowance of RMAs is used up.", code: 'LIMIT_EXCEEDED' },
  404: { message: 'There is no such RMA.' },
  409: {
    message: 'The first request with this Idempotency-Key is still running.',
    code: 'IDEMPOTENCY_KEY_IN_USE',
  },
  413: { message: 'The body is larger than 256 KiB.' },
  415: { message: 'Send the body as JSON, with Content-Type: application/json.' },
  422: { message: 'This Idempotency-Key was used before with another body.', code: 'IDEMPOTENCY_KEY_REUSED' },
  429: { message: 'Too many requests: wait as long as Retry-After says.' },
  503: { message: 'The service cannot do this right now: try again in a moment.' },
};
const exampleBody = (status: number, body: object) => ({
  statusCode: status,
  error: STATUS_CODES[status],
  ...body,
  requestId: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
});
