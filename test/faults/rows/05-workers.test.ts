// engines: sqlite, postgres

import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { LEASE_MS, POOL_LIMITS } from '../../../src/webhooks/policy.ts';
import { ONLY_POSTGRES } from '../../support/engines.ts';
import { effort, measured, wrongClock } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { HistoryNotes, nothingWaits } from '../../support/history/history.ts';
import {
  lookInto,
  migratedDatabase,
  SENDING,
  type ServerProcess,
  startServer,
  withOwnTimeLimits,
} from '../../support/process.ts';
import type { Behaviour } from '../../support/receiver.ts';
import { atOnce } from '../../support/responses.ts';
import { addClient, makeShop } from '../../support/shops.ts';
import { needs } from '../../support/tools.ts';
import { scaled, until } from '../../support/until.ts';

withOwnTimeLimits();

const EVENTS = effort(300, 10_000);
const RECEIVERS = 5;
const CALLERS = 24;
/** On SQLite there is one process. */
const CLOCKS = ENGINE === 'postgres' ? ['+5s', '-5s', '+0s', '+0s'] : ['+5s'];
/** Open exchanges when a process falls asleep: as many as one process has with these receivers. */
const ASLEEP = effort(RECEIVERS, RECEIVERS * POOL_LIMITS.perReceiver);

const prepared = async (behaviour?: Behaviour) => {
  const history = new HistoryNotes();
  const receivers = await atOnce(RECEIVERS, () => history.startReceiver(behaviour));
  const env = await migratedDatabase(SENDING);
  const { shopId } = await makeShop(env);
  const clients = await Promise.all(
    receivers.map(({ url }, i) => addClient(env, shopId, { name: `R${i}`, webhookUrl: url })),
  );
  const create = async (server: ServerProcess, count: number): Promise<void> => {
    let begun = 0;
    const caller = async () => {
      while (begun < count) {
        begun += 1;
        const { id, apiKey } = clients[begun % RECEIVERS] as (typeof clients)[number];
        const response = await server.create({}, { key: apiKey });
        expect(response).toHaveStatus(201);
        history.noteCreation({ clientId: id }, response);
      }
    };
    await atOnce(CALLERS, caller);
  };
  const startWorker = (clock: string) =>
    startServer({ ...env, ...wrongClock(clock), ...(ENGINE === 'postgres' ? { ROLE: 'worker' } : {}) });
  return { history, env, create, startWorker, db: lookInto(env) };
};

it('workers whose clocks differ send each event in exactly one attempt', {
  ...needs('faketime'),
  timeout: scaled(180_000),
}, async () => {
  const { history, env, create, startWorker, db } = await prepared();
  if (ENGINE === 'postgres') {
    await create(await startServer({ ...env, ROLE: 'api' }), EVENTS);
    await Promise.all(CLOCKS.map(startWorker));
  } else await create(await startWorker('+5s'), EVENTS);
  await nothingWaits(db, 120_000);
  const { deliveries } = await history.judged(db);
  expect(deliveries).toHaveLength(EVENTS);
  for (const { status, attempts } of deliveries) expect([status, attempts]).toEqual(['DELIVERED', 1]);
  expect(history.receipts).toHaveLength(EVENTS);
  measured(
    5,
    `${CLOCKS.length} process${CLOCKS.length > 1 ? 'es' : ''}, ${EVENTS} events, ${history.receipts.length} attempts`,
  );
});

it('a worker that slept past its lease overwrites nothing when it wakes', {
  ...ONLY_POSTGRES,
  ...needs('faketime'),
}, async () => {
  const held: ServerResponse[] = [];
  const { history, env, create, startWorker, db } = await prepared((_n, response) => {
    if (held.length >= ASLEEP) return 200;
    held.push(response);
    return undefined;
  });
  const api = await startServer({ ...env, ROLE: 'api' });
  const sleeper = await startWorker('-5s');
  await create(api, ASLEEP);
  await until('every exchange has begun', () => held.length === ASLEEP, 15_000);
  sleeper.signal('SIGSTOP');
  // Its leases expire by themselves; in short mode the test ends them.
  if (effort(true, false)) await db.deleteFrom('webhook_leases').execute();
  const heirs = await Promise.all(['+5s', '+0s', '+0s'].map(startWorker));
  await nothingWaits(db, LEASE_MS + 30_000);
  const rows = () => db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute();
  const before = await rows();
  for (const { status, attempts } of before) expect([status, attempts]).toEqual(['DELIVERED', 1]);

  sleeper.signal('SIGCONT');
  for (const response of held) response.writeHead(500).end();
  // After its process has stopped, all its exchanges have ended.
  await sleeper.stop();
  await Promise.all(heirs.map((heir) => heir.stop()));
  expect(await rows()).toEqual(before);
  expect(history.receipts).toHaveLength(2 * ASLEEP);
  await history.judged(db);
  measured(5, `${ASLEEP} exchanges slept through, sent again by the others, 0 overwritten`);
});
