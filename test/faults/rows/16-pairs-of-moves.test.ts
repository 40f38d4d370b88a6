// engines: sqlite, postgres

import { expect, it } from 'vitest';
import { effort, measured } from '../../support/faults.ts';
import { lookInto, migratedDatabase, type ServerProcess, startAll } from '../../support/process.ts';
import { makeShop } from '../../support/shops.ts';
import { scaled } from '../../support/until.ts';

const PAIRS = effort(40, 1_000);

it('pairs of simultaneous moves of one repair create distinct events', {
  timeout: scaled(180_000),
}, async () => {
  const env = await migratedDatabase();
  const { key } = await makeShop(env);
  const [one, other = one] = (await startAll(env, key)) as [ServerProcess, ServerProcess?];
  const { body: repair } = await one.create();
  const moves = `/offline-repairs/${repair.id}`;
  let made = 0;
  for (let i = 0; i < PAIRS; i++) {
    const responses = await Promise.all([
      one.post(`${moves}/begin-repair`),
      other.post(`${moves}/resolve`, { offlineDisposition: 'WRITE_OFF' }),
    ]);
    for (const response of responses) expect(response).toHaveStatus(200, 409);
    made += responses.filter(({ status }) => status === 200).length;
  }
  expect(made).toBeGreaterThanOrEqual(PAIRS);

  const rows = await lookInto(env).selectFrom('events').select(['body']).execute();
  const events = rows.map(({ body }) => JSON.parse(body));
  expect(events).toHaveLength(made + 1);
  const told = events.map(({ event, data, timestamp }) => `${event} ${data.id} ${timestamp}`);
  expect(new Set(told).size).toBe(told.length);
  measured(16, `${PAIRS} pairs, ${told.length} events, 0 equal`);
});
