import { expect, it } from 'vitest';
import { isUnavailable, whileConnecting } from '../../src/db/database-errors.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { describeError } from '../../src/service/log.ts';

const SECRET = 'quokka';
const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

const withFields = (error: Error, fields: object) => Object.assign(error, fields);

it.each([
  ['a parser that quotes the text', thrown(() => JSON.parse(`{"name": ${SECRET}}`))],
  ['V8 that quotes a value', thrown(() => Object.assign(SECRET, { length: 1 }))],
  ['Node that quotes an argument', thrown(() => Buffer.from('x', SECRET as 'utf8'))],
  [
    'a database that quotes a row',
    withFields(new Error(SECRET), { code: '23505', severity: 'ERROR', detail: SECRET }),
  ],
  ['a library', new Error(`could not use ${SECRET}`)],
  ['a message that looks like a frame', new Error(`no\n    at ${SECRET}\n    at ${SECRET}`)],
  ['a cause', new ServiceError('INTERNAL_ERROR', { cause: new Error(SECRET) })],
  ['text', SECRET],
])('an error in the log quotes nobody: %s', (_what, error) => {
  const described = JSON.stringify(describeError(error));
  expect(described).not.toContain(SECRET);
  if (error instanceof Error) expect(described).toContain('describe-error.test.ts');
});

it('what is safe to tell is told', () => {
  expect(
    describeError(new ServiceError('SERVICE_UNAVAILABLE', { message: 'The database does not answer.' })),
  ).toMatchObject({
    message: 'The database does not answer.',
  });
  const refused = withFields(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    errno: -111,
  });
  expect(describeError(new ServiceError('SERVICE_UNAVAILABLE', { cause: refused }))).toMatchObject({
    cause: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:5432' },
  });
  expect(describeError(new Error('Query read timeout'))).toMatchObject({ message: 'Query read timeout' });
  const noPassword = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string');
  expect(describeError(noPassword)).toMatchObject({ message: noPassword.message });
  const locked = withFields(new Error(SECRET), { code: '28000', severity: 'FATAL' });
  expect(describeError(locked)).toMatchObject({ code: '28000', reason: expect.stringMatching(/password/) });
  const duplicate = withFields(new Error(SECRET), { code: '23505', severity: 'ERROR', table: 'users' });
  expect(describeError(duplicate)).toMatchObject({ code: '23505', table: 'users' });
});

it('an error while a connection is made means that the database is not available, whatever its code', async () => {
  const refused = (code: string) => withFields(new Error('refused'), { code, severity: 'FATAL' });
  const failed = (error: Error) => whileConnecting(Promise.reject(error)).catch((reason) => reason);
  for (const code of ['55000', '08P01', 'XX000', 'P0001']) {
    expect({ code, is: isUnavailable(await failed(refused(code))) }).toEqual({ code, is: true });
    expect({ code, is: isUnavailable(refused(code)) }).toEqual({ code, is: code.startsWith('08') });
  }
  expect(isUnavailable(await failed(new AggregateError([refused('55000')])))).toBe(true);
});
