import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { rawServer } from '../support/raw-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const BAD: Record<string, { behave(socket: Socket): void; error: RegExp }> = {
  'never answers': { behave: () => {}, error: /within 10 s/ },
  'sends its answer drop by drop': {
    behave(socket) {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 500);
      socket.once('close', () => clearInterval(timer));
    },
    error: /within 10 s/,
  },
  'sends its headers drop by drop': {
    behave(socket) {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-a: b\r\n'), 500);
      socket.once('close', () => clearInterval(timer));
    },
    error: /within 10 s/,
  },
  'does not speak HTTP': { behave: (socket) => void socket.end('what?\r\n\r\n'), error: /not valid HTTP/ },
  'sends headers without end': {
    behave: (socket) => void socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`),
    error: /64 KiB|too long|broken off/,
  },
  'breaks the connection off': { behave: (socket) => void socket.resetAndDestroy(), error: /broken off/ },
  'closes without a word': { behave: (socket) => void socket.end(), error: /broken off/ },
};

it('each kind of bad receiver fails its attempt, is named, and leaves a healthy one alone', {
  timeout: 40_000,
}, async () => {
  const t = await webhookHarness();
  const clients = new Map<string, string>();
  for (const [name, { behave }] of Object.entries(BAD)) {
    const client = await t.addReceiver(await rawServer(behave));
    clients.set(client.id, name);
    await t.create(client);
  }
  const healthy = await startReceiver();
  await t.create(await t.addReceiver(healthy.url));
  await healthy.got(1, 5_000);

  const rows = await until(
    'the attempts are written down',
    async () => {
      const tried = (await t.deliveries()).filter((row) => clients.has(row.client_id) && row.attempts > 0);
      return tried.length === clients.size ? tried : null;
    },
    30_000,
  );
  for (const row of rows) {
    const name = clients.get(row.client_id) as string;
    const [first] = JSON.parse(row.attempt_log);
    expect({ name, ...first }).toMatchObject({
      name,
      statusCode: null,
      error: expect.stringMatching(BAD[name]?.error as RegExp),
    });
    if (/10 s/.test(first.error)) {
      expect(first.durationMs).toBeGreaterThanOrEqual(9_900);
      expect(first.durationMs).toBeLessThan(12_000);
    }
  }
});

it('a receiver that hangs with a backlog delays nobody else', async () => {
  const t = await webhookHarness({ sending: false });
  const hanging = await t.addReceiver(await rawServer(() => {}));
  for (let i = 0; i < 100; i++) await t.create(hanging);
  const others = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const receiver = await startReceiver();
      return { receiver, client: await t.addReceiver(receiver.url) };
    }),
  );
  await t.startSending();
  for (const { client } of others) for (let i = 0; i < 3; i++) await t.create(client);
  // Well before the first exchange with the hanging one can have ended.
  await Promise.all(others.map(({ receiver }) => receiver.got(3, 8_000)));
});
