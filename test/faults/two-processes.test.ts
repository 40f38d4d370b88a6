import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { type Answer, ENGINE } from '../support/harness.ts';
import {
  cli,
  type Env,
  lookInto,
  migratedDatabase,
  type ServerProcess,
  startServer,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const twoServers = async (env: Env, key: string): Promise<[ServerProcess, ServerProcess]> =>
  Promise.all([startServer(env, { key }), startServer(env, { key })]);

const statuses = (answers: Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe.runIf(ENGINE === 'postgres')('two processes on one database', () => {
  it('share an allowance: of 40 creations with 7 places left, exactly 7 succeed', async () => {
    const env = await migratedDatabase();
    const { shopId, key } = await makeShop(env, { allowance: 10 });
    const servers = await twoServers(env, key);
    const create = (i: number) => (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody());
    for (let i = 0; i < 3; i++) expect((await create(i)).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => create(i)));
    expect(statuses(answers)).toEqual({ 201: 7, 403: 33 });
    const refused = answers.filter((answer) => answer.status === 403);
    expect(new Set(refused.map((answer) => answer.body.code))).toEqual(new Set(['LIMIT_EXCEEDED']));
    const db = lookInto(env);
    const rows = await db.selectFrom('offline_repairs').select('number').orderBy('number').execute();
    expect(rows.map((row) => row.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const counter = await db.selectFrom('shop_counters').selectAll().executeTakeFirstOrThrow();
    expect(counter).toMatchObject({ shop_id: shopId, month_used: 10, last_number: 10 });
  });

  it('give every RMA a number of its own', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const servers = await twoServers(env, key);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        (servers[i % 2] as ServerProcess).post('/offline-repairs', repairBody()),
      ),
    );
    expect(statuses(answers)).toEqual({ 201: 60 });
    expect(new Set(answers.map((answer) => answer.body.rmaNumber)).size).toBe(60);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(60);
  });

  it('both turn away a key from the very next request after it was revoked', async () => {
    const env = await migratedDatabase();
    const { clientId, key } = await makeShop(env);
    const servers = await twoServers(env, key);
    for (const server of servers) expect((await server.get('/offline-repairs')).status).toBe(200);
    await cli(['client', 'revoke', clientId], env);
    for (const server of servers) {
      expect((await server.get('/offline-repairs')).status).toBe(401);
      expect((await server.post('/offline-repairs', repairBody())).status).toBe(401);
    }
  });

  it('go on when one of them is killed', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env);
    const [one, other] = await twoServers(env, key);
    const { body } = await one.post('/offline-repairs', repairBody());
    expect((await one.stop('SIGKILL')).signal).toBe('SIGKILL');
    expect((await other.get(`/offline-repairs/${body.id}`)).status).toBe(200);
    expect((await other.post('/offline-repairs', repairBody())).body.rmaNumber).toBe('#RMA-000002');
  });
});

describe.runIf(ENGINE === 'sqlite')('one process on SQLite', () => {
  it('keeps to an allowance under concurrent creations', async () => {
    const env = await migratedDatabase();
    const { key } = await makeShop(env, { allowance: 7 });
    const server = await startServer(env, { key });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => server.post('/offline-repairs', repairBody())),
    );
    expect(statuses(answers)).toEqual({ 201: 7, 403: 33 });
    const rows = await lookInto(env).selectFrom('offline_repairs').select('number').execute();
    expect(new Set(rows.map((row) => row.number)).size).toBe(7);
  });
});
