// engines: sqlite, postgres

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { tradeBody } from '../../support/bodies.ts';
import { effort, measured } from '../../support/faults.ts';
import { type ApiResponse, ENGINE } from '../../support/harness.ts';
import {
  emptyDatabase,
  lookInto,
  SECRET_KEY,
  type ServerProcess,
  startAll,
  withOwnTimeLimits,
} from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { repeatedly } from '../../support/responses.ts';
import { makeShop, startShop } from '../../support/shops.ts';
import { until } from '../../support/until.ts';

withOwnTimeLimits();

const PROCESSES = ENGINE === 'postgres' ? 2 : 1;
const CALLERS = 6;

it('processes that start at once on an empty database all serve from it', { timeout: 120_000 }, async () => {
  const rounds = effort(2, 10);
  for (let round = 0; round < rounds; round++) {
    const env = { ...(await emptyDatabase()), SECRET_KEY };
    const servers = await startAll(env);
    const { key } = await makeShop(env);
    const numbers: string[] = [];
    for (const server of servers) {
      const response = await server.create({}, { key });
      expect(response).toHaveStatus(201);
      numbers.push(response.body.rmaNumber);
    }
    expect(numbers).toEqual(numbers.map((_, i) => `#RMA-00000${i + 1}`));
    for (const server of servers) {
      const { body } = await server.get('/offline-repairs', { key });
      expect(body.items).toHaveLength(numbers.length);
      await server.stop();
    }
  }
  measured(20, `${rounds} empty databases, each migrated by processes that start at once: ${PROCESSES}`);
});

/** Calls of every kind: creations, moves, reads and lists. */
const callAll = async (server: ServerProcess, responses: ApiResponse[]): Promise<void> => {
  const ask = async (call: Promise<ApiResponse>) => {
    const response = await call;
    responses.push(response);
    return response;
  };
  const { body } = await ask(server.create());
  await ask(server.get(`/offline-repairs/${body.id}`));
  await ask(server.post(`/offline-repairs/${body.id}/begin-repair`, { assignedToId: 'tech-1' }));
  await ask(server.get(`/offline-repairs/${body.id}/timeline`));
  await ask(server.get('/events?limit=2'));
  await ask(server.get('/deliveries?limit=2'));
  await ask(server.get('/offline-repairs?limit=5'));
  await ask(server.get('/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z&limit=2'));
  await ask(server.post('/trade-returns', tradeBody(), { headers: { 'idempotency-key': body.id } }));
  await ask(server.get('/trade-returns?status=TRADE_SUBMITTED&limit=3'));
};

it('a column that an upgrade adds to each table fails no request', { timeout: 300_000 }, async () => {
  const receiver = await startReceiver();
  const { env, server } = await startShop({ webhookUrl: receiver.url });
  const db = lookInto(env);
  const tables = await db.introspection.getTables();

  const responses: ApiResponse[] = [];
  const endCallers = repeatedly(CALLERS, () => callAll(server, responses));
  await until('the load is on', () => responses.length > 60, 30_000);
  for (const { name } of tables) {
    const before = responses.length;
    // As a migration would: one that must wait long gives up and tries again, so that no request queues behind it.
    await until(`a column is added to ${name}`, () =>
      db.connection().execute(async (alone) => {
        if (ENGINE === 'postgres') await sql`set lock_timeout = 500`.execute(alone);
        return sql`alter table ${sql.table(name)} add column added_later text`.execute(alone).then(
          () => true,
          () => false,
        );
      }),
    );
    await until(
      `requests were answered after ${name}`,
      () => responses.length > before + effort(12, 100),
      60_000,
    );
  }
  await endCallers();
  for (const response of responses) expect(response).toHaveStatus(200, 201, 204);
  expect(tables.length).toBeGreaterThan(12);
  const created = responses.filter(({ status }) => status === 201).length;
  await receiver.got(created, 30_000);
  measured(20, `${responses.length} responses while ${tables.length} tables got a column, 0 of them 5xx`);
});
