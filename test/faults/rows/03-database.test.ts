import { describe, expect, it, onTestFinished } from 'vitest';
import {
  databaseOn,
  expectKept,
  type Load,
  longest,
  onHosts,
  startLoad,
} from '../../support/database-load.ts';
import { effort, measured } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { scaled } from '../../support/machine.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { lookInto, migratedDatabase, startServer } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { addShops } from '../../support/shops.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { expectWithin } from '../../support/within.ts';

const KILLS = effort(2, 20);
/** A server that waits for the disk takes seconds to start where other tests keep the disk busy. */
const DURABLE = effort(false, true);
/** Longer than any answer may take. */
const DROPPED_MS = effort(6_000, 15_000);
/** How many are acknowledged before the next fault. */
const SOME = effort(40, 100);

/** More than a few batches: those behind wait longest, and hold their keys. */
const MANY = 50;
/** Each on connections of another kind. */
const PATHS = [
  '/offline-repairs',
  '/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z',
  '/usage',
  '/readyz',
];

const REFUSED_WITHIN_MS = 5_000;
const ANSWERED_WITHIN_MS = 10_000;
const BACK_WITHIN_MS = 10_000;
/** While the test itself waits. */
const PATIENTLY_MS = 30_000;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/**
 * A caller that comes back at once after a 503 may find that the first request with this key still runs. The time limits inside leave no
 * room for that, but only just: with other tests on the machine it happens.
 */
const ALLOWED = effort([200, 201, 409, 503], [200, 201, 503]);

/** Each was answered in time: it worked, or is to be tried again later. */
const expectInTime = (load: Load): string => {
  const { refusedMs, anyMs } = longest(load);
  expect(load.answers.filter(({ status }) => !ALLOWED.includes(status))).toEqual([]);
  expectWithin(refusedMs, REFUSED_WITHIN_MS);
  expectWithin(anyMs, ANSWERED_WITHIN_MS);
  return `${load.acknowledged.size} acknowledged, 0 lost; 503 within ${seconds(refusedMs)}, slowest answer ${seconds(anyMs)}`;
};

if (ENGINE === 'postgres')
  describe('PostgreSQL under load', () => {
    it(`is killed ${KILLS} times: nothing acknowledged is lost, and work goes on by itself`, {
      timeout: scaled(60_000 + KILLS * 20_000),
    }, async () => {
      const postgres = await startPostgres({ durable: DURABLE });
      onTestFinished(postgres.stop);
      const env = await databaseOn(postgres);
      const [shop] = await addShops(env, 1);
      const server = await startServer(env, { key: shop?.client.apiKey ?? '' });
      const load = startLoad(server);
      let slowestMs = 0;
      for (let kill = 0; kill < KILLS; kill++) {
        await load.more(SOME, PATIENTLY_MS);
        await postgres.kill();
        await load.next(503, PATIENTLY_MS);
        await postgres.resume();
        const startedAt = performance.now();
        slowestMs = Math.max(slowestMs, (await load.next(201, PATIENTLY_MS)).endedAt - startedAt);
      }
      await load.end();
      const figures = expectInTime(load);
      expectWithin(slowestMs, BACK_WITHIN_MS);
      await expectKept(load, server, env);
      measured(3, `killed ${KILLS} times: ${figures}; back ${seconds(slowestMs)} after its start`);
    });

    it(`is not heard of for ${DROPPED_MS / 1000} s: nothing acknowledged is lost, and work goes on by itself`, async () => {
      const env = await migratedDatabase();
      const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
      const [shop] = await addShops(env, 1);
      const through = { ...env, DATABASE_URL: proxy.through(env['DATABASE_URL'] as string) };
      const server = await startServer(through, { key: shop?.client.apiKey ?? '' });
      const load = startLoad(server, { callers: MANY, paths: PATHS });
      await load.more(SOME, PATIENTLY_MS);
      proxy.hold();
      const heldAt = performance.now();
      await load.next(503, PATIENTLY_MS);
      await until(
        'packets were dropped for a while',
        () => performance.now() - heldAt > DROPPED_MS,
        PATIENTLY_MS,
      );
      proxy.release();
      const releasedAt = performance.now();
      await load.more(SOME, PATIENTLY_MS);
      await load.end();
      const refusals = load.answers.filter(({ status }) => status === 503);
      const backMs = Math.max(0, ...refusals.map(({ endedAt }) => endedAt - releasedAt));
      const figures = expectInTime(load);
      expectWithin(backMs, BACK_WITHIN_MS);
      await expectKept(load, server, env);
      measured(
        3,
        `packets dropped for ${seconds(DROPPED_MS)}: ${figures}; the last 503 ${seconds(backMs)} after it`,
      );
    });

    it('is killed and its standby promoted: nothing acknowledged is lost, and the standby serves', async () => {
      const receiver = await startReceiver();
      const primary = await startPostgres({ durable: DURABLE });
      onTestFinished(primary.stop);
      const standby = await primary.addStandby();
      onTestFinished(standby.stop);
      const env = {
        ...onHosts(await databaseOn(primary), [primary, standby]),
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      };
      const [shop] = await addShops(env, 1, () => receiver.url);
      const key = shop?.client.apiKey ?? '';
      const [server] = await Promise.all([
        startServer({ ...env, ROLE: 'api' }, { key }),
        startServer({ ...env, ROLE: 'worker' }),
      ]);
      const load = startLoad(server);
      await load.more(SOME, PATIENTLY_MS);
      await primary.kill();
      await load.next(503, PATIENTLY_MS);
      await standby.promote();
      const promotedAt = performance.now();
      const { endedAt } = await load.next(201, PATIENTLY_MS);
      await load.more(SOME, PATIENTLY_MS);
      await load.end();
      const figures = expectInTime(load);
      expectWithin(endedAt - promotedAt, BACK_WITHIN_MS);
      await expectKept(load, server, env);
      // The promoted server has every delivery too, and the worker has found it.
      const db = lookInto(env);
      const waiting = () =>
        db.selectFrom('webhook_deliveries').select('id').where('status', '=', 'PENDING').limit(1).execute();
      await until('nothing waits any more', async () => (await waiting()).length === 0, PATIENTLY_MS);
      const told = new Set(receiver.received.map(({ body }) => body.data.id));
      expect([...load.acknowledged.keys()].filter((id) => !told.has(id))).toEqual([]);
      measured(3, `standby promoted: ${figures}; back ${seconds(endedAt - promotedAt)} after its promotion`);
    });
  });
