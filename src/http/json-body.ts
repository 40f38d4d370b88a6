import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { invalidField, ServiceError } from '../platform/errors.ts';

export const BODY_LIMIT_BYTES = 256 * 1024;

const utf8 = new TextDecoder();

/** Returns the end of the string that begins at `start`: the first quote after an even number of backslashes. */
const endOfString = (json: string, start: number): number => {
  let end = start;
  let slashes = 1;
  while (slashes % 2 === 1) {
    end = json.indexOf('"', end + 1);
    slashes = 0;
    while (json[end - 1 - slashes] === '\\') slashes += 1;
  }
  return end;
};

/** No valid request has more. Validating twenty thousand unknown fields or entries would delay all other callers by 0.1 s. */
const MOST_FIELDS = 200;
const MOST_VALUES = 5_000;

/**
 * Returns the first key that occurs twice in an object of a valid JSON text, since parsers disagree on which counts. It also checks
 * both limits.
 */
const repeatedKey = (json: string): string | null => {
  const open: (Set<string> | null)[] = [];
  let last = '';
  let values = 0;
  for (let i = 0; i < json.length; i++) {
    const sign = json[i];
    if (sign === '"') {
      const end = endOfString(json, i);
      last = json.slice(i, end + 1);
      i = end;
    } else if (sign === '{') open.push(new Set());
    else if (sign === '[') open.push(null);
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',') {
      values += 1;
      if (values >= MOST_VALUES) throw invalidField('body', 'more', `has more than ${MOST_VALUES} values`);
    } else if (sign === ':') {
      const keys = open.at(-1);
      const key: string = last.includes('\\') ? JSON.parse(last) : last.slice(1, -1);
      if (keys?.has(key)) return key;
      keys?.add(key);
      if (keys && keys.size > MOST_FIELDS)
        throw invalidField('body', 'more', `has more than ${MOST_FIELDS} fields in one object`);
    }
  }
  return null;
};

/** The position of a syntax error, without the part of the body that V8 quotes. */
const STOPPED_AT = / at position \d+(?: \(line \d+ column \d+\))?/;

/** Matches every number that a double may round to 0: with a large negative exponent, or many zeros after the point. */
const MAY_BE_TOO_SMALL = /\d[eE]-0*[1-9]\d{2}|\.0{200}/;

/** Turns such a number into the smallest double, so that the field's checks refuse it. Otherwise it would be stored as 0. */
const withoutUnderflow = (_name: string, value: unknown, context?: { source?: string }): unknown => {
  const source = context?.source ?? '';
  const isTooSmall = value === 0 && /^-?[0.]*[1-9]/.test(source);
  return isTooSmall ? Number.MIN_VALUE * (source.startsWith('-') ? -1 : 1) : value;
};

const invalidJson = (message: string): ServiceError => new ServiceError('INVALID_JSON', { message });

const parseJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw invalidJson('The body is not valid UTF-8.');
  const text = utf8.decode(bytes);
  let value: unknown;
  try {
    value = MAY_BE_TOO_SMALL.test(text) ? JSON.parse(text, withoutUnderflow) : JSON.parse(text);
  } catch (error) {
    throw invalidJson(`The body is not valid JSON${STOPPED_AT.exec(String(error))?.[0] ?? ''}.`);
  }
  const key = repeatedKey(text);
  if (key === null) return value;
  throw invalidJson(`The body has the field ${JSON.stringify(key.slice(0, 64))} twice.`);
};

const COMPRESSED = { message: 'Send the body uncompressed: no Content-Encoding is taken.' };

export const acceptJsonBodies = (app: FastifyInstance): void => {
  app.addHook('preParsing', ({ headers }, _reply, _payload, done) => {
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
    done(isPlain ? null : new ServiceError('UNSUPPORTED_MEDIA_TYPE', COMPRESSED));
  });
  app.removeAllContentTypeParsers();
  const bytes = { parseAs: 'buffer' } as const;
  app.addContentTypeParser('application/json', bytes, async (_request: unknown, body: Buffer) =>
    parseJson(body),
  );
  app.addContentTypeParser('*', bytes, async (_request: unknown, body: Buffer) => {
    if (body.length > 0) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  });
};
