import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newPerson, type Person } from '../support/admin.ts';
import { repairBody } from '../support/bodies.ts';
import { type Harness, harness } from '../support/harness.ts';
import { until } from '../support/until.ts';

// On SQLite, reads of many rows run in threads.

/** At every position such a text matches the word except for its last letter, which takes some milliseconds to find out. */
const LONG_TEXT = 'a'.repeat(10_000);
const SLOW_WORD = `${'a'.repeat(90)}b`;
const SLOW_ROWS = 60;
const GETS = 5;

/** Repairs like the first one, with these values for the columns instead, in which `n` counts from 1. */
const copyRepairs = async ({ ctx: { db } }: Harness, count: number, values: Record<string, string>) => {
  const row = await db.selectFrom('offline_repairs').selectAll().executeTakeFirstOrThrow();
  const columns = Object.keys(row);
  const selected = columns.map((column) => sql`${sql.raw(values[column] ?? column)}`);
  await sql`
    with recursive n(n) as (select 1 union all select n + 1 from n where n < ${count})
    insert into offline_repairs (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(selected)} from n, offline_repairs where id = ${row.id}`.execute(db);
};
/** Far from the ids and numbers that the service gives. */
const COPY = { id: `printf('%s%012x', substr(id, 1, 24), n)`, number: 'number + 1000000 + n' };

/** The threads that are started from now on. */
const startedThreads = (): Worker[] => {
  const threads: Worker[] = [];
  const add = (thread: Worker) => void threads.push(thread);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return threads;
};

/** A shop with a repair, in which a search for `SLOW_WORD` takes long. */
const slowShop = async () => {
  const threads = startedThreads();
  const t = await harness();
  const { body: repair } = await t.post('/offline-repairs', repairBody());
  await copyRepairs(t, SLOW_ROWS, { ...COPY, search_text: `'${LONG_TEXT}'` });
  const staff = await newPerson(t, { role: 'STAFF' });
  return { t, staff, repair, threads };
};

/** Resolves when each of these threads has been sent a query. */
const areAsked = (threads: Worker[]): Promise<unknown> =>
  Promise.all(
    threads.map((thread) => {
      const ask = thread.postMessage.bind(thread);
      return new Promise<void>((resolve) => {
        thread.postMessage = (query) => {
          ask(query);
          resolve();
        };
      });
    }),
  );

/** Whether this many requests, one after another, get their response before the page gets its own. */
const areServedBeside = async (t: Harness, staff: Person, page: string, repairId: string) => {
  let isOver = false;
  const response = staff.get(page).then((value) => {
    isOver = true;
    return value;
  });
  for (let i = 0; i < GETS; i++) expect(await t.get(`/offline-repairs/${repairId}`)).toHaveStatus(200);
  const wereFirst = !isOver;
  expect(await response).toHaveStatus(200);
  return wereFirst;
};

describe('on SQLite', () => {
  it('other requests are served while a search, a text filter and an overview run', async () => {
    const { t, staff, repair, threads } = await slowShop();
    expect(await areServedBeside(t, staff, `/search?q=${SLOW_WORD}`, repair.id)).toBe(true);
    expect(await areServedBeside(t, staff, `/offline-repairs?q=${SLOW_WORD}`, repair.id)).toBe(true);
    // Searches keep all threads busy, for which an overview must wait and a request must not.
    const busy = areAsked(threads);
    const searches = threads.map(() => staff.get(`/search?q=${SLOW_WORD}`));
    await busy;
    expect(await areServedBeside(t, staff, '/overview', repair.id)).toBe(true);
    await Promise.all(searches);
  });

  it('a search whose threads end gets a 503, and the next one starts new threads', async () => {
    const { staff, threads, repair } = await slowShop();
    expect((await staff.get('/search?q=kettle')).body.items).toMatchObject([{ id: repair.id }]);
    const before = [...threads];
    const asked = areAsked(before);
    const cutOff = staff.get(`/search?q=${SLOW_WORD}`, { unchecked: true });
    await asked;
    await Promise.all(before.map((thread) => thread.terminate()));
    expect(await cutOff).toFailWith(503, 'SERVICE_UNAVAILABLE');
    expect((await staff.get('/search?q=kettle')).body.items).toMatchObject([{ id: repair.id }]);
    expect(threads.length).toBeGreaterThan(before.length);
  });

  it('a thread prepares a statement once, however often it runs', async () => {
    const { staff, threads } = await slowShop();
    const search = async (times: number) => {
      for (let i = 0; i < times; i++) expect(await staff.get('/search?q=kettle')).toHaveStatus(200);
    };
    const handles = async () =>
      (await Promise.all(threads.map((thread) => thread.getHeapStatistics()))).reduce(
        (sum, { used_global_handles_size }) => sum + used_global_handles_size,
        0,
      );
    await search(20);
    const before = await handles();
    await search(100);
    expect((await handles()) - before).toBeLessThan(1_000);
  });

  it('a thread checkpoints a WAL that has become long', async () => {
    const { t, threads } = await slowShop();
    const { db } = t.ctx;
    // A page for each row, and one for its position in the indexes.
    await copyRepairs(t, 1_000, {
      id: `printf('%s%012x', substr(id, 1, 24), ${SLOW_ROWS} + n)`,
      number: `number + 2000000 + n`,
      search_text: `'${'a'.repeat(4_000)}'`,
    });
    expect(threads).toEqual([]);
    await until('it is in the file', async () => {
      await db.updateTable('shops').set({ name: 'Kettles' }).execute();
      const { rows } = await sql<{ checkpointed: number }>`pragma wal_checkpoint(noop)`.execute(db);
      return rows.some(({ checkpointed }) => checkpointed > 2_000);
    });
    expect(threads).toHaveLength(1);
  });

  it('the threads start with a search, end with the service, and leave no WAL behind', async () => {
    const { t, staff, threads, repair } = await slowShop();
    await t.get('/offline-repairs');
    await t.get(`/offline-repairs/${repair.id}/timeline`);
    expect(threads).toEqual([]);
    await staff.get('/search?q=kettle');
    const log = join(t.env['DATA_DIR'] ?? '', 'handback.sqlite-wal');
    expect(existsSync(log)).toBe(true);
    await t.app.close();
    await t.ctx.close();
    await t.ctx.scrub();
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
    expect(existsSync(log)).toBe(false);
  });
});
