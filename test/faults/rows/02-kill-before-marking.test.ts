// engines: sqlite, postgres

import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { LEASE_MS } from '../../../src/webhooks/policy.ts';
import { effort, expectWithin, measured } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { HistoryNotes, nothingWaits } from '../../support/history/history.ts';
import {
  type Env,
  holdWriteLock,
  lookInto,
  migratedDatabase,
  SENDING,
  type ServerProcess,
  startServer,
} from '../../support/process.ts';
import { atOnce } from '../../support/responses.ts';
import { addClient, makeShop } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

const ROUNDS = effort(1, 4);
const RECEIVERS = effort(4, 20);
const WITHIN_MS = LEASE_MS + 5_000;
/** Another process is there already; otherwise one is started after the kill. */
const STANDS_BY = effort(false, ENGINE === 'postgres');

/** Keeps every process from writing down how a delivery ended, until it is let go. */
const holdDeliveries = async (env: Env): Promise<{ letGo(): void | Promise<void> }> => {
  if (ENGINE === 'sqlite') return holdWriteLock(env);
  const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await holder.connect();
  await holder.query('begin; lock table webhook_deliveries in exclusive mode');
  let isHeld = true;
  const letGo = async () => {
    if (!isHeld) return;
    isHeld = false;
    // What the dead process had sent would still be carried out: the server does not notice that its client is gone.
    await holder.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    await holder.end();
  };
  onTestFinished(letGo);
  return { letGo };
};

const acknowledgedBy = async (server: ServerProcess): Promise<number> => {
  const { body } = await server.get('/metrics', { ip: null });
  return Number(/handback_webhook_attempts_total\{result="acknowledged"\} (\d+)/.exec(body)?.[1] ?? 0);
};

it('deliveries are sent again in time if the process dies before it stores their 2xx', {
  timeout: scaled(ROUNDS * 60_000 + 60_000),
}, async () => {
  const history = new HistoryNotes();
  const env = await migratedDatabase(SENDING);
  const { shopId } = await makeShop(env);
  const held: ServerResponse[] = [];
  let isHolding = true;
  const receiver = await history.startReceiver((_n, response) => {
    if (!isHolding) return 200;
    held.push(response);
    return undefined;
  });
  const clients = await atOnce(RECEIVERS, (i) =>
    addClient(env, shopId, { name: `R${i}`, webhookUrl: receiver.url }),
  );
  const db = lookInto(env);
  const leases = () => db.selectFrom('webhook_leases').select('holder').execute();
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(env);
    const before = receiver.received.length;
    for (const { apiKey } of clients) expect(await server.create({}, { key: apiKey })).toHaveStatus(201);
    await until('every request waits for its response', () => held.length === RECEIVERS);
    const { letGo } = await holdDeliveries(env);
    isHolding = false;
    for (const response of held.splice(0)) response.writeHead(200).end();
    await until('the process has every 2xx', async () => (await acknowledgedBy(server)) >= RECEIVERS);
    // Only now: on a busy machine its start takes longer than a receiver may.
    const other = STANDS_BY ? await startServer(env) : null;
    const died = server.stop('SIGKILL');
    const killedAt = Date.now();
    await died;
    await letGo();
    const marked = await db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('status', '!=', 'PENDING')
      .execute();
    expect(marked).toHaveLength(round * RECEIVERS);

    // On PostgreSQL a dead process's leases run out by themselves; in short they are ended by hand.
    if (effort(ENGINE === 'postgres', false)) await db.deleteFrom('webhook_leases').execute();
    const left = await leases();
    const next = other ?? (await startServer(env));
    // On SQLite the process that starts is alone, and frees them.
    if (ENGINE === 'sqlite')
      expect((await leases()).filter(({ holder }) => holder === left[0]?.holder)).toEqual([]);
    await receiver.got(before + 2 * RECEIVERS, WITHIN_MS + 20_000);
    for (const { at } of receiver.received.slice(before + RECEIVERS)) delays.push(at - killedAt);
    await nothingWaits(db, 10_000);
    await next.stop();
    isHolding = true;
  }
  expectWithin(Math.max(...delays), WITHIN_MS);
  // The receiver took the first ones as well, though no process could note that.
  for (const receipt of history.receipts) receipt.status = 200;
  const { deliveries } = await history.judged(db);
  for (const { attempts } of deliveries) expect(attempts).toBe(1);
  expect(history.receipts).toHaveLength(2 * RECEIVERS * ROUNDS);
  measured(
    2,
    `${delays.length} deliveries in ${ROUNDS} kills, sent again after ${(Math.max(...delays) / 1000).toFixed(1)} s at most`,
  );
});
