import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { readConfig } from '../../src/service/config.ts';
import { sweep } from '../../src/service/janitor.ts';
import { newPerson } from '../support/admin.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { effort } from '../support/faults.ts';
import { ENGINE, harness } from '../support/harness.ts';
import { holding, waitingBackends } from '../support/locks.ts';
import { migratedDatabase, startServer, timed } from '../support/process.ts';
import { addShops } from '../support/shops.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { UNOBSERVED } from '../support/unobserved.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

const LOCKED = 10;
/** More than may wait in the database for one shop. */
const CALLERS_EACH = effort(4, 12);
/** Between a refusal and the next try of the same caller, so that it is not the machine that is used up. */
const REST_MS = 20;
const MOVES = effort(25, 40);
/** Every answer comes within this time, docs/contract.md. */
const WITHIN_MS = 5_000;

if (ENGINE === 'postgres')
  describe('rows that somebody holds', () => {
    it('keep nobody in the team who is removed, and the janitor from nothing else', async () => {
      const t = await harness();
      const [admin, staff] = [await newPerson(t), await newPerson(t, { role: 'STAFF' })];
      const { body: repair } = await t.post('/offline-repairs', repairBody());
      await admin.post(`/offline-repairs/${repair.id}/assign`, { assigneeId: staff.id });
      const old = {
        status: 'DELIVERED',
        attempts: 1,
        attempt_log: '[]',
        due_at: 0,
        finished_at: 1,
        created_at: 1,
      } as const;
      await t.ctx.db
        .insertInto('webhook_deliveries')
        .values({ id: UNKNOWN_ID, client_id: t.client.id, event: 'webhook.test', body: '{}', ...old })
        .execute();
      const deliveries = () => t.ctx.db.selectFrom('webhook_deliveries').select('id').execute();
      const assignee = async () =>
        (await t.ctx.db.selectFrom('offline_repairs').select('assignee_id').executeTakeFirstOrThrow())
          .assignee_id;

      const { release } = await holding(t.env, 'select id from offline_repairs where id = $1 for update', [
        repair.id,
      ]);
      expect((await admin.delete(`/users/${staff.id}`)).status).toBe(204);
      expect((await staff.get('/session')).status).toBe(401);
      await sweep(t.ctx);
      expect([await deliveries(), await assignee()]).toEqual([[], staff.id]);
      await release();
      await sweep(t.ctx);
      expect(await assignee()).toBe(null);
    });

    it('stay with whoever is just taking them over from somebody who is removed', async () => {
      const t = await harness();
      const [admin, leaving, staying] = [await newPerson(t), await newPerson(t), await newPerson(t)];
      const { body: repair } = await t.post('/offline-repairs', repairBody());
      await admin.post(`/offline-repairs/${repair.id}/assign`, { assigneeId: leaving.id });
      const { keep } = await holding(t.env, 'update offline_repairs set assignee_id = $1', [staying.id]);
      const removed = admin.delete(`/users/${leaving.id}`);
      await until('the removal waits', () => waitingBackends(t.env));
      await keep();
      expect((await removed).status).toBe(204);
      const { body: after } = await admin.get(`/offline-repairs/${repair.id}`);
      expect(after.assignee.id).toBe(staying.id);
    });

    it('of ten shops cost no other shop anything, and leave nobody waiting on the server', async () => {
      const env = await migratedDatabase();
      const shops = await addShops(env, LOCKED + 1);
      const [healthy, ...others] = shops as [(typeof shops)[0], ...typeof shops];
      const server = await startServer(env);
      const { body: kept } = await server.post('/offline-repairs', repairBody(), {
        key: healthy.client.apiKey,
      });
      const { release } = await holding(
        env,
        'select shop_id from shop_counters where shop_id = any($1) for update',
        [others.map(({ shop }) => shop.id)],
      );
      // Each of them creates, twice over, and waits.
      const stuck = [...others, ...others].map(({ client }) =>
        timed(() => server.post('/offline-repairs', repairBody(), { key: client.apiKey })),
      );
      const mine = { key: healthy.client.apiKey };
      const calls = await Promise.all(
        Array.from({ length: 20 }, () => [
          timed(() => server.post('/offline-repairs', repairBody(), mine)),
          timed(() => server.get('/offline-repairs?limit=5', mine)),
          timed(() => server.get(`/offline-repairs/${kept.id}`, mine)),
          timed(() => server.post(`/offline-repairs/${kept.id}/begin-diagnostics`, {}, mine)),
        ]).flat(),
      );
      expect(calls.map(({ value }) => value.status).sort()).toEqual([
        ...Array(60).fill(200),
        ...Array(20).fill(201),
      ]);
      const answers = await Promise.all(stuck);
      for (const { value, ms } of answers) {
        expect(value.status).toBe(503);
        expect(value.headers.get('retry-after')).toBe('2');
        expectWithin(ms, WITHIN_MS);
      }
      await until(
        'nobody waits for the lock any more',
        async () => (await waitingBackends(env)) === 0,
        3_000,
      );
      await release();
      await until('they create again', async () => {
        const again = await Promise.all(
          others.map(({ client }) => server.post('/offline-repairs', repairBody(), { key: client.apiKey })),
        );
        return again.every(({ status }) => status === 201);
      });
    });

    it('of ten shops that move their returns again and again cost no other shop a move', async () => {
      const env = await migratedDatabase();
      const shops = await addShops(env, LOCKED + 1);
      const server = await startServer(env);
      const repairs = await Promise.all(
        shops.map(async ({ client }) => {
          const key = client.apiKey;
          return { key, id: (await server.post('/offline-repairs', repairBody(), { key })).body.id };
        }),
      );
      const [healthy, ...others] = repairs as [(typeof repairs)[0], ...typeof repairs];
      const move = ({ key, id }: (typeof repairs)[0]) =>
        timed(() => server.post(`/offline-repairs/${id}/begin-diagnostics`, {}, { key }));
      const { release } = await holding(
        env,
        'select shop_id from shop_counters where shop_id = any($1) for update',
        [shops.slice(1).map(({ shop }) => shop.id)],
      );
      let isOver = false;
      const callers = Array.from({ length: CALLERS_EACH }, () => others)
        .flat()
        .map(async (each) => {
          const seen = new Set<number>();
          while (!isOver) {
            seen.add((await move(each)).value.status);
            await pause(REST_MS);
          }
          return seen;
        });
      // Where the test fails, the server ends under them.
      for (const each of callers) each.catch(() => {});
      const moves = [];
      for (let i = 0; i < MOVES; i++) moves.push(await move(healthy));
      isOver = true;
      expect(moves.map(({ value }) => value.status)).toEqual(Array(MOVES).fill(200));
      for (const seen of await Promise.all(callers)) expect([...seen]).toEqual([503]);
      await until(
        'nobody waits for the lock any more',
        async () => (await waitingBackends(env)) === 0,
        3_000,
      );
      await release();
      await until('they move again', async () =>
        (await Promise.all(others.map(move))).every(({ value }) => value.status === 200),
      );
    });

    it('of a total hold up its own shop only', async () => {
      const env = await migratedDatabase();
      const [one, other] = await addShops(env, 2);
      const server = await startServer(env);
      const create = (of: typeof one) =>
        server.post('/offline-repairs', repairBody(), { key: of?.client.apiKey ?? '' });
      expect((await create(one)).status).toBe(201);
      const { release } = await holding(env, 'select 1 from rma_totals where shop_id = $1 for update', [
        one?.shop.id,
      ]);
      const stuck = Array.from({ length: 5 }, () => create(one));
      const free = await Promise.all(Array.from({ length: 5 }, () => create(other)));
      expect(free.map(({ status }) => status)).toEqual(Array(5).fill(201));
      await release();
      for (const { status } of await Promise.all(stuck)) expect([201, 503]).toContain(status);
    });

    it('of returns that are being moved leave other moves alone', async () => {
      const env = await migratedDatabase();
      const [one] = await addShops(env, 1);
      const server = await startServer(env, { key: one?.client.apiKey ?? '' });
      const repairs = await Promise.all(
        Array.from(
          { length: LOCKED + 1 },
          async () => (await server.post('/offline-repairs', repairBody())).body.id,
        ),
      );
      const [free, ...held] = repairs;
      const { release } = await holding(env, 'select 1 from offline_repairs where id = any($1) for update', [
        held,
      ]);
      const stuck = held.map((id) => timed(() => server.post(`/offline-repairs/${id}/close`)));
      const moves = await Promise.all(
        Array.from({ length: 10 }, () => server.post(`/offline-repairs/${free}/begin-repair`, {})),
      );
      expect(moves.map(({ status }) => status)).toEqual(Array(10).fill(200));
      for (const { value, ms } of await Promise.all(stuck)) {
        expect(value.status, server.stdout).toBe(503);
        expectWithin(ms, WITHIN_MS);
      }
      await release();
      expect((await server.post(`/offline-repairs/${held[0]}/close`)).status).toBe(200);
    });

    it('by a process that vanished are free again within seconds', async () => {
      const env = await migratedDatabase();
      const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
      const config = readConfig({ ...env, DATABASE_URL: proxy.through(env['DATABASE_URL'] as string) });
      const vanishing = openDatabase(config, UNOBSERVED);
      onTestFinished(() => vanishing.close());
      const [one] = await addShops(env, 1);
      const locked = Promise.withResolvers<void>();
      const locking = vanishing.db.selectFrom('shop_counters').select('shop_id').forUpdate().compile();
      const lost = vanishing.changeTransactions.pipelined([locking], () => {
        locked.resolve();
        proxy.forget();
        return { writes: [], result: null };
      });
      lost.catch(() => {});
      await locked.promise;
      const server = await startServer(env, { key: one?.client.apiKey ?? '' });
      await until(
        'the shop creates again',
        async () => (await server.post('/offline-repairs', repairBody())).status === 201,
        15_000,
      );
    });
  });
