// engines: postgres

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sweep } from '../../../src/app/janitor.ts';
import { newPerson } from '../../support/admin.ts';
import { UNKNOWN_ID } from '../../support/api.ts';
import { repairBody } from '../../support/bodies.ts';
import { openOn } from '../../support/database.ts';
import { ANSWERED_WITHIN_MS, effort, expectWithin } from '../../support/faults.ts';
import { harness } from '../../support/harness.ts';
import {
  type Env,
  migratedDatabase,
  type ServerProcess,
  startServer,
  timed,
  withOwnTimeLimits,
} from '../../support/process.ts';
import { startTcpProxy } from '../../support/proxies.ts';
import { atOnce, repeatedly } from '../../support/responses.ts';
import { addShops, makeShop, startShop } from '../../support/shops.ts';
import { until } from '../../support/until.ts';

withOwnTimeLimits();

// Rows that another transaction has locked: another process's, or that of an operator with a database tool.

const COUNTERS = 'select 1 from shop_counters where shop_id = any($1) for update';
const REPAIR = 'select 1 from offline_repairs where id = $1 for update';

/** Another transaction that has run this statement and waits. */
const holding = async (env: Env, statement: string, values: unknown[]) => {
  const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query(statement, values);
  return { holder, release: () => holder.query('rollback'), keep: () => holder.query('commit') };
};

const figure = async (env: Env, select: string): Promise<number> => {
  const watcher = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await watcher.connect();
  const { rows } = await watcher.query(select);
  await watcher.end();
  return Number(rows[0].figure);
};

const waitingBackends = (env: Env): Promise<number> =>
  figure(
    env,
    `select count(*) as figure from pg_stat_activity
     where application_name = 'handback' and wait_event_type = 'Lock' and datname = current_database()`,
  );

/** A server with so many shops; requests carry the first one's key. */
const setUp = async (shops = 1) => {
  const first = await startShop();
  const { env, server } = first;
  const newRepair = async (options = {}): Promise<string> => (await server.create({}, options)).body.id;
  const entriesOf = async (id: string): Promise<number> =>
    (await server.get(`/offline-repairs/${id}/timeline`)).body.total;
  return { ...first, shops: [first, ...(await addShops(env, shops - 1))], newRepair, entriesOf };
};
const move = (server: ServerProcess, id: string, options = {}) =>
  server.post(`/offline-repairs/${id}/begin-diagnostics`, {}, options);

describe('a return whose row is locked', () => {
  it('does not block the removal of a user, and the janitor skips only that return', async () => {
    const t = await harness();
    const [admin, staff] = [await newPerson(t), await newPerson(t, { role: 'STAFF' })];
    const { body: repair } = await t.post('/offline-repairs', repairBody());
    await admin.post(`/offline-repairs/${repair.id}/assign`, { assigneeId: staff.id });
    const old = { attempts: 1, attempt_log: '[]', due_at: 0, finished_at: 1, created_at: 1 };
    const event = { event: 'webhook.test', body: '{}', status: 'DELIVERED' } as const;
    await t.ctx.db
      .insertInto('webhook_deliveries')
      .values({ id: UNKNOWN_ID, receiver_id: t.client.id, ...event, ...old })
      .execute();
    const deliveries = () => t.ctx.db.selectFrom('webhook_deliveries').select('id').execute();
    const assignee = async () =>
      (await t.ctx.db.selectFrom('offline_repairs').select('assignee_id').executeTakeFirstOrThrow())
        .assignee_id;

    const { release } = await holding(t.env, REPAIR, [repair.id]);
    expect(await admin.delete(`/users/${staff.id}`)).toHaveStatus(204);
    expect(await staff.get('/session')).toHaveStatus(401);
    await sweep(t.ctx);
    expect([await deliveries(), await assignee()]).toEqual([[], staff.id]);
    await release();
    await sweep(t.ctx);
    expect(await assignee()).toBe(null);
  });

  it('stays with the user who takes it over from one who is being removed', async () => {
    const t = await harness();
    const [admin, leaving, staying] = [await newPerson(t), await newPerson(t), await newPerson(t)];
    const { body: repair } = await t.post('/offline-repairs', repairBody());
    await admin.post(`/offline-repairs/${repair.id}/assign`, { assigneeId: leaving.id });
    const { keep } = await holding(t.env, 'update offline_repairs set assignee_id = $1', [staying.id]);
    const removed = admin.delete(`/users/${leaving.id}`);
    await until('the removal waits', () => waitingBackends(t.env));
    await keep();
    expect(await removed).toHaveStatus(204);
    const { body: after } = await admin.get(`/offline-repairs/${repair.id}`);
    expect(after.assignee.id).toBe(staying.id);
  });

  it('is refused alone, even if the counter of its shop was locked before', async () => {
    const { env, server, shopId, newRepair, entriesOf } = await setUp();
    const locked = await newRepair();
    const free = await atOnce(8, () => newRepair());
    const counter = await holding(env, COUNTERS, [[shopId]]);
    const stuck = timed(() => move(server, locked));
    await until('the move waits', () => waitingBackends(env));
    const row = await holding(env, REPAIR, [locked]);
    await counter.release();
    const moveOthers = async () => {
      for (const response of await Promise.all(free.map((id) => move(server, id))))
        expect(response).toHaveStatus(200);
    };
    const endOthers = repeatedly(1, moveOthers);
    const { value, ms } = await stuck;
    await endOthers();
    expect(value).toHaveStatus(503);
    expectWithin(ms, ANSWERED_WITHIN_MS);
    for (let round = 0; round < 5; round++) await moveOthers();
    await row.release();
    expect(await move(server, locked)).toHaveStatus(200);
    expect(await entriesOf(locked)).toBe(2);
  });

  it('does not block its shop for longer than its own deadline', async () => {
    const { env, server, newRepair } = await setUp();
    const [locked, free] = [await newRepair(), await newRepair()];
    await holding(env, REPAIR, [locked]);
    const stuck = Array.from({ length: 30 }, () => timed(() => move(server, locked)));
    const others = await atOnce(30, () => move(server, free));
    expect(others).toHaveStatuses({ 200: 30 });
    for (const { value, ms } of await Promise.all(stuck)) {
      expect(value).toHaveStatus(503);
      expectWithin(ms, ANSWERED_WITHIN_MS);
    }
  });
});

