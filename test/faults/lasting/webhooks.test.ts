// engines: sqlite, postgres

import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { openContext } from '../../../src/app/context.ts';
import { readConfig } from '../../../src/platform/config.ts';
import { startWebhooks } from '../../../src/webhooks/worker/dispatcher.ts';
import { residentMb } from '../../support/asked-process.ts';
import { repairBody } from '../../support/bodies.ts';
import { ONLY_POSTGRES } from '../../support/engines.ts';
import { effort, expectWithin } from '../../support/faults.ts';
import { harness } from '../../support/harness.ts';
import {
  lookInto,
  migratedDatabase,
  ownPostgres,
  SENDING,
  startServer,
  timed,
} from '../../support/process.ts';
import { rawServer } from '../../support/raw-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop, seedReceivers } from '../../support/shops.ts';
import { until } from '../../support/until.ts';

it('a wake-up that fails after the commit fails no creation, and creates nothing twice', async () => {
  const t = await harness();
  await t.ctx.db
    .updateTable('api_clients')
    .set({ webhook_url: 'http://127.0.0.1:9/hook' })
    .where('id', '=', t.client.id)
    .execute();
  const unlisten = t.ctx.onWake('deliveries', () => {
    throw new Error('the dispatcher stumbled');
  });
  const responses = await atOnce(8, () => t.post('/offline-repairs', repairBody()));
  unlisten();
  expect(responses).toHaveStatuses({ 201: 8 });
  const { body } = await t.get('/offline-repairs');
  expect(body.total).toBe(8);
});

// Webhooks seen from outside: processes of their own, receivers that hang, a database that does not answer.

/** A server whose receivers hang, each with eight events, once so many exchanges are open. */
const startHanging = async (receivers: number, exchanges: number, bodyBytes?: number) => {
  let asked = 0;
  const url = await rawServer(() => {
    asked += 1;
  });
  const env = await migratedDatabase(SENDING);
  const waiting = { url, events: 8, ...(bodyBytes ? { bodyBytes } : {}) };
  await seedReceivers(env, Array(receivers).fill(waiting));
  const server = await startServer(env);
  const beforeMb = residentMb(server.pid);
  await until('the exchanges hang', () => asked >= exchanges);
  return { env, server, beforeMb };
};

const WATCHED_MS = effort(2_000, 8_000);

it('hundreds of hanging attempts with large bodies use little memory', async () => {
  const { server, beforeMb } = await startHanging(80, 150, 230_000);
  const watchedUntil = Date.now() + WATCHED_MS;
  let mostMb = 0;
  await until('they have hung for a while', () => {
    mostMb = Math.max(mostMb, residentMb(server.pid));
    return Date.now() > watchedUntil;
  });
  expect(mostMb - beforeMb).toBeLessThan(220);
  expect(await server.get('/healthz')).toHaveStatus(200);
});

it('a stop ends in time and releases the leases while receivers hang', async () => {
  const { env, server } = await startHanging(20, 160);
  const { value, ms } = await timed(() => server.stop());
  expect(value).toEqual({ status: 0, signal: null });
  expectWithin(ms, 9_000);
  const db = lookInto(env);
  expect(await db.selectFrom('webhook_leases').select('receiver_id').execute()).toEqual([]);
  const rows = await db.selectFrom('webhook_deliveries').select(['status', 'attempts']).execute();
  expect(rows).toEqual(Array(160).fill({ status: 'PENDING', attempts: 0 }));
});

/** The dispatcher's own scan of the queue comes only every five seconds: sooner means that it was woken. */
const WOKEN_WITHIN_MS = 4_000;

it(
  'a worker process sends an event of an API process immediately, and another one takes over when it stops',
  ONLY_POSTGRES,
  async () => {
    const receiver = await startReceiver();
    const env = await migratedDatabase(SENDING);
    const { key } = await makeShop(env, { webhookUrl: receiver.url });
    const api = await startServer({ ...env, ROLE: 'api' }, { key });
    const expectSent = async (count: number) => {
      expect(await api.create()).toHaveStatus(201);
      expectWithin((await timed(() => receiver.got(count))).ms, WOKEN_WITHIN_MS);
    };
    const first = await startServer({ ...env, ROLE: 'worker' });
    await expectSent(1);
    await startServer({ ...env, ROLE: 'worker' });
    // Its lease would have lasted longer.
    await first.stop();
    await expectSent(2);
  },
);

it(
  'a stop while the database does not respond ends in time, reports unfinished deliveries, and these are sent again',
  ONLY_POSTGRES,
  async () => {
    const { postgres, env: own } = await ownPostgres();
    const env = { ...own, ...SENDING };
    const responses: (() => void)[] = [];
    const receiver = await startReceiver((_n, response) => {
      responses.push(() => void response.writeHead(200).end());
      return undefined;
    });
    await seedReceivers(env, [{ url: receiver.url, events: 5 }]);
    const logs: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) });
    const ctx = await openContext(readConfig(env), { log });
    onTestFinished(() => ctx.close());
    const stop = startWebhooks(ctx);
    await until('all five have begun', () => responses.length === 5);

    postgres.freeze();
    for (const response of responses) response();
    const { ms } = await timed(stop);
    postgres.thaw();
    expectWithin(ms, 8_000);
    expect(logs.join('')).toContain('webhook results were not written before the stop');

    receiver.behave(() => 200);
    onTestFinished(startWebhooks(ctx));
    await until('every delivery has ended', async () => {
      const rows = await ctx.db.selectFrom('webhook_deliveries').select('status').execute();
      return rows.every(({ status }) => status === 'DELIVERED');
    });
  },
);
