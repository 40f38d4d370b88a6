import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { effort } from '../support/faults.ts';
import { deadlocks, holding, waitingBackends } from '../support/locks.ts';
import { migratedDatabase, type ServerProcess, startServer, timed } from '../support/process.ts';
import { addShops } from '../support/shops.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

const COUNTER = 'select 1 from shop_counters where shop_id = $1 for update';
const ROW = 'select 1 from offline_repairs where id = $1 for update';

const CALLERS = effort(80, 200);
/** Each time as long as a large batch of another process. */
const HELD_MS = 400;
const GAP_MS = 5;
/** Every answer comes within this time, docs/contract.md. */
const WITHIN_MS = 5_000;

const setUp = async () => {
  const env = await migratedDatabase();
  const [one] = await addShops(env, 1);
  const server = await startServer(env, { key: one?.client.apiKey ?? '' });
  const newRepair = async (): Promise<string> =>
    (await server.post('/offline-repairs', repairBody())).body.id;
  const entriesOf = async (id: string): Promise<number> =>
    (await server.get(`/offline-repairs/${id}/timeline`)).body.total;
  return { env, server, shopId: one?.shop.id ?? '', newRepair, entriesOf };
};
const move = (server: ServerProcess, id: string) =>
  server.post(`/offline-repairs/${id}/begin-diagnostics`, {});

describe('moves of a shop whose counter other transactions lock again and again', () => {
  it('are made in time or refused, and what was refused is never made', async () => {
    const { env, server, shopId, newRepair, entriesOf } = await setUp();
    const id = await newRepair();
    const { holder, release } = await holding(env, COUNTER, [shopId]);
    let isOver = false;
    const others = (async () => {
      while (!isOver) {
        await pause(HELD_MS);
        await release();
        await pause(GAP_MS);
        await holder.query('begin');
        await holder.query(COUNTER, [shopId]);
      }
      await release();
    })();
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => timed(() => move(server, id))));
    for (const { ms } of answers) expectWithin(ms, WITHIN_MS);
    const made = answers.filter(({ value }) => value.status === 200).length;
    expect(made).toBeGreaterThan(0);
    expect(answers.filter(({ value }) => value.status === 503)).toHaveLength(CALLERS - made);
    isOver = true;
    await others;
    // It comes behind all that still waits.
    expect((await move(server, id)).status).toBe(200);
    expect(await entriesOf(id)).toBe(1 + made + 1);
  });
});

describe('a return whose row another transaction has locked', () => {
  it('is refused alone, also where the counter of its shop was locked before', async () => {
    const { env, server, shopId, newRepair, entriesOf } = await setUp();
    const locked = await newRepair();
    const free = await Promise.all(Array.from({ length: 8 }, newRepair));
    const counter = await holding(env, COUNTER, [shopId]);
    const stuck = timed(() => move(server, locked));
    await until('the move waits', () => waitingBackends(env));
    const row = await holding(env, ROW, [locked]);
    await counter.release();
    let isOver = false;
    const ending = stuck.finally(() => {
      isOver = true;
    });
    const others: number[] = [];
    const moveOthers = async () =>
      others.push(...(await Promise.all(free.map((id) => move(server, id)))).map(({ status }) => status));
    while (!isOver) await moveOthers();
    const { value, ms } = await ending;
    expect(value.status).toBe(503);
    expectWithin(ms, WITHIN_MS);
    for (let round = 0; round < 5; round++) await moveOthers();
    expect(others).toEqual(Array(others.length).fill(200));
    await row.release();
    expect((await move(server, locked)).status).toBe(200);
    expect(await entriesOf(locked)).toBe(2);
  });

  it('does not hold its shop up for longer than its own deadline', async () => {
    const { env, server, newRepair } = await setUp();
    const [locked, free] = [await newRepair(), await newRepair()];
    await holding(env, ROW, [locked]);
    const stuck = Array.from({ length: 30 }, () => timed(() => move(server, locked)));
    const others = await Promise.all(Array.from({ length: 30 }, () => move(server, free)));
    expect(others.map(({ status }) => status)).toEqual(Array(30).fill(200));
    for (const { value, ms } of await Promise.all(stuck)) {
      expect(value.status).toBe(503);
      expectWithin(ms, WITHIN_MS);
    }
  });
});

describe('locks', () => {
  it('are taken on the counter first: a transaction that holds it may go on to the return', async () => {
    const { env, server, shopId, newRepair } = await setUp();
    const id = await newRepair();
    const { holder, keep } = await holding(env, COUNTER, [shopId]);
    const moving = move(server, id);
    await until('the move waits', () => waitingBackends(env));
    await holder.query('set local lock_timeout = 100');
    await holder.query("update offline_repairs set repair_notes = 'by the operator' where id = $1", [id]);
    await keep();
    const { status, body } = await moving;
    expect(status).toBe(200);
    expect(body.repairNotes).toBe('by the operator');
  });

  it('of the same shops in another order, in two processes, never meet in a deadlock', async () => {
    const env = await migratedDatabase();
    const shops = await addShops(env, 6);
    const keys = shops.map(({ client }) => client.apiKey);
    const servers = [await startServer(env), await startServer(env)];
    const [first] = servers as [ServerProcess, ServerProcess];
    const repairs = await Promise.all(
      keys.map(async (key) => (await first.post('/offline-repairs', repairBody(), { key })).body.id),
    );
    const before = await deadlocks(env);
    const rounds = Array.from({ length: effort(20, 60) }, (_, round) => round);
    const answers = await Promise.all(
      servers.map(async (server, i) => {
        const order = i === 0 ? keys : keys.toReversed();
        const got = [];
        for (const round of rounds)
          got.push(
            ...(await Promise.all(
              order.flatMap((key) => [
                server.post('/offline-repairs', repairBody({ notes: `${round}` }), { key }),
                server.post(`/offline-repairs/${repairs[keys.indexOf(key)]}/begin-repair`, {}, { key }),
              ]),
            )),
          );
        return got.map(({ status }) => status);
      }),
    );
    expect(new Set(answers.flat())).toEqual(new Set([200, 201]));
    expect(await deadlocks(env)).toBe(before);
  });
});
