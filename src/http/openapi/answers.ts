import type { FieldFault } from '../../../contract/common.ts';
import { ERRORS, type ErrorCode } from '../../errors.ts';
import { STATUS_CODES } from '../node-http.ts';
import type { Json } from './json.ts';

/** What the answers of all operations of an API share. */
export interface Answers {
  /** Headers of every answer, and those of single statuses. */
  always: HeaderName[];
  byStatus: Record<string, HeaderName[]>;
  /** Replaces the routes' own descriptions, since two APIs share routes. */
  refused?: Record<string, string>;
  /** What `code` can be. */
  codes: string[];
  /** An example of each error. */
  examples: Record<string, Example>;
  /** Those of the operations with a tag, where they differ. */
  examplesByTag?: Record<string, Record<string, Example>>;
}

/** The table's own sentence where it has no other. */
interface Example {
  code: ErrorCode;
  message?: string;
  errors?: FieldFault[];
}

/** Adds the headers, descriptions and examples that all operations share. */
export const withAnswers = (document: Json, answers: Answers): Json => {
  const { components, paths } = document;
  components.headers = headersOf(answers);
  components.schemas.ErrorCode.enum = answers.codes;
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path as object)) as Json[]) {
    if (operation.requestBody)
      operation.requestBody.required = isBodyRequired(operation.requestBody, components.schemas);
    for (const [status, response] of Object.entries(operation.responses) as [string, Json][]) {
      const names = [...answers.always, ...(answers.byStatus[status] ?? [])];
      response.headers = Object.fromEntries(
        names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      );
      response.description = answers.refused?.[status] ?? response.description;
      const own = answers.examplesByTag?.[operation.tags?.[0]];
      const example = own?.[status] ?? answers.examples[status];
      if (example) response.content['application/json'].example = exampleBody(Number(status), example);
    }
  }
  return document;
};

/** A body without required fields may be left out. */
const isBodyRequired = (requestBody: Json, schemas: Json): boolean => {
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  return (schemas[name].required ?? []).length > 0;
};

const header = (description: string, schema: object) => ({ description, schema });
const HEADERS = {
  'X-Request-Id': header('Names this request; your own is kept when you send one.', { type: 'string' }),
  'RateLimit-Limit': header('Requests allowed in a window.', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests left now.', { type: 'integer' }),
  'RateLimit-Reset': header('Seconds until a place is free again.', { type: 'integer' }),
  'Retry-After': header('Seconds to wait before trying again.', { type: 'integer' }),
  'Idempotency-Replayed': header('`true` when this is the answer of an earlier request with the same key.', {
    type: 'string',
    enum: ['true'],
  }),
};
type HeaderName = keyof typeof HEADERS;

const headersOf = ({ always, byStatus }: Answers) => {
  const used = new Set<string>([...always, ...Object.values(byStatus).flat()]);
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.has(name)));
};

const exampleBody = (status: number, { code, message, errors }: Example) => ({
  statusCode: status,
  error: STATUS_CODES[status],
  message: errors ? errors.map((each) => each.message) : (message ?? ERRORS[code].message),
  code,
  ...(errors && { errors }),
  docs: `https://returns.example.com/docs/errors#${code}`,
  requestId: '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44',
});
