import { randomBytes } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Database, Db } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { addMonth, changeParts, monthOf, partsOf } from '../../src/db/postgres/parts.ts';
import { SCHEMA_WORDS } from '../../src/db/postgres/schema-words.ts';
import type { Tables } from '../../src/db/tables.ts';
import { readFeed } from '../../src/events/feed.ts';
import { lowestId, newId } from '../../src/ids.ts';
import { sweep } from '../../src/janitor.ts';
import { due } from '../../src/webhooks/worker/queue.ts';
import { settle } from '../../src/webhooks/worker/settle.ts';
import { newRepair, UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { planOf, readsIn, readsOfMonth, watched } from '../support/plans.ts';
import { onServer } from '../support/postgres-databases.ts';
import { type Env, emptyDatabase } from '../support/process.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const TABLES = ['events', 'webhook_deliveries'] as const;

const named = (table: string, ms: number): string =>
  `${table}_${new Date(ms).toISOString().slice(0, 7).replace('-', '_')}`;
const namesOf = async (db: Db, table: (typeof TABLES)[number]): Promise<string[]> =>
  ((await partsOf(db, table)) ?? []).map(({ name }) => name).sort();
/** In which part each event lies. */
const placesOf = async (db: Db): Promise<string[]> => {
  const { rows } = await sql<{ part: string }>`
    select tableoid::regclass::text as part from events order by id`.execute(db);
  return rows.map(({ part }) => part);
};
const feedOf = async (t: Harness): Promise<string[]> =>
  (await t.get('/events?limit=100')).body.items.map(({ data }: { data: { id: string } }) => data.id);
const databaseFaults = ({ logs }: Harness) =>
  logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'database fault');

/** Moves the clock into the middle of a month to come. */
const toMonth = (t: Harness, later: number): number => {
  const month = monthOf(t.ctx.clock.now(), later);
  t.clock.advance(month + 14 * DAY_MS - t.ctx.clock.now());
  return month;
};

const rowOf = (id: string, position: number) => ({
  ...{ shop_id: UNKNOWN_ID, position, id, rma_id: UNKNOWN_ID },
  ...{ event: 'offline_repair.closed' as const, at: 1, body: '{}' },
});

interface Opened {
  database: Database;
  faults: string[];
}
const open = (env: Env): Opened => {
  const faults: string[] = [];
  const database = openDatabase(readConfig(env), {
    onQuery() {},
    onFault: (what, error) => void faults.push(`${what}: ${(error as Error).message}`),
  });
  onTestFinished(() => database.close());
  return { database, faults };
};

