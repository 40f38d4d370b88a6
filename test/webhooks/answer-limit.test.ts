import { expect, it } from 'vitest';
import { rawServer } from '../support/raw-server.ts';
import { webhookHarness } from '../support/webhooks.ts';

// At most 64 KiB and 1,000 lines are read of an answer. Answers that never end are in test/faults/rows/07-hostile-receivers.test.ts.

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

const answeringWith = async (head: string, body = '') => {
  const t = await webhookHarness();
  const url = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${head}\r\n${body}`);
  });
  await t.create(await t.addReceiver(url));
  return t.attempted(1);
};

it('an answer with 40 KiB of headers is an acknowledgement', async () => {
  expect(await answeringWith(`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(40))).toMatchObject({
    status: 'DELIVERED',
  });
});

it('an answer with 900 headers is an acknowledgement, and one with 5,000 is not', async () => {
  expect(await answeringWith('x-a: b\r\n'.repeat(900))).toMatchObject({ status: 'DELIVERED' });
  expect(await answeringWith('x-a: b\r\n'.repeat(5_000))).toMatchObject({
    status: 'PENDING',
    attempt_log: expect.stringContaining('longer than 64 KiB or 1,000 lines'),
  });
});

it('an answer whose body has 5,000 lines is an acknowledgement', async () => {
  expect(await answeringWith('', 'line\n'.repeat(5_000))).toMatchObject({ status: 'DELIVERED' });
});
