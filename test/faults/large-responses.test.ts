import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { residentMb } from '../support/asked-process.ts';
import { tradeBody } from '../support/bodies.ts';
import { expectWithin } from '../support/faults.ts';
import { copyReturn, itemsOf, openUnread, readToEnd } from '../support/large.ts';
import { lookInto, migratedDatabase, startServer, timed } from '../support/process.ts';
import { atOnce } from '../support/responses.ts';
import { makeShop } from '../support/shops.ts';

const LARGE = '/trade-returns?limit=100';
const MOST_MB = 400;
/** Without bounds it took many seconds. */
const SLOWEST_MS = 2_000;

const keepReading = (url: string, key: string): (() => Promise<void>) => {
  let isOver = false;
  let response: IncomingMessage | undefined;
  const reading = (async () => {
    while (!isOver) {
      response = await openUnread(url, key, LARGE);
      await readToEnd(response);
    }
  })();
  return () => {
    isOver = true;
    response?.destroy();
    return reading;
  };
};

const leaveUnread = (port: number, path: string, callers: number): void => {
  const request = `GET ${path} HTTP/1.1\r\nhost: test\r\nx-forwarded-for: 198.18.0.1\r\n\r\n`;
  for (let i = 0; i < callers; i++) {
    const socket = connect(port, '127.0.0.1', () => socket.pause().write(request)).on('error', () => {});
    onTestFinished(() => void socket.destroy());
  }
};

it('readers of the largest pages and files, fast and slow, leave enough memory and time for others', async () => {
  const env = await migratedDatabase();
  const [greedy, other] = [await makeShop(env), await makeShop(env)];
  const server = await startServer(env, { key: other.key });
  const { body: large } = await server.post('/trade-returns', tradeBody({ items: itemsOf(215) }), {
    key: greedy.key,
  });
  await copyReturn(lookInto(env), large.id, 100);
  const { body: repair } = await server.create();

  const opening = atOnce(60, () => openUnread(server.url, greedy.key, LARGE));
  const fast = Array.from({ length: 4 }, () => keepReading(server.url, greedy.key));
  const slow = await opening;

  const { body: reference } = await server.get('/docs/reference');
  leaveUnread(server.port, `/docs/${/assets\/reference-[^"]+/.exec(reference)?.[0]}`, 300);
  let mostMb = 0;
  const usual = [
    () => server.get(`/offline-repairs/${repair.id}`),
    () => server.get('/offline-repairs'),
    () => server.create(),
    () => server.get('/healthz'),
  ];
  const slowest = usual.map(() => 0);
  for (let round = 0; round < 15; round += 1)
    for (const [i, ask] of usual.entries()) {
      const { value, ms } = await timed(ask);
      expect(value).toHaveStatus(200, 201);
      slowest[i] = Math.max(slowest[i] ?? 0, ms);
      mostMb = Math.max(mostMb, residentMb(server.pid));
    }
  for (const reader of slow) reader.destroy();
  await Promise.all(fast.map((stop) => stop()));
  expect(mostMb).toBeLessThan(MOST_MB);
  for (const ms of slowest) expectWithin(ms, SLOWEST_MS);
});
