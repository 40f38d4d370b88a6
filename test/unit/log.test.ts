import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isUnavailable, reasonOf, whileConnecting, withServer } from '../../src/db/database-errors.ts';
import { connectionsOf } from '../../src/db/postgres/pools.ts';
import { readConfig } from '../../src/platform/config.ts';
import { ServiceError } from '../../src/platform/errors.ts';
import { boundedDestination, describeError } from '../../src/platform/log.ts';

/** A disk or a pipe that accepts as much as the test says, when the test says so. */
const output = () => {
  let text = '';
  let dropped = 0;
  let pending: ((most: number) => void) | null = null;
  const destination = boundedDestination(
    (bytes, done) => {
      pending = (most) => {
        const taken = bytes.subarray(0, most);
        text += taken.toString();
        done(taken.length);
      };
    },
    (lines) => {
      dropped += lines;
    },
  );
  return {
    destination,
    text: () => text,
    dropped: () => dropped,
    async take(most = Number.POSITIVE_INFINITY) {
      await nextTurn();
      const write = pending;
      pending = null;
      write?.(most);
    },
  };
};

describe('log lines', () => {
  it('of one event loop turn share a write', async () => {
    const out = output();
    for (const line of ['a\n', 'b\n', 'c\n']) out.destination.write(line);
    expect(out.text()).toBe('');
    await out.take();
    expect(out.text()).toBe('a\nb\nc\n');
  });

  it('that cannot be written are counted, and the next one starts on a new line', async () => {
    const out = output();
    for (const line of ['first\n', 'second\n', 'third\n']) out.destination.write(line);
    await out.take(9);
    out.destination.write('fourth\n');
    await out.take();
    expect(out.text()).toBe('first\nsec\nfourth\n');
    expect(out.dropped()).toBe(2);
  });

  it('that wait are limited', async () => {
    const out = output();
    const line = `${'x'.repeat(1023)}\n`;
    out.destination.write(line);
    await nextTurn();
    for (let i = 0; i < 5_000; i++) out.destination.write(line);
    expect(out.dropped()).toBe(5_000 - 1024);
    await out.take();
    await out.take();
    expect(out.text()).toHaveLength(1025 * 1024);
  });

  it('are all written when a flush completes', async () => {
    const out = output();
    let flushed = 0;
    const flush = () => out.destination.flush(() => (flushed += 1));
    flush();
    expect(flushed).toBe(1);
    out.destination.write('a\n');
    flush();
    expect(flushed).toBe(1);
    await out.take();
    expect([flushed, out.text()]).toEqual([2, 'a\n']);
  });
});

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
])('an error in the log contains no values: %s', (_what, error) => {
  const described = JSON.stringify(describeError(error));
  expect(described).not.toContain(SECRET);
  if (error instanceof Error) expect(described).toContain('log.test.ts');
});

it('safe values are logged', () => {
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
  expect(describeError(locked)).toMatchObject({
    code: '28000',
    reason: expect.stringMatching(/does not let this user in/),
  });
  const duplicate = withFields(new Error(SECRET), { code: '23505', severity: 'ERROR', table: 'users' });
  expect(describeError(duplicate)).toMatchObject({ code: '23505', table: 'users' });
});

it('connection errors tell the operator what to do for each code, and name the server without its login', () => {
  const url = 'postgres://user:secret-password@db1.example.com/handback';
  const reasonFor = (code: string, message = 'as the server says it') =>
    reasonOf(withServer(withFields(new Error(message), { code, severity: 'FATAL' }), url));
  const reasons = [
    reasonFor('53300'),
    reasonFor('53100'),
    reasonFor('53200'),
    reasonFor('57P01'),
    reasonFor('57P02'),
    reasonFor('57P03', 'the database system is starting up'),
    reasonFor('57P03', 'the database system is shutting down'),
    reasonFor('55000'),
    reasonFor('ECONNREFUSED'),
  ];
  const each = connectionsOf(readConfig({}).poolSizes);
  expect(reasons[0]).toContain(`no connection left: raise max_connections there to processes × ${each} and`);
  expect(reasons[1]).toMatch(/disk is full/);
  expect(reasons[5]).toMatch(/^the server is starting /);
  expect(reasons[6]).toMatch(/^the server is stopping /);
  expect(new Set(reasons).size).toBe(reasons.length);
  for (const reason of reasons) expect(reason).toMatch(/ \(db1\.example\.com:5432, DATABASE_URL\)$/);
});

it('any error while connecting means that the database is not available', async () => {
  const refused = (code: string) => withFields(new Error('refused'), { code, severity: 'FATAL' });
  const failed = (error: Error) => whileConnecting(Promise.reject(error)).catch((reason) => reason);
  for (const code of ['55000', '08P01', 'XX000', 'P0001']) {
    expect({ code, is: isUnavailable(await failed(refused(code))) }).toEqual({ code, is: true });
    expect({ code, is: isUnavailable(refused(code)) }).toEqual({ code, is: code.startsWith('08') });
  }
  expect(isUnavailable(await failed(new AggregateError([refused('55000')])))).toBe(true);
});
