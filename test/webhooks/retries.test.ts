import { expect } from 'vitest';
import { changeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { itWith } from '../support/fixtures.ts';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { pluck } from '../support/responses.ts';
import { sendingTo } from '../support/sending-to.ts';
import { scaled, untilHolds } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const it = itWith(webhookHarness);

it('a receiver that never acknowledges gets the same bytes four times, 1, 4 and 16 s apart', async () => {
  const { t, receiver, client } = await sendingTo(() => 500);
  await t.create(client);
  for (const [n, gapMs] of [1_000, 4_000, 16_000].entries()) {
    const before = await t.attempted(n + 1);
    const ended = JSON.parse(before.attempt_log)[n];
    const waitMs = before.due_at - (ended.at + ended.durationMs);
    // Time and duration are by two clocks.
    expect(waitMs, `wait after attempt ${n + 1}`).toBeGreaterThan(gapMs - scaled(250));
    expect(waitMs, `wait after attempt ${n + 1}`).toBeLessThan(gapMs + scaled(250));
    expect(before.status).toBe('PENDING');
    t.advance(Math.max(0, before.due_at - t.ctx.clock.now()));
    await receiver.got(n + 2);
  }
  const dropped = await t.attempted(4);
  expect(dropped).toMatchObject({ status: 'DROPPED', reason: 'four attempts failed: status 500' });
  t.advance(24 * 3_600_000);
  await t.create(await t.addReceiver((await startReceiver()).url));
  await t.drained();
  expect(new Set(receiver.received.map(({ bytes }) => bytes.toString('hex'))).size).toBe(1);
  const headers = pluck(receiver.received, 'headers');
  expect(new Set(pluck(headers, 'x-webhook-id')).size).toBe(1);
  expect(pluck(headers, 'x-webhook-attempt')).toEqual(['1', '2', '3', '4']);
  expect(pluck(JSON.parse(dropped.attempt_log), 'statusCode')).toEqual(Array(4).fill(500));
  expect(t.logs.filter((line) => line.includes('webhook dropped'))).toHaveLength(1);
});

it('an attempt is acknowledged by a 2xx only, and no redirect is followed', async () => {
  const elsewhere = await startReceiver();
  const statuses = [200, 201, 204, 299, 300, 301, 302, 307, 308, 400, 404, 410, 429, 500];
  const { t, client } = await sendingTo((n, response) => {
    response.setHeader('location', elsewhere.url);
    return statuses[n - 1];
  });
  t.clock.hold();
  for (const status of statuses) {
    const { id } = await t.create(client);
    const row = await untilHolds(
      'it is tried',
      async () => (await t.deliveries()).find(({ rma_id }) => rma_id === id),
      (found) => found?.attempts === 1,
    );
    const expected = status < 300 ? 'DELIVERED' : 'PENDING';
    expect([JSON.parse(row?.attempt_log ?? '')[0].statusCode, row?.status]).toEqual([status, expected]);
  }
  expect(elsewhere.received).toEqual([]);
});

it('waiting deliveries go to the new URL after the URL is changed', async ({ t }) => {
  const [old, next] = [await startReceiver(() => 500), await startReceiver()];
  t.clock.hold();
  const client = await t.addReceiver(old.url);
  await t.create(client);
  await t.attempted(1);
  await changeClient(t.ctx, OPERATOR, client.id, { webhookUrl: next.url });
  t.advance(1_000);
  await next.got(1);
  expect(old.received).toHaveLength(1);
  expect(next.received[0]?.bytes.equals(old.received[0]?.bytes as Buffer)).toBe(true);
});

// At most 64 KiB and 1,000 lines are read of a response. Answers that never end are in test/faults/rows/07-hostile-receivers.test.ts.

it('a response within the limit is read completely, and its connection is reused', async ({ t }) => {
  let connections = 0;
  const body = 'x'.repeat(30 * 1024);
  const url = await rawServer((socket) => {
    connections += 1;
    const response = () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    response();
    socket.on('data', (data) => {
      if (data.toString('latin1').startsWith('POST')) response();
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

it.each([
  ['40 KiB of headers', `x-a: ${'b'.repeat(1_000)}\r\n`.repeat(40), ''],
  ['900 headers', 'x-a: b\r\n'.repeat(900), ''],
  ['5,000 lines of body', '', 'line\n'.repeat(5_000)],
])('a response with %s is an acknowledgement', async (_what, head, body) => {
  expect(await answeringWith(head, body)).toMatchObject({ status: 'DELIVERED' });
});

it('a response with 5,000 headers is not an acknowledgement', async () => {
  const { status, attempt_log } = await answeringWith('x-a: b\r\n'.repeat(5_000));
  expect(status).toBe('PENDING');
  expect(attempt_log).toContain('longer than 64 KiB or 1,000 lines');
});

// That a stop does not wait for receivers that hang is in test/faults/lasting/webhooks.test.ts.

it('a stop waits for requests that end soon, and records their results', async () => {
  const receiver = await startReceiver((_n, response) => {
    setTimeout(() => response.writeHead(200).end(), 1_000);
    return undefined;
  });
  const t = await webhookHarness({ sending: false });
  await t.create(await t.addReceiver(receiver.url));
  const stop = await t.startSending();
  await receiver.got(1);
  await stop();
  expect(await t.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: 1 }]);
});
