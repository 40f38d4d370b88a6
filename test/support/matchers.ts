import { STATUS_CODES } from 'node:http';
import { expect } from 'vitest';
import type { ApiResponse } from './http.ts';

// Expectations about responses. A failure prints the response: the request that it is for, its id and its body.

type OfResponse<R, T, Params extends unknown[]> = T extends ApiResponse ? (...params: Params) => R : never;
type OfResponses<R, T, Params extends unknown[]> = T extends ApiResponse[] ? (...params: Params) => R : never;

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** This status, or one of these. */
    toHaveStatus: T extends ApiResponse | Response ? (...statuses: number[]) => R : never;
    /** The error that the contract describes: with this status, with this code if one is given, and with nothing else in its body. */
    toFailWith: OfResponse<R, T, [status: number, code?: string]>;
    /** The status of each, in order; or how many of them have each status, in any order. */
    toHaveStatuses: OfResponses<R, T, [statuses: readonly number[] | Record<number, number>]>;
  }
}

const LONGEST_PATH = 150;
const LONGEST_BODY = 2_000;

const described = (response: ApiResponse | Response): string => {
  const isRead = !(response instanceof Response);
  const request = isRead ? `${response.method} ${response.path.slice(0, LONGEST_PATH)}` : response.url;
  const reason = isRead && response.body?.message ? `: ${[response.body.message].flat().join('; ')}` : '';
  return [
    `${response.status} ${STATUS_CODES[response.status] ?? ''} for ${request}${reason}`,
    '',
    `request id: ${response.headers.get('x-request-id') ?? 'none'}`,
    `body: ${isRead ? shown(response.body) : 'not read'}`,
  ].join('\n');
};

const shown = (body: unknown): string => {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  return text.slice(0, LONGEST_BODY) || 'empty';
};

/** What the contract says of an error's body, given which errors of fields and which code are in it. */
const errorBody = ({ body }: ApiResponse, status: number, code: string | undefined) => ({
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
  toHaveStatus(response: ApiResponse | Response, ...statuses: number[]) {
    return {
      pass: statuses.includes(response.status),
      message: () =>
        `expected ${this.isNot ? 'another status than' : 'the status'} ${statuses.join(' or ')}, received ${described(response)}`,
    };
  },

  toFailWith(response: ApiResponse, status: number, code?: string) {
    const isOther = response.status !== status || (code !== undefined && response.body.code !== code);
    if (isOther)
      return {
        pass: false,
        message: () =>
          `expected the error ${code === undefined ? status : `${status} ${code}`}, received ${described(response)}`,
      };
    const { headers, body } = response;
    const actual = { body, type: headers.get('content-type'), requestId: headers.get('x-request-id') };
    const expected = {
      body: errorBody(response, status, code),
      type: expect.stringMatching(/^application\/json\b/),
      requestId: body.requestId,
    };
    return {
      pass: this.equals(actual, expected),
      message: () => `the error is not as the contract describes it: ${described(response)}`,
      actual,
      expected,
    };
  },

  toHaveStatuses(responses: ApiResponse[], expected: readonly number[] | Record<number, number>) {
    const inOrder = Array.isArray(expected);
    const statuses = responses.map(({ status }) => status);
    const actual = inOrder ? statuses : counted(statuses);
    const unexpected = responses.filter(({ status }, i) =>
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