describe.runIf(ENGINE === 'postgres')('events and deliveries by month', () => {
  it('have room for the last month, this and the next, and the next is made when it is one ahead', async () => {
    const t = await harness();
    const now = t.ctx.clock.now();
    for (const table of TABLES)
      expect(await namesOf(t.ctx.db, table)).toEqual(
        [...[-1, 0, 1].map((later) => named(table, monthOf(now, later))), `${table}_other`].sort(),
      );
    const ids = [(await newRepair(t)).id];
    const [thisMonth, nextMonth] = [monthOf(now), toMonth(t, 1)];
    await sweep(t.ctx);
    ids.push((await newRepair(t)).id);
    expect(await placesOf(t.ctx.db)).toEqual([named('events', thisMonth), named('events', nextMonth)]);
    for (const table of TABLES)
      expect(await namesOf(t.ctx.db, table)).toContain(named(table, monthOf(nextMonth, 1)));
    expect(await feedOf(t)).toEqual(ids);
    expect(databaseFaults(t)).toEqual([]);
  });

  it('are forgotten with their month, when all of it is past', async () => {
    const t = await harness();
    await newRepair(t);
    const month = monthOf(t.ctx.clock.now());
    t.clock.advance(monthOf(month, 1) + 30 * DAY_MS - t.ctx.clock.now());
    await sweep(t.ctx);
    expect(await namesOf(t.ctx.db, 'events')).toContain(named('events', month));
    expect(await feedOf(t)).toEqual([]);
    t.clock.advance(120_000);
    await sweep(t.ctx);
    for (const table of TABLES) expect(await namesOf(t.ctx.db, table)).not.toContain(named(table, month));
    expect(await placesOf(t.ctx.db)).toEqual([]);
  });

  it('lie apart where no month was made for them, and move into it when it is', async () => {
    const t = await harness();
    const month = toMonth(t, 3);
    const { id } = await newRepair(t);
    expect(await placesOf(t.ctx.db)).toEqual(['events_other']);
    expect(await feedOf(t)).toEqual([id]);
    await sweep(t.ctx);
    expect(await placesOf(t.ctx.db)).toEqual([named('events', month)]);
    expect(await feedOf(t)).toEqual([id]);
    expect(databaseFaults(t)).toEqual([]);
  });

  it('stay apart where they are many, and are then forgotten one by one; that is told once', async () => {
    const t = await harness();
    const month = toMonth(t, 3);
    const rows = Array.from({ length: 1_100 }, (_, i) => rowOf(newId(month + i), i));
    await t.ctx.db.insertInto('events').values(rows).execute();
    await sweep(t.ctx);
    await sweep(t.ctx);
    expect(await namesOf(t.ctx.db, 'events')).not.toContain(named('events', month));
    expect(databaseFaults(t)).toMatchObject([{ what: 'rows outside of every month' }]);
    toMonth(t, 2);
    await sweep(t.ctx);
    expect(await placesOf(t.ctx.db)).toEqual([]);
  });

  it('have each id once, and in a month each position of a shop once', async () => {
    const { db } = (await harness()).ctx;
    const [first, second] = [newId(Date.now()), newId(Date.now())];
    await db.insertInto('events').values(rowOf(first, 1)).execute();
    await expect(db.insertInto('events').values(rowOf(first, 2)).execute()).rejects.toThrow(/duplicate key/);
    await expect(db.insertInto('events').values(rowOf(second, 1)).execute()).rejects.toThrow(/duplicate key/);
  });

  it('are found by the index of their own month, also with a plan from when there were none', async () => {
    const t = await harness();
    const { ctx, statements } = watched(t.ctx);
    const id = newId(ctx.clock.now());
    const ended = { id, before: 0, attempts: [], dueAt: 1, finishedAt: 1, reason: null };
    await settle(ctx, [{ ...ended, status: 'DELIVERED' }]);
    await due(ctx, [{ clientId: UNKNOWN_ID, room: 8, underWay: [] }], ctx.clock.now());
    await readFeed(ctx, t.shop.id, 0, 100);
    const [settling, looking, reading] = await Promise.all(
      statements.map(async (statement) =>
        readsOfMonth(readsIn(await planOf(t.ctx.withoutFsync, statement)), ctx.clock.now()),
      ),
    );
    expect(settling).toContainEqual(
      expect.stringMatching(/deliveries_pkey.*Index Cond: \(id = settled\.id\)/),
    );
    for (const read of looking?.filter((each) => each.includes('webhook_deliveries')) ?? [])
      expect(read).toMatch(/webhook_deliveries_(first|retry) .*Index Cond: \(+client_id = /);
    expect(looking).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = due\.id\)/));
    expect(reading).toContainEqual(expect.stringMatching(/events_pkey.*shop_id = .*"position" > /));
    expect(reading).toContainEqual(expect.stringMatching(/events_id.*Index Cond: \(id = /));
  });

  it('are made and dropped by several processes at once', async () => {
    const t = await harness();
    const opened = Array.from({ length: 4 }, () => open(t.env));
    const now = monthOf(t.ctx.clock.now(), 8);
    await Promise.all(opened.map(({ database }) => database.prepareMonths(now)));
    for (const table of TABLES)
      await Promise.all(opened.map(({ database }) => database.forgetMonths({ table, beforeMs: now })));
    expect(opened.flatMap(({ faults }) => faults)).toEqual([]);
    for (const table of TABLES)
      expect(await namesOf(t.ctx.db, table)).toEqual(
        [...[0, 1].map((later) => named(table, monthOf(now, later))), `${table}_other`].sort(),
      );
  });

  it('are dropped under load without a failed request or a long wait', async () => {
    const t = await harness({ plan: 'ENTERPRISE' });
    const old = Array.from({ length: 4 }, (_, i) => monthOf(Date.UTC(2025, i)));
    for (const table of TABLES)
      for (const month of old) await changeParts(t.ctx.db, 1, (trx) => addMonth(trx, table, month));
    let swept = false;
    const waits: number[] = [];
    const caller = async () => {
      while (!swept)
        for (const path of ['/offline-repairs', '/events?limit=5', '/deliveries']) {
          const startedAt = performance.now();
          const { status } = await (path === '/offline-repairs' ? t.post(path, repairBody()) : t.get(path));
          waits.push(performance.now() - startedAt);
          expect(status).toBeLessThan(300);
        }
    };
    const callers = Array.from({ length: 6 }, caller);
    await expect.poll(() => waits.length, { timeout: 30_000 }).toBeGreaterThan(200);
    const usualMs = Math.max(...waits.splice(0));
    try {
      // What could not be had at once is had next time, as it is in the service.
      await expect
        .poll(
          async () => {
            await sweep(t.ctx);
            return (await namesOf(t.ctx.db, 'events'))
              .concat(await namesOf(t.ctx.db, 'webhook_deliveries'))
              .filter((name) => name.includes('_2025_')).length;
          },
          { timeout: 30_000 },
        )
        .toBe(0);
    } finally {
      swept = true;
      await Promise.all(callers);
    }
    expect(waits.length).toBeGreaterThan(10);
    // A machine that is busy with other suites has waits of its own.
    expect(Math.max(...waits)).toBeLessThan(1_000 + usualMs);
  });
});