describe('a shop whose counter is locked', () => {
  it('causes a log line that names the session, but not its statement', async () => {
    const { env, server, shopId } = await setUp();
    const { holder, release } = await holding(env, COUNTERS, [[shopId]]);
    const { rows } = await holder.query("select pg_backend_pid() as pid, 'secret' as mark");
    const message = 'requests wait for locks that other sessions of the database hold';
    const lines = () => server.logs().filter(({ msg }) => msg === message);
    await until('it is logged', async () => {
      expect(await server.create()).toHaveStatus(503);
      return lines()[0];
    });
    await release();
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 40,
        sessions: [
          {
            pid: rows[0].pid,
            application: '',
            state: 'idle in transaction',
            since: expect.stringMatching(/Z$/),
            blocks: expect.any(Number),
            blocksOwn: expect.any(Number),
            waitsItself: false,
          },
        ],
      }),
    ]);
    expect(server.stdout).not.toMatch(/secret|for update/);
  });

  const CALLERS = effort(80, 200);
  /** Each time as long as a large batch of another process. */
  const HELD_MS = 400;
  const GAP_MS = 5;

  it('again and again makes its moves in time or refuses them, and a refused move is never made', async () => {
    const { env, server, shopId, newRepair, entriesOf } = await setUp();
    const id = await newRepair();
    const { holder, release } = await holding(env, COUNTERS, [[shopId]]);
    const endOthers = repeatedly(1, async () => {
      await pause(HELD_MS);
      await release();
      await pause(GAP_MS);
      await holder.query('begin');
      await holder.query(COUNTERS, [[shopId]]);
    });
    const responses = await atOnce(CALLERS, () => timed(() => move(server, id)));
    for (const { ms } of responses) expectWithin(ms, ANSWERED_WITHIN_MS);
    const made = responses.filter(({ value }) => value.status === 200).length;
    expect(made).toBeGreaterThan(0);
    for (const { value } of responses) expect(value).toHaveStatus(200, 503);
    await endOthers();
    await release();
    // It queues behind all that still wait.
    expect(await move(server, id)).toHaveStatus(200);
    expect(await entriesOf(id)).toBe(1 + made + 1);
  });

  /** Of each locked shop, together more than may wait in the database. */
  const CALLERS_EACH = effort(4, 12);
  /** Between a refusal and the next try of the same caller, so that it is not the machine that is used up. */
  const REST_MS = 20;
  const ROUNDS = effort(12, 20);

  it('does not delay other shops while ten of them create and move continuously, and leaves nobody waiting', async () => {
    const { env, shops, server, newRepair } = await setUp(11);
    const callers = await Promise.all(shops.map(async ({ key }) => ({ key, id: await newRepair({ key }) })));
    const [healthy, ...locked] = callers as [(typeof callers)[0], ...typeof callers];
    const create = ({ key }: { key: string }) => server.create({}, { key });
    const { release } = await holding(env, COUNTERS, [shops.slice(1).map(({ shopId }) => shopId)]);
    let refusals = 0;
    const endRefused = repeatedly(CALLERS_EACH * locked.length, async (i) => {
      const { key, id } = locked[i % locked.length] as (typeof locked)[0];
      const { value, ms } = await timed(() => (i % 2 ? move(server, id, { key }) : create({ key })));
      expect(value).toHaveStatus(503);
      expect(value.headers.get('retry-after')).toBe('2');
      expectWithin(ms, ANSWERED_WITHIN_MS);
      refusals += 1;
      await pause(REST_MS);
    });
    const mine = { key: healthy.key };
    for (let round = 0; round < ROUNDS || refusals < locked.length; round++) {
      const calls = [
        create(mine),
        move(server, healthy.id, mine),
        server.get('/offline-repairs?limit=5', mine),
        server.get(`/offline-repairs/${healthy.id}`, mine),
      ];
      expect(await Promise.all(calls)).toHaveStatuses([201, 200, 200, 200]);
    }
    await endRefused();
    await until('no one waits for the lock', async () => (await waitingBackends(env)) === 0);
    await release();
    await until('they create again', async () =>
      (await Promise.all(locked.map(create))).every(({ status }) => status === 201),
    );
  });

  it('by a vanished process is free again within seconds', async () => {
    const env = await migratedDatabase();
    const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
    const vanishing = openOn({ ...env, DATABASE_URL: proxy.url });
    const { key } = await makeShop(env);
    const locked = Promise.withResolvers<void>();
    const locking = vanishing.db.selectFrom('shop_counters').select('shop_id').forUpdate().compile();
    const lost = vanishing.changeTransactions.pipelined([locking], () => {
      locked.resolve();
      proxy.forget();
      return { writes: [], result: null };
    });
    lost.catch(() => {});
    await locked.promise;
    const server = await startServer(env, { key });
    await expect.poll(() => server.create()).toHaveStatus(201);
  });
});

