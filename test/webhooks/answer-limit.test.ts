import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { flood, rawServer } from '../support/raw-server.ts';
import { webhookHarness } from '../support/webhooks.ts';

// At most 64 KiB are read of an answer, whatever part of it does not end. What the kernel takes in beyond that is not read.

const MEGABYTE = 1024 ** 2;
const MOST = 4096 * MEGABYTE;
const piece = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil((64 * 1024) / text.length)));
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const ENDLESS: Record<string, { head: string; rest: Buffer; acknowledged: boolean }> = {
  'status line': { head: 'HTTP/1.1 200 ', rest: piece('OK'), acknowledged: false },
  'line breaks before the answer': { head: '\r\n', rest: piece('\r\n'), acknowledged: false },
  'interim answers': { head: '', rest: piece('HTTP/1.1 102 Processing\r\n\r\n'), acknowledged: false },
  'early hints': {
    head: '',
    rest: piece(`HTTP/1.1 103 Early Hints\r\nlink: ${'x'.repeat(900)}\r\n\r\n`),
    acknowledged: false,
  },
  headers: { head: 'HTTP/1.1 200 OK\r\n', rest: piece('x-a: b\r\n'), acknowledged: false },
  'one header': { head: 'HTTP/1.1 200 OK\r\nx-a: ', rest: piece('b'), acknowledged: false },
  'chunk extension': { head: `${chunked}5;`, rest: piece('a=b;'), acknowledged: true },
  chunks: { head: chunked, rest: piece('1\r\nx\r\n'), acknowledged: true },
  trailers: { head: `${chunked}0\r\n`, rest: piece('x-a: b\r\n'), acknowledged: true },
  'body until the end of the connection': {
    head: 'HTTP/1.1 200 OK\r\n\r\n',
    rest: piece('x'),
    acknowledged: true,
  },
  'body of a stated length': {
    head: `HTTP/1.1 200 OK\r\ncontent-length: ${MOST}\r\n\r\n`,
    rest: piece('x'),
    acknowledged: true,
  },
};

it.each(Object.entries(ENDLESS))('an endless answer is broken off: %s', async (_, one) => {
  let sent = 0;
  let cutOff = 0;
  const t = await webhookHarness();
  const url = await rawServer((socket: Socket) => {
    socket.once('close', () => {
      cutOff += 1;
    });
    socket.write(one.head);
    flood(socket, one.rest, MOST, (bytes) => {
      sent += bytes;
    });
  });
  await t.create(await t.addReceiver(url));
  const row = await t.attempted(1);
  const [attempt] = JSON.parse(row.attempt_log);
  expect({ status: row.status, ...attempt }).toMatchObject(
    one.acknowledged
      ? { status: 'DELIVERED', statusCode: 200, error: null }
      : { status: 'PENDING', statusCode: null, error: expect.stringMatching(/64 KiB|too long/) },
  );
  // Nobody reads on for the 10 s of an exchange, and what was sent is what fits into the kernel's buffers.
  expect(attempt.durationMs).toBeLessThan(5_000);
  expect(sent).toBeLessThan(40 * MEGABYTE);
  await expect.poll(() => cutOff).toBeGreaterThan(0);
});

it('an answer that ends within the limit is read whole, and its connection used again', async () => {
  let connections = 0;
  const t = await webhookHarness();
  const body = 'x'.repeat(30 * 1024);
  const url = await rawServer((socket) => {
    connections += 1;
    const answer = () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    answer();
    socket.on('data', (data) => {
      if (data.toString('latin1').startsWith('POST')) answer();
    });
  });
  const client = await t.addReceiver(url);
  for (let i = 0; i < 6; i++) {
    await t.create(client);
    await t.drained();
  }
  expect((await t.deliveries()).map(({ status }) => status)).toEqual(Array(6).fill('DELIVERED'));
  expect(connections).toBe(1);
});

it('an answer with 40 KiB of headers is an acknowledgement', async () => {
  const t = await webhookHarness();
  const url = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${'x-a: b\r\n'.repeat(5_000)}\r\n`);
  });
  await t.create(await t.addReceiver(url));
  expect(await t.attempted(1)).toMatchObject({ status: 'DELIVERED' });
});