/** What the release before wrote, with its own statements: tables in one piece. */
const inOnePiece = async (): Promise<{ env: Env; db: Db }> => {
  const env = await emptyDatabase();
  const pool = new pg.Pool({ connectionString: env['DATABASE_URL'], max: 8 });
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  onTestFinished(() => db.destroy());
  await migrateToLatest(db, { ...SCHEMA_WORDS, notice() {} });
  return { env, db };
};

const insertAsBefore = (db: Db, rows: object[]) =>
  sql`insert into events (shop_id, position, id, rma_id, event, at, body)
    select shop_id, position, id, rma_id, event, at, body from json_populate_recordset(null::events, ${JSON.stringify(rows)})`.execute(
    db,
  );
const forgetAsBefore = (db: Db, beforeMs: number) =>
  sql`delete from events where id in (select id from events where id < ${lowestId(beforeMs)} order by id limit 100)`.execute(
    db,
  );

describe.runIf(ENGINE === 'postgres')('a table in one piece', () => {
  it('becomes the first part, while the release before goes on using it', async () => {
    const { env, db } = await inOnePiece();
    const now = Date.now();
    const rows = Array.from({ length: 3_000 }, (_, i) => rowOf(newId(now - i * 60 * 60 * 1000), i));
    await insertAsBefore(db, rows);
    let position = rows.length;
    let isOver = false;
    const writer = async () => {
      while (!isOver) {
        position += 1;
        const row = rowOf(newId(Date.now()), position);
        await insertAsBefore(db, [row]);
        const { rows: found } = await sql`select body from events where id = ${row.id}`.execute(db);
        expect(found).toEqual([{ body: '{}' }]);
        await forgetAsBefore(db, now - 120 * DAY_MS);
      }
    };
    const writers = Array.from({ length: 4 }, writer);
    const opened = [open(env), open(env)];
    await Promise.all(opened.map(({ database }) => database.migrate()));
    isOver = true;
    await Promise.all(writers);
    const first = `events_until_${named('', monthOf(now, 2)).slice(1)}`;
    expect(await namesOf(db, 'events')).toEqual(['events_other', first].sort());
    const kept = rows.filter(({ id }) => id >= lowestId(now - 120 * DAY_MS)).length;
    const { rows: counts } = await sql`
      select tableoid::regclass::text as part, count(*)::int as count from events group by 1`.execute(db);
    expect(counts).toEqual([{ part: first, count: kept + position - rows.length }]);
    expect(opened.flatMap(({ faults }) => faults)).toEqual([]);
    const { rows: rules } = await sql`select from pg_constraint where conname = 'events_until'`.execute(db);
    expect(rules).toEqual([]);
  });

  it('that has rows of times to come keeps room for them', async () => {
    const { env, db } = await inOnePiece();
    const ahead = Date.now() + 400 * DAY_MS;
    await insertAsBefore(db, [rowOf(newId(ahead), 1)]);
    await open(env).database.migrate();
    expect(await placesOf(db)).toEqual([`events_until_${named('', monthOf(ahead, 1)).slice(1)}`]);
    await insertAsBefore(db, [rowOf(newId(Date.now()), 2)]);
    expect(await placesOf(db)).toHaveLength(2);
  });

  it('is split by the next start, where an upgrade was broken off long ago', async () => {
    const { env, db } = await inOnePiece();
    await insertAsBefore(db, [rowOf(newId(Date.now()), 1)]);
    const tomorrow = lowestId(Date.now() + DAY_MS);
    await sql`alter table events add constraint events_until check (id < ${sql.lit(tomorrow)}) not valid`.execute(
      db,
    );
    await open(env).database.migrate();
    expect(await placesOf(db)).toEqual([`events_until_${named('', monthOf(Date.now(), 2)).slice(1)}`]);
  });

  it('stays so while somebody holds it, and the service goes on', async () => {
    const { env, db } = await inOnePiece();
    const notices: string[] = [];
    await db.transaction().execute(async (holding) => {
      await sql`lock table events in access share mode`.execute(holding);
      await open(env).database.migrate((message) => notices.push(message));
    });
    expect(notices).toEqual([expect.stringMatching(/events stays in one piece \(55P03\)/)]);
    expect([await partsOf(db, 'events'), (await namesOf(db, 'webhook_deliveries')).length]).toEqual([
      null,
      4,
    ]);
    await insertAsBefore(db, [rowOf(newId(1), 1), rowOf(newId(Date.now() + 100 * DAY_MS), 2)]);
    const { database } = open(env);
    expect(await database.forgetMonths({ table: 'events', beforeMs: 5 })).toBe(5);
    await database.migrate();
    expect(await placesOf(db)).toHaveLength(2);
  });

  it('keeps its owner and what others may do with it; who may not make tables is told once', async () => {
    const { env, db } = await inOnePiece();
    const role = `limited_${randomBytes(6).toString('hex')}`;
    const own = env['DATABASE_URL'] as string;
    await onServer(inject('postgresUrl'), `create role ${role} login`);
    onTestFinished(() => onServer(own, `drop owned by ${role}; drop role ${role}`));
    await onServer(
      own,
      `revoke create on schema public from public;
       grant select, insert, update, delete on all tables in schema public to ${role}`,
    );
    const url = new URL(own);
    url.username = role;
    const limited = { ...env, DATABASE_URL: url.href };
    const notices: string[] = [];
    await open(limited).database.migrate((message) => notices.push(message));
    expect(notices).toEqual([
      expect.stringMatching(/events stays in one piece \(42501\)/),
      expect.stringMatching(/webhook_deliveries stays in one piece \(42501\)/),
    ]);
    await open(env).database.migrate();
    const { database, faults } = open(limited);
    await database.migrate();
    const later = monthOf(Date.now(), 4);
    await database.prepareMonths(later);
    await database.db
      .insertInto('events')
      .values(rowOf(newId(later), 1))
      .execute();
    await database.prepareMonths(later);
    // What cannot be dropped is to be deleted.
    expect(await database.forgetMonths({ table: 'events', beforeMs: later })).toBe(monthOf(Date.now(), 2));
    expect(faults).toEqual([
      expect.stringMatching(/^no right to change tables/),
      'rows outside of every month: events: 1',
    ]);
    expect(await placesOf(db)).toEqual(['events_other']);
  });
});