it('a locked row of totals blocks its own shop only', async () => {
  const { env, shops, shopId, server } = await setUp(2);
  const create = (i: number) => server.create({}, { key: shops[i]?.key ?? '' });
  expect(await create(0)).toHaveStatus(201);
  const { release } = await holding(env, 'select 1 from rma_totals where shop_id = $1 for update', [shopId]);
  const stuck = atOnce(5, () => create(0));
  expect(await atOnce(5, () => create(1))).toHaveStatuses({ 201: 5 });
  await release();
  for (const response of await stuck) expect(response).toHaveStatus(201, 503);
});

describe('locks', () => {
  it('are taken on the counter first: a transaction that holds it can continue to the return', async () => {
    const { env, server, shopId, newRepair } = await setUp();
    const id = await newRepair();
    const { holder, keep } = await holding(env, COUNTERS, [[shopId]]);
    const moving = move(server, id);
    await until('the move waits', () => waitingBackends(env));
    await holder.query('set local lock_timeout = 100');
    await holder.query("update offline_repairs set repair_notes = 'by the operator' where id = $1", [id]);
    await keep();
    const response = await moving;
    expect(response).toHaveStatus(200);
    expect(response.body.repairNotes).toBe('by the operator');
  });

  it('of the same shops in a different order, in two processes, never deadlock', async () => {
    const { env, shops, server, newRepair } = await setUp(6);
    const keys = shops.map(({ key }) => key);
    const servers = [server, await startServer(env)];
    const repairs = await Promise.all(keys.map((key) => newRepair({ key })));
    const deadlocks = () =>
      figure(env, 'select deadlocks as figure from pg_stat_database where datname = current_database()');
    const before = await deadlocks();
    const callAll = async (at: ServerProcess, i: number): Promise<void> => {
      const order = i === 0 ? keys : keys.toReversed();
      for (let round = 0; round < effort(20, 60); round++) {
        const calls = order.flatMap((key) => [
          at.create({ notes: `${round}` }, { key }),
          at.post(`/offline-repairs/${repairs[keys.indexOf(key)]}/begin-repair`, {}, { key }),
        ]);
        for (const response of await Promise.all(calls)) expect(response).toHaveStatus(200, 201);
      }
    };
    await Promise.all(servers.map(callAll));
    expect(await deadlocks()).toBe(before);
  });
});
