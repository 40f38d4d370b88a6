import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FieldFault } from '../../contract/common.ts';
import { ServiceError } from '../errors.ts';
import { nearest } from './nearest-name.ts';

type Issue = z.core.$ZodIssue & { input?: unknown };

/** A hostile body can be wrong in tens of thousands of places; nobody reads beyond these. */
const MOST_FAULTS = 100;
const NAME_SHOWN = 64;

interface Schemas {
  body?: z.ZodType;
  querystring?: z.ZodType;
  headers?: z.ZodObject;
}

/** Checks all parts of a request and puts the cleaned values in their place, or refuses with every fault at once. */
const validate = (request: FastifyRequest): void => {
  const { body, querystring, headers } = (request.routeOptions.schema ?? {}) as Schemas;
  const faults: FieldFault[] = [];
  const check = (schema: z.ZodType, value: unknown, whole: string): unknown => {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      if (faults.length > MOST_FAULTS) break;
      faults.push(...faultsOf(issue, schema, whole));
    }
    return value;
  };

  if (headers) check(headers, sentHeaders(request, headers), 'headers');
  // A route that names no query takes none.
  request.query = check(querystring ?? NO_QUERY, { ...(request.query as object) }, 'query');
  if (body) request.body = check(body, request.body === undefined ? {} : request.body, 'body');

  if (faults.length > 0) throw new ServiceError('VALIDATION', { faults: faults.slice(0, MOST_FAULTS) });
};

export const validationGate = (
  request: FastifyRequest,
  _reply: unknown,
  done: (refusal?: Error) => void,
): void => {
  let refusal: Error | undefined;
  try {
    if (!request.is404) validate(request);
  } catch (error) {
    refusal = error as Error;
  }
  done(refusal);
};

const NO_QUERY = z.strictObject({});

/** The headers a route names, in its own spelling: on the wire their case means nothing. */
const sentHeaders = (request: FastifyRequest, schema: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]]));

const faultsOf = (issue: Issue, root: z.ZodType, whole: string): FieldFault[] => {
  const field = issue.path.map(String).join('.') || whole;
  if (issue.code !== 'unrecognized_keys') {
    const { rule, says } = sentenceOf(issue);
    return [{ field, rule, message: `${field} ${says}` }];
  }
  const known = fieldsAt(root, issue.path);
  return issue.keys.slice(0, MOST_FAULTS).map((key) => {
    const shown = key.slice(0, NAME_SHOWN);
    const name = [...issue.path.map(String), shown].join('.');
    const guess = nearest(shown, known);
    return {
      field: name,
      rule: 'unknown',
      message: `${name} is not a known ${whole === 'query' ? 'parameter' : 'field'}${guess ? `: did you mean ${guess}?` : ''}`,
    };
  });
};

const TYPE_WORDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

/** One sentence a rule. What was sent is never repeated: it may be a customer's. */
const sentenceOf = (issue: Issue): { rule: string; says: string } => {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return { rule: 'required', says: 'is required' };
  switch (issue.code) {
    case 'invalid_type':
      return Array.isArray(issue.input)
        ? { rule: 'type', says: `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}, not an array` }
        : { rule: 'type', says: `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}` };
    case 'invalid_value':
      return { rule: 'oneOf', says: `must be one of ${issue.values.map(String).join(', ')}` };
    case 'too_small':
      if (issue.origin === 'array')
        return { rule: 'minItems', says: `must have at least ${entries(issue.minimum)}` };
      return { rule: 'min', says: `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}` };
    case 'too_big':
      if (issue.origin === 'array')
        return { rule: 'maxItems', says: `must have at most ${entries(issue.maximum)}` };
      return { rule: 'max', says: `must be at most ${issue.maximum}` };
    case 'invalid_format':
      return { rule: 'format', says: FORMATS[issue.format] ?? issue.message };
    case 'custom':
      return { rule: String(issue.params?.['rule'] ?? 'custom'), says: issue.message };
    default:
      return { rule: issue.code, says: 'is not valid' };
  }
};

const entries = (count: number | bigint): string => (Number(count) === 1 ? '1 entry' : `${count} entries`);

const FORMATS: Record<string, string> = {
  datetime: 'must be an ISO 8601 time, 2026-11-15T09:30:00.000Z for example',
};

/** The names an object at this place may have, looking through "optional", "nullable" and "default". */
const fieldsAt = (root: z.ZodType, path: PropertyKey[]): string[] => {
  let schema: unknown = unwrap(root);
  for (const step of path) {
    if (schema instanceof z.ZodObject) schema = unwrap(schema.shape[String(step)]);
    else if (schema instanceof z.ZodArray) schema = unwrap(schema.element);
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
};

const unwrap = (schema: unknown): unknown =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;
