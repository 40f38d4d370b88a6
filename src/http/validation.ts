import { closest, distance } from 'fastest-levenshtein';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { FieldError } from '../../contract/common.ts';
import { ServiceError } from '../platform/errors.ts';
import { decoded } from './requests.ts';

type Issue = z.core.$ZodIssue & { input?: unknown };

/** The maximum of errors in a response: a hostile body can have tens of thousands. */
const MAX_ERRORS = 100;
const MAX_NAME_LENGTH = 64;

interface Schemas {
  body?: z.ZodType;
  querystring?: z.ZodType;
  headers?: z.ZodObject;
}

/** Validates all parts of a request and replaces them with the parsed values, or refuses with all errors at once. */
export const validationGate = async (request: FastifyRequest): Promise<void> => {
  if (request.is404) return;
  const { body, querystring, headers } = (request.routeOptions.schema ?? {}) as Schemas;
  const { hints = {} } = request.routeOptions.config;
  const errors: FieldError[] = [];
  const check = (schema: z.ZodType, value: unknown, part: string): unknown => {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      if (errors.length > MAX_ERRORS) break;
      errors.push(...errorsOf(issue, schema, part, hints));
    }
    truncateErrors(errors, part);
    return value;
  };

  if (headers) check(headers, sentHeaders(request, headers), 'headers');
  errors.push(...encodingErrors(request.raw.url ?? ''));
  // A route without a query schema takes no parameters.
  request.query = check(querystring ?? NO_QUERY, { ...(request.query as object) }, 'query');
  if (body) request.body = check(body, request.body === undefined ? {} : request.body, 'body');

  if (errors.length > 0) throw new ServiceError('VALIDATION_FAILED', { errors });
};

/** Cuts the list of errors; the last one then says that there are more. */
const truncateErrors = (errors: FieldError[], part: string): void => {
  if (errors.length <= MAX_ERRORS) return;
  const message = `${part} has more errors than these ${MAX_ERRORS - 1}`;
  errors.splice(MAX_ERRORS - 1, Number.POSITIVE_INFINITY, { field: part, rule: 'more', message });
};

/** Finds values that cannot be decoded, which the parser would take literally. */
const encodingErrors = (url: string): FieldError[] => {
  const at = url.indexOf('?');
  if (at === -1 || !url.includes('%', at)) return [];
  const wrong = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => decoded(pair) === null);
  return wrong.slice(0, MAX_ERRORS + 1).map((pair) => {
    const field = (decoded(pair.split('=', 1)[0] ?? '') || 'query').slice(0, MAX_NAME_LENGTH);
    return { field, rule: 'unicode', message: `${field} must be UTF-8 in percent-encoding` };
  });
};

const NO_QUERY = z.strictObject({});

/** The headers of a route's schema in its spelling, since their case does not matter in HTTP. A header that was sent twice is a list. */
const sentHeaders = ({ headers, raw }: FastifyRequest, schema: z.ZodObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.shape).map((name) => {
      const key = name.toLowerCase();
      const sent = raw.rawHeaders.filter((each, i) => i % 2 === 0 && each.toLowerCase() === key);
      return [name, sent.length > 1 ? sent : headers[key]];
    }),
  );

/** Other services' names for `limit`, whose words are closer to `page`. */
const LIST_HINTS: Record<string, string> = {
  pageSize: 'did you mean limit?',
  perPage: 'did you mean limit?',
};

