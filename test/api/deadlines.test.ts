import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { expectError } from '../support/api.ts';
import { harness } from '../support/harness.ts';
import { scaled } from '../support/machine.ts';
import { until } from '../support/until.ts';

const DEADLINE_MS = scaled(300);
const LATE_MS = 3 * DEADLINE_MS;
const secret = 'quokka-query';
const unchecked = { unchecked: true };

it('what is not answered in time is a 503 with Retry-After, and the late result leaves no trace', async () => {
  let late = 0;
  const isLate = async () => {
    await pause(LATE_MS);
    late += 1;
  };
  const config = { deadlineMs: DEADLINE_MS };
  const t = await harness({
    prepare(app) {
      app.get('/returns', { config }, async () => {
        await isLate();
        return { done: true };
      });
      app.get('/sends', { config }, async (_request, reply) => {
        await isLate();
        return reply.code(201).send({ done: true });
      });
      app.get('/throws', { config }, async () => {
        await isLate();
        throw new Error(secret);
      });
      const onRequest = async () => {
        await isLate();
        throw new Error(secret);
      };
      app.get('/gate', { config, onRequest }, async () => ({}));
    },
  });
  const paths = ['/returns', '/sends', '/throws', '/gate'];
  const answers = await Promise.all(paths.map((path) => t.get(`${path}?q=${secret}`, unchecked)));
  for (const answer of answers) {
    expectError(answer, 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await until('all handlers are done', () => late === paths.length);
  expect((await t.get('/healthz')).status).toBe(200);
  const log = t.logs.join('');
  expect(log).not.toContain(secret);
  expect(log).not.toMatch(/already sent|Promise errored/i);
  // One line for the request, one for its failure.
  for (const { body } of answers) expect(log.split(body.requestId)).toHaveLength(3);
});

it('neither the time in which a body arrives nor that in which an answer is read counts', async () => {
  const slowly = async function* (...pieces: string[]) {
    for (const piece of pieces) {
      yield Buffer.from(piece);
      await pause(DEADLINE_MS);
    }
  };
  const config = { deadlineMs: DEADLINE_MS };
  const t = await harness({
    prepare(app) {
      app.post('/echo', { config }, async ({ body }) => body);
      app.get('/stream', { config }, (_request, reply) =>
        reply.type('text/plain').send(Readable.from(slowly('a', 'b', 'c', 'd'))),
      );
    },
  });
  const echo = await fetch(`${t.url}/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: slowly('[', '1', ',2', ']'),
    duplex: 'half',
  } as RequestInit);
  expect([echo.status, await echo.json()]).toEqual([200, [1, 2]]);
  const stream = await fetch(`${t.url}/stream`);
  expect([stream.status, await stream.text()]).toEqual([200, 'abcd']);
});
