import { expect } from 'vitest';
import type { Answer } from './harness.ts';
import type { Run } from './process.ts';

/** A 503 that says nothing about the inside. */
export const expectUnavailable = ({ status, body, headers }: Answer): void => {
  expect(body).toEqual({
    statusCode: 503,
    error: 'Service Unavailable',
    message: expect.any(String),
    code: 'SERVICE_UNAVAILABLE',
    docs: expect.stringMatching(/^https?:\/\/[^/]+\/docs\/errors#SERVICE_UNAVAILABLE$/),
    requestId: headers.get('x-request-id'),
  });
  expect(status).toBe(503);
  expect(JSON.stringify(body)).not.toMatch(/ECONN|ENOSPC|timeout|sqlite|postgres|57P|lock/i);
};

/** Failed to start as it should: status 1, one line for the operator, nothing of the inside. */
export const refusal = ({ status, stdout, stderr }: Run): string => {
  expect(stderr).toMatch(/^handback: [^\n]+\n$/);
  expect(stderr).not.toMatch(/ at .*:\d+:\d+|node:internal|Error:/);
  expect(status).toBe(1);
  expect(stdout).toBe('');
  return stderr;
};