const errorsOf = (
  issue: Issue,
  root: z.ZodType,
  part: string,
  hints: Record<string, string>,
): FieldError[] => {
  const field = issue.path.map(String).join('.') || part;
  if (issue.code !== 'unrecognized_keys') {
    const isRepeated = part !== 'body' && Array.isArray(issue.input);
    if (isRepeated) return [{ field, rule: 'repeated', message: `${field} is there more than once` }];
    const { rule, says } = sentenceOf(issue);
    return [{ field, rule, message: `${field} ${says}` }];
  }
  const fields = fieldsIn(root);
  const level = issue.path.map((step) => `${typeof step === 'number' ? 0 : String(step)}.`).join('');
  const known = fields.filter((field) => field.level === level).map(({ name }) => name);
  return issue.keys.slice(0, MAX_ERRORS + 1).map((key) => {
    const shown = key.slice(0, MAX_NAME_LENGTH);
    const name = [...issue.path.map(String), shown].join('.');
    const own = known.includes('limit') ? { ...hints, ...LIST_HINTS } : hints;
    const guess = nearest(shown, [...Object.keys(own), ...known], fields);
    const advice = guess && (own[guess] ?? `did you mean ${guess}?`);
    const message = `${name} is not a known ${part === 'query' ? 'parameter' : 'field'}`;
    return { field: name, rule: 'unknown', message: advice ? `${message}: ${advice}` : message };
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

/** Returns the sentence of a rule. It never repeats the value, which may be a customer's data. */
const sentenceOf = (issue: Issue): { rule: string; says: string } => {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return { rule: 'required', says: 'is required' };
  switch (issue.code) {
    case 'invalid_type': {
      const isArray = Array.isArray(issue.input) ? ', not an array' : '';
      return { rule: 'type', says: `must be ${TYPE_WORDS[issue.expected] ?? issue.expected}${isArray}` };
    }
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
    case 'invalid_format': {
      const says = issue.format === 'datetime' ? ISO_TIME : issue.message;
      return { rule: 'format', says: `${says}${plusHint(issue)}` };
    }
    case 'custom':
      return { rule: String(issue.params?.['rule'] ?? 'custom'), says: issue.message };
    default:
      return { rule: issue.code, says: 'is not valid' };
  }
};

const entries = (count: number | bigint): string => (Number(count) === 1 ? '1 entry' : `${count} entries`);

const ISO_TIME = 'must be an ISO 8601 time, 2026-11-15T09:30:00.000Z for example';

/** A plus that is not encoded arrives as a space: `2026-11-15T09:30:00 01:00`. */
const plusHint = ({ input }: Issue): string =>
  typeof input === 'string' && /^\d.*:\d\d(\.\d+)? \d\d:?\d\d$/.test(input)
    ? '; in an address + is written %2B'
    : '';

const unwrap = (schema: unknown): unknown =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;

/** A field and its level: `sku` at `faultyItem.` or `items.0.`, for example. */
interface NestedField {
  level: string;
  name: string;
}

const fieldsIn = (root: unknown, level = ''): NestedField[] => {
  const schema = unwrap(root);
  if (schema instanceof z.ZodArray) return fieldsIn(schema.element, `${level}0.`);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => [
    { level, name },
    ...fieldsIn(field, `${level}${name}.`),
  ]);
};

const nearest = (name: string, known: string[], fields: NestedField[]): string | null =>
  nearestBySpelling(name, known) ?? sameElsewhere(name, fields) ?? nearestByWords(name, known);

const nearestBySpelling = (name: string, known: string[]): string | null => {
  if (known.length === 0) return null;
  const guess = closest(name, known);
  const isNear = distance(name.toLowerCase(), guess.toLowerCase()) <= Math.max(2, guess.length / 3);
  return isNear ? guess : null;
};

/** `sku` beside `faultyItem` means `faultyItem.sku`. */
const sameElsewhere = (given: string, fields: NestedField[]): string | null => {
  const words = camelCaseWords(given).join();
  const field = fields.find(({ name }) => camelCaseWords(name).join() === words);
  return field ? `${field.level}${field.name}${field.level ? '' : ' at the top level'}` : null;
};

const camelCaseWords = (name: string): string[] =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** `email` means `customerEmail`: one contains all words of the other. Prefers the name with the fewest other words. */
const nearestByWords = (name: string, known: string[]): string | null => {
  const given = camelCaseWords(name);
  const isWithin = (some: string[], others: string[]) =>
    some.length > 0 && some.every((word) => others.includes(word));
  const distanceTo = (words: string[]) => Math.abs(words.length - given.length);
  const [guess] = known
    .map((each) => ({ each, words: camelCaseWords(each) }))
    .filter(({ words }) => isWithin(given, words) || isWithin(words, given))
    .sort((one, other) => distanceTo(one.words) - distanceTo(other.words));
  return guess?.each ?? null;
};
