import { STATUS_CODES } from 'node:http';
import { expect } from 'vitest';
import type { Answer } from './http.ts';

// Expectations about answers. A failure prints the answer: the request that it is for, its id and its body.

type OfAnswer<R, T, Params extends unknown[]> = T extends Answer ? (...params: Params) => R : never;
type OfAnswers<R, T, Params extends unknown[]> = T extends Answer[] ? (...params: Params) => R : never;

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** This status, or one of these. */
    toHaveStatus: T extends Answer | Response ? (...statuses: number[]) => R : never;
    /** The error that the contract describes: with this status, with this code if one is given, and with nothing else in its body. */
    toFailWith: OfAnswer<R, T, [status: number, code?: string]>;
    /** The status of each, in order; or how many of them have each status, in any order. */
    toHaveStatuses: OfAnswers<R, T, [statuses: readonly number[] | Record<number, number>]>;
  }
}

const LONGEST_PATH = 150;
const LONGEST_BODY = 2_000;

const described = (answer: Answer | Response): string => {
  const isRead = !(answer instanceof Response);
  const request = isRead ? `${answer.method} ${answer.path.slice(0, LONGEST_PATH)}` : answer.url;
  const reason = isRead && answer.body?.message ? `: ${[answer.body.message].flat().join('; ')}` : '';
  return [
    `${answer.status} ${STATUS_CODES[answer.status] ?? ''} for ${request}${reason}`,
    '',
    `request id: ${answer.headers.get('x-request-id') ?? 'none'}`,
    `body: ${isRead ? shown(answer.body) : 'not read'}`,
  ].join('\n');
};

const shown = (body: unknown): string => {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return text.slice(0, LONGEST_BODY) || 'empty';
};

/** What the contract says of an error's body, given which errors of fields and which code are in it. */
const errorBody = ({ body }: Answer, status: number, code: string | undefined) => ({
  statusCode: status,
  error: STATUS_CODES[status],
  code: code ?? expect.stringMatching(/^[A-Z_]+$/),
  docs: expect.stringMatching(new RegExp(`^https?://[^/]+/docs/errors#${body.code}$`)),
  requestId: expect.stringMatching(/^[\x20-\x7e]{1,128}$/),
  ...(body.code === 'RIGHT_REQUIRED' ? { right: expect.any(String) } : {}),
  ...(body.code === 'ERASE_REFUSED' ? { refused: expect.arrayContaining([]) } : {}),
  ...(status === 400 && body.errors?.length > 0
    ? ofFields(body.errors)
    : { message: expect.stringMatching(/\S/) }),
});

const ofFields = (errors: { field: string; message: string }[]) => ({
  message: errors.map(({ message }) => message),
  errors: errors.map(({ field }) => ({
    field,
    message: expect.toSatisfy((text: string) => text.startsWith(`${field} `)),
    rule: expect.stringMatching(/\S/),
  })),
});

const counted = (statuses: number[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const SHOWN_ANSWERS = 3;

expect.extend({
  toHaveStatus(answer: Answer | Response, ...statuses: number[]) {
    return {
      pass: statuses.includes(answer.status),
      message: () =>
        `expected ${this.isNot ? 'another status than' : 'the status'} ${statuses.join(' or ')}, received ${described(answer)}`,
    };
  },

  toFailWith(answer: Answer, status: number, code?: string) {
    const isOther = answer.status !== status || (code !== undefined && answer.body.code !== code);
    if (isOther)
      return {
        pass: false,
        message: () =>
          `expected the error ${code === undefined ? status : `${status} ${code}`}, received ${described(answer)}`,
      };
    const { headers, body } = answer;
    const actual = { body, type: headers.get('content-type'), requestId: headers.get('x-request-id') };
    const expected = {
      body: errorBody(answer, status, code),
      type: expect.stringMatching(/^application\/json\b/),
      requestId: body.requestId,
    };
    return {
      pass: this.equals(actual, expected),
      message: () => `the error is not as the contract describes it: ${described(answer)}`,
      actual,
      expected,
    };
  },

  toHaveStatuses(answers: Answer[], expected: readonly number[] | Record<number, number>) {
    const inOrder = Array.isArray(expected);
    const statuses = answers.map(({ status }) => status);
    const actual = inOrder ? statuses : counted(statuses);
    const unexpected = answers.filter(({ status }, i) =>
      inOrder ? status !== expected[i] : !(status in expected),
    );
    return {
      pass: this.equals(actual, expected),
      message: () =>
        [
          `expected the statuses ${JSON.stringify(expected)}, received ${JSON.stringify(actual)}`,
          ...unexpected.slice(0, SHOWN_ANSWERS).map(described),
        ].join('\n'),
      actual,
      expected,
    };
  },
});
