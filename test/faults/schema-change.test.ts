import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { repairBody, tradeBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import { lookInto, migratedDatabase, type ServerProcess, startServer } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { addShops } from '../support/shops.ts';
import { until } from '../support/until.ts';

const CALLERS = 6;

/** One caller who does a bit of everything, again and again, until told to stop. */
const caller = async (
  server: ServerProcess,
  key: string,
  isOver: () => boolean,
  answers: Answer[],
): Promise<void> => {
  const ask = async (call: Promise<Answer>) => {
    const answer = await call;
    answers.push(answer);
    return answer;
  };
  while (!isOver()) {
    const { body } = await ask(server.post('/offline-repairs', repairBody(), { key }));
    await ask(server.get(`/offline-repairs/${body.id}`, { key }));
    await ask(server.post(`/offline-repairs/${body.id}/begin-repair`, { assignedToId: 'tech-1' }, { key }));
    await ask(server.get(`/offline-repairs/${body.id}/timeline`, { key }));
    await ask(server.get('/offline-repairs?limit=5', { key }));
    await ask(server.get('/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z&limit=2', { key }));
    await ask(server.post('/trade-returns', tradeBody(), { key, headers: { 'idempotency-key': body.id } }));
    await ask(server.get('/trade-returns?status=TRADE_SUBMITTED&limit=3', { key }));
  }
};

it('a column that an upgrade adds to each table is noticed by nobody', { timeout: 120_000 }, async () => {
  const receiver = await startReceiver();
  const env = { ...(await migratedDatabase()), WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };
  const [one] = await addShops(env, 1, () => receiver.url);
  const key = one?.client.apiKey ?? '';
  const server = await startServer(env);
  const db = lookInto(env);
  const tables = await db.introspection.getTables();

  const answers: Answer[] = [];
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, () => caller(server, key, () => isOver, answers));
  await until('the load is on', () => answers.length > 100, 30_000);
  for (const { name } of tables.filter((table) => !table.isView)) {
    const before = answers.length;
    // As a migration would: one that must wait long gives up and tries again, so that nobody queues behind it.
    await until(`a column is added to ${name}`, () =>
      db.connection().execute(async (alone) => {
        if (ENGINE === 'postgres') await sql`set lock_timeout = 500`.execute(alone);
        return sql`alter table ${sql.table(name)} add column added_later text`.execute(alone).then(
          () => true,
          () => false,
        );
      }),
    );
    await until(`requests were answered after ${name}`, () => answers.length > before + 30, 30_000);
  }
  isOver = true;
  await Promise.all(callers);
  const failed = answers.filter(({ status }) => status >= 400);
  expect(failed.map(({ status, body }) => ({ status, body }))).toEqual([]);
  expect(tables.length).toBeGreaterThan(12);
  const created = answers.filter(({ status }) => status === 201).length;
  await receiver.got(created, 30_000);
});
