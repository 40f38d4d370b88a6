// engines: sqlite, postgres

import { expect, it } from 'vitest';
import { repairBody } from '../../support/bodies.ts';
import { expectWithin, FULL, measured, movableClock, type SetClock } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import { type Env, migratedDatabase, ownPostgres, SENDING, startServer } from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeShop } from '../../support/shops.ts';
import { needs, onlyIf } from '../../support/tools.ts';

const HOUR_MS = 3_600_000;

/** A service whose time comes from that clock: its machine's on SQLite, its database's on PostgreSQL. */
const timedBy = async (clock: SetClock): Promise<{ env: Env; own: Env }> => {
  if (ENGINE === 'sqlite') return { env: await migratedDatabase(), own: clock.env };
  return { env: (await ownPostgres({ env: clock.env })).env, own: {} };
};

// Except in full mode, test/faults/clocks.test.ts and test/webhooks/clocks.test.ts cover this on PostgreSQL.
it('a clock that jumps back an hour fails nothing: times increase, events are sent, retries are on time, the feed has no gap', {
  ...onlyIf(ENGINE === 'sqlite' || FULL, 'in short on SQLite only'),
  ...needs('faketime'),
}, async () => {
  const clock = movableClock();
  const { env, own } = await timedBy(clock);
  // The first attempt after the jump fails, so a retry is due by a clock that has just been set.
  const receiver = await startReceiver((n) => (n === 3 ? 500 : 200));
  const { key } = await makeShop(env, { webhookUrl: receiver.url });
  const server = await startServer({ ...env, ...own, ...SENDING }, { key });
  const change = async (path: string, body?: object): Promise<{ id: string; updatedAt: string }> => {
    const response = await server.post(path, body);
    expect(response).toHaveStatus(200, 201, 204);
    return response.body;
  };
  const before = [
    await change('/offline-repairs', repairBody()),
    await change('/offline-repairs', repairBody()),
  ];
  await receiver.got(2);
  clock.set(Date.now() - HOUR_MS);
  const after = [
    await change(`/offline-repairs/${before[0]?.id}/begin-repair`),
    await change(`/offline-repairs/${before[0]?.id}/close`),
    await change('/offline-repairs', repairBody()),
  ];
  const times = [...before, ...after].map(({ updatedAt }) => Date.parse(updatedAt));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  const jumpedAt = performance.now();
  await receiver.got(6, 20_000);
  expectWithin(performance.now() - jumpedAt, 10_000);
  const { body } = await server.get('/events');
  expect(body.items).toHaveLength(5);
  expect(body.items.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp))).toEqual(times);
  measured(19, 'clock an hour back: 0 failed, times rise, every event sent');
});
