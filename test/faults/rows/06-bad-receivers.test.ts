// engines: sqlite, postgres

import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { POOL_LIMITS } from '../../../src/webhooks/policy.ts';
import { effort, expectWithin, measured, percentile } from '../../support/faults.ts';
import type { ApiResponse } from '../../support/http.ts';
import { freePort } from '../../support/postgres-server.ts';
import {
  lookInto,
  migratedDatabase,
  SENDING,
  type ServerProcess,
  startProgram,
  startServer,
} from '../../support/process.ts';
import { startReceiver, type TestReceiver } from '../../support/receiver.ts';
import { type SeededReceiver, seedReceivers } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

// In a process of their own: answering thousands of requests must not delay the test, which measures.
const RECEIVERS = `
  import { createServer } from 'node:http';
  import net from 'node:net';
  let hanging = 0;
  const hangs = net.createServer((socket) => socket.on('error', () => {}).once('data', () => { hanging += 1; }));
  const refuses = createServer((request, response) => request.resume().on('end', () => response.writeHead(503).end()));
  const counts = createServer((request, response) => response.end(String(hanging)));
  const ports = await Promise.all([hangs, refuses, counts].map((server) =>
    new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))));
  process.stdout.write(JSON.stringify(ports));
`;

const startBadReceivers = async () => {
  const { out } = startProgram(process.execPath, ['--input-type=module', '-e', RECEIVERS], {});
  const ports = await until('they listen', () => /^\[.*\]$/.exec(out.stdout)?.[0]);
  const urls: string[] = JSON.parse(ports).map((port: number) => `http://127.0.0.1:${port}/`);
  const [hangs, refuses, counts] = urls as [string, string, string];
  return {
    hangs,
    refuses,
    closed: `http://127.0.0.1:${await freePort()}/`,
    countHanging: async () => Number(await (await fetch(counts)).text()),
  };
};

const HEALTHY = effort(10, 100);
const BAD = effort(10, 100);
const WAITING_EACH = effort(20, 200);
const TURNS = effort(1, 2);
const EVENTS = effort(40, 600);
/** A process that has just started is slow, with bad receivers or without. */
const WARM_UP = effort(5, 100);
const EVERY_MS = effort(20, 15);
const MOST_TIMES_THE_BASELINE = 2;
/** In short mode other suites use the same cores: the slowest event once took 6.5 s. */
const LATEST_IN_SHORT_MS = 4_000;

const prepare = async (healthy: TestReceiver, bad: string[]) => {
  const env = await migratedDatabase(SENDING);
  const clients = await seedReceivers(env, [
    ...Array.from({ length: HEALTHY }, () => ({ url: healthy.url, events: 0 })),
    ...bad.map((url) => ({ url, events: WAITING_EACH })),
  ]);
  return { env, clients: clients.slice(0, HEALTHY) };
};

/** How long after its change each event came: creations for one healthy receiver after the other, at an even pace. */
const lagsOf = async (
  server: ServerProcess,
  healthy: TestReceiver,
  clients: SeededReceiver[],
  events: number,
): Promise<number[]> => {
  const before = healthy.received.length;
  const creations: Promise<ApiResponse>[] = [];
  for (let i = 0; i < events; i++) {
    const key = clients[i % clients.length]?.apiKey as string;
    creations.push(server.create({}, { key }));
    await pause(EVERY_MS);
  }
  for (const response of await Promise.all(creations)) expect(response).toHaveStatus(201);
  await healthy.got(before + events, 60_000);
  return healthy.received.slice(before).map(({ at, body }) => at - Date.parse(body.timestamp));
};

it('receivers that hang or refuse do not delay others, however many deliveries wait for them', {
  timeout: scaled(240_000),
}, async () => {
  const healthy = await startReceiver();
  const bad = await startBadReceivers();
  const alone = await prepare(healthy, []);
  const beside = await prepare(
    healthy,
    Array.from({ length: BAD }, (_, i) => [bad.hangs, bad.refuses, bad.hangs, bad.closed][i % 4] as string),
  );
  const lags = { alone: [] as number[], beside: [] as number[] };
  for (let turn = 0; turn < TURNS; turn++) {
    const quiet = await startServer(alone.env);
    await lagsOf(quiet, healthy, alone.clients, WARM_UP);
    lags.alone.push(...(await lagsOf(quiet, healthy, alone.clients, EVENTS)));
    await quiet.stop();

    const busy = await startServer(beside.env);
    const enough = (await bad.countHanging()) + Math.min(WAITING_EACH, POOL_LIMITS.perReceiver) * (BAD / 2);
    await until('all that may hang does', async () => (await bad.countHanging()) >= enough, 30_000);
    await lagsOf(busy, healthy, beside.clients, WARM_UP);
    lags.beside.push(...(await lagsOf(busy, healthy, beside.clients, EVENTS)));
    await busy.stop();
  }
  const db = lookInto(beside.env);
  const { waiting } = await db
    .selectFrom('webhook_deliveries')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('status', '=', 'PENDING')
    .executeTakeFirstOrThrow();
  const [baseline, loaded] = [percentile(lags.alone, 0.99), percentile(lags.beside, 0.99)];
  measured(
    6,
    `${lags.beside.length} events of healthy receivers: p99 ${loaded} ms, ${baseline} ms without the others; ${waiting} still waiting`,
  );
  expect(Number(waiting)).toBeGreaterThan(0);
  if (effort(false, true)) expect(loaded).toBeLessThanOrEqual(MOST_TIMES_THE_BASELINE * baseline);
  else expectWithin(Math.max(...lags.beside), LATEST_IN_SHORT_MS);
});
