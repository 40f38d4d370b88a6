import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { BASE_PATH } from '../../../contract/common.ts';
import { effort, FULL, measured, percentile } from '../../support/faults.ts';
import type { ApiResponse } from '../../support/harness.ts';
import { ran, type ServerProcess, withOwnTimeLimits } from '../../support/process.ts';
import { startShop } from '../../support/shops.ts';
import { needs, toolPath } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

withOwnTimeLimits();

// Callers who hold connections and hardly use them: slow headers, slow bodies, slow reads, a third of them each.

const STEPS_A_SECOND = 50;
const LIST = `${BASE_PATH}/offline-repairs`;

/** What each kind begins with, and the byte that it adds every second; those without one read a byte instead. */
const kinds = (key: string, largeFile: string): { head: string; byte: string | null }[] => [
  { head: `GET ${LIST} HTTP/1.1\r\nhost: test\r\nx-slow: `, byte: 'x' },
  {
    head: `POST ${LIST} HTTP/1.1\r\nhost: test\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n`,
    byte: ' ',
  },
  { head: `GET ${largeFile} HTTP/1.1\r\nhost: test\r\n\r\n`.repeat(10), byte: null },
];

/** So many callers, each of whom begins again when they are cut off. They come from addresses of their own. */
const startSlowCallers = (
  port: number,
  count: number,
  { key, largeFile }: { key: string; largeFile: string },
) => {
  const all = kinds(key, largeFile);
  const sockets = new Map<Socket, string | null>();
  let begun = 0;
  let waiting = 0;
  let stopped = false;
  const begin = (i: number): void => {
    const { head, byte } = all[i % all.length] as (typeof all)[number];
    const from = `172.${16 + (begun >> 16)}.${(begun >> 8) & 255}.${begun & 255}`;
    begun += 1;
    const socket = connect(port, '127.0.0.1', () => {
      sockets.set(socket, byte);
      socket.write(head.replaceAll('host: test\r\n', `host: test\r\nx-forwarded-for: ${from}\r\n`));
    });
    if (byte === null) socket.on('readable', () => {});
    else socket.resume();
    socket
      .on('error', () => {})
      .once('end', () => socket.destroy())
      .once('close', () => {
        sockets.delete(socket);
        if (!stopped) begin(i);
      });
  };
  // Each does something once a second, and not all at the same moment: that would be a thousand quick callers.
  let nth = 0;
  const some = Math.ceil(count / STEPS_A_SECOND);
  const timer = setInterval(() => {
    for (const end = Math.min(count, waiting + some); waiting < end; waiting += 1) begin(waiting);
    const all = [...sockets];
    for (let i = 0; i < Math.min(some, all.length); i += 1) {
      nth += 1;
      const [socket, byte] = all[nth % all.length] as (typeof all)[number];
      if (byte === null) socket.read(1);
      else socket.write(byte);
    }
  }, 1_000 / STEPS_A_SECOND);
  return {
    open: () => sockets.size,
    /** With those that were cut off and begun again. */
    begun: () => begun,
    stop() {
      stopped = true;
      clearInterval(timer);
      for (const socket of sockets.keys()) socket.destroy();
    },
  };
};

const CALLERS = effort(90, 1_000);
/** Good callers alone, before the slow ones come and after they are gone. */
const ALONE_MS = effort(500, 12_000);
/** A process that has just started, or lost a thousand callers at once, is slow: that is not measured. */
const SETTLE_MS = effort(500, 4_000);
const BESIDE_MS = effort(1_500, 60_000);
const EVERY_MS = effort(25, 10);

/** A request every few milliseconds, whatever became of those before: creations, lists, every tenth over a connection of its own. */
const goodCallers = async (
  server: ServerProcess,
  forMs: number,
): Promise<{ responses: ApiResponse[]; tookMs: number[] }> => {
  const tookMs: number[] = [];
  const asked: Promise<ApiResponse>[] = [];
  const ask = async (n: number): Promise<ApiResponse> => {
    const startedAt = performance.now();
    const headers: Record<string, string> = n % 10 === 0 ? { connection: 'close' } : {};
    const response = await (n % 3 === 0
      ? server.create({}, { headers })
      : server.get('/offline-repairs?limit=5', { headers }));
    tookMs.push(performance.now() - startedAt);
    return response;
  };
  const endMs = performance.now() + forMs;
  for (let n = 0; performance.now() < endMs; n += 1) {
    asked.push(ask(n));
    await pause(EVERY_MS);
  }
  return { responses: await Promise.all(asked), tookMs };
};

const startBusy = async () => {
  const { server, key } = await startShop();
  const page = (await server.get('/docs/reference', { key: null })).body as string;
  const largeFile = `/docs/${/assets\/reference-[^"]+/.exec(page)?.[0]}`;
  expect(await server.get(largeFile, { key: null })).toHaveStatus(200);
  return { server, key, largeFile };
};

it('slow callers of every kind do not slow down others', {
  timeout: scaled(180_000),
}, async () => {
  const { server, key, largeFile } = await startBusy();
  const alone = async () => {
    await goodCallers(server, SETTLE_MS);
    return goodCallers(server, ALONE_MS);
  };
  const before = await alone();
  const slow = startSlowCallers(server.port, CALLERS, { key, largeFile });
  onTestFinished(slow.stop);
  await until('all slow callers hold a connection', () => slow.open() === CALLERS);
  const beside = await goodCallers(server, BESIDE_MS);
  // All slow callers stayed: whoever was cut off connected again.
  await until('they have come again', () => slow.open() > CALLERS * 0.9);
  const connections = slow.begun();
  slow.stop();
  const after = await alone();
  for (const response of [...before.responses, ...beside.responses, ...after.responses])
    expect(response).toHaveStatus(200, 201);
  const aloneMs = percentile([...before.tookMs, ...after.tookMs], 0.99);
  const besideMs = percentile(beside.tookMs, 0.99);
  measured(
    10,
    `${CALLERS} slow callers for ${BESIDE_MS / 1000} s (${connections} connections), ${beside.tookMs.length} good requests, 0 refused; p99 ${besideMs.toFixed(1)} ms, ${aloneMs.toFixed(1)} ms without them`,
  );
  // A short run has too few requests for a 99th percentile.
  if (FULL) expect(besideMs).toBeLessThanOrEqual(2 * aloneMs);
});

const slowHttpTestSays = async (args: string[]): Promise<string[]> => {
  const { output } = await ran(toolPath('slowhttptest'), args, {});
  return [...output.matchAll(/service available:\S*\s+\S*?(YES|NO)/g)].map((found) => found[1] as string);
};

if (FULL)
  it('slowhttptest finds the service available', needs('slowhttptest'), async () => {
    const { server, largeFile } = await startBusy();
    const common = ['-c', '250', '-r', '100', '-l', '20', '-p', '3'];
    const list = `${server.url}${BASE_PATH}/offline-repairs`;
    const modes = {
      'slow headers': ['-H', '-i', '2', '-u', list],
      'slow bodies': ['-B', '-i', '2', '-u', list],
      'slow reads': ['-X', '-n', '2', '-u', `${server.url}${largeFile}`],
      ranges: ['-R', '-a', '1', '-b', '2000', '-u', `${server.url}${largeFile}`],
    };
    const verdicts = await Promise.all(
      Object.entries(modes).map(async ([mode, args]) => ({
        mode,
        said: await slowHttpTestSays([...common, ...args]),
      })),
    );
    for (const { mode, said } of verdicts) {
      expect(said, mode).not.toEqual([]);
      expect(said, mode).toEqual(said.map(() => 'YES'));
    }
    measured(
      10,
      `slowhttptest (${Object.keys(modes).join(', ')}; 1,000 connections at once): service available`,
    );
  });
