// engines: postgres

import { type RawBuilder, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sweep } from '../../src/app/janitor.ts';
import { withSnapshot } from '../../src/db/transfer.ts';
import type { Database, Db } from '../../src/db/types.ts';
import { searchReturns } from '../../src/returns/search.ts';
import type { Caller } from '../../src/shops/plans.ts';
import { newPerson } from '../support/admin.ts';
import { UNKNOWN_ID } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { holdConnections, openEngine } from '../support/database.ts';
import { type Harness, harness } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const addOldKey = ({ ctx }: Harness) =>
  ctx.db
    .insertInto('idempotency_keys')
    .values({ owner_id: UNKNOWN_ID, key: 'old', body_hash: 'x', response: '{}', created_at: 1 })
    .execute();
const oldKeys = ({ ctx }: Harness) =>
  ctx.db.selectFrom('idempotency_keys').select('key').where('key', '=', 'old').execute();

describe('each kind of work has its own connections', () => {
  it('clean-up does not wait for webhooks', async () => {
    const t = await harness({ env: { DATABASE_POOLS: 'webhooks=1' } });
    await addOldKey(t);
    const release = await holdConnections(t.ctx.webhooks);
    await sweep(t.ctx);
    expect(await oldKeys(t)).toEqual([]);
    await release();
  });

  it('webhooks and requests do not wait for clean-up', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await addOldKey(t);
    const release = await holdConnections(t.ctx.background);
    const swept = sweep(t.ctx);
    await t.create(client);
    await receiver.got(1);
    expect(await oldKeys(t)).toHaveLength(1);
    await release();
    await swept;
  });

  it('requests of API clients do not wait for the admin app', async () => {
    const t = await harness({ env: { DATABASE_POOLS: 'admin=1' } });
    const { body } = await t.post('/offline-repairs', repairBody());
    const release = await holdConnections(t.ctx.db);
    const responses = [
      await t.post('/offline-repairs', repairBody()),
      await t.post('/offline-repairs/dry-run', repairBody()),
      await t.post(`/offline-repairs/${body.id}/close`),
      await t.get(`/offline-repairs/${body.id}`),
      await t.get(`/offline-repairs/${body.id}/timeline`),
      await t.get('/offline-repairs'),
      await t.get('/trade-returns?status=TRADE_SUBMITTED'),
      await t.get('/events'),
      await t.get('/usage'),
      await t.get('/offline-repairs?updatedSince=2000-01-01T00:00:00Z'),
      await t.get('/offline-repairs?externalRef=POS-1&limit=100'),
      await t.get('/deliveries'),
    ];
    await release();
    for (const response of responses) expect(response).toHaveStatus(200, 201);
  });

  it('staff read lists and timelines while API clients use all their connections', async () => {
    const t = await harness({ env: { DATABASE_POOLS: 'lists=1' } });
    const { body } = await t.post('/offline-repairs', repairBody());
    const admin = await newPerson(t);
    const release = await holdConnections(t.ctx.lists);
    const responses = [
      await admin.get('/offline-repairs'),
      await admin.get('/offline-repairs?q=rma&sort=status'),
      await admin.get(`/offline-repairs/${body.id}/timeline`),
      await admin.get(`/offline-repairs/${body.id}/related`),
      await admin.get(`/clients/${t.client.id}/deliveries`),
    ];
    await release();
    expect(responses).toHaveStatuses({ 200: 5 });
  });
});

/** The PostgreSQL process that responds. */
const responderOf = async (db: Db, from = sql`pg_sleep(0)`): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid from ${from}`.execute(db);
  return rows[0]?.pid as number;
};
const responder = ({ reads }: Database, from?: RawBuilder<unknown>) => responderOf(reads, from);

/** Whether a statement waits for the lock of these tests. */
const isWaited = async (db: Db): Promise<boolean> => {
  const own = sql`database = (select oid from pg_database where datname = current_database())`;
  const { rows } =
    await sql`select from pg_locks where ${own} and locktype = 'advisory' and not granted`.execute(db);
  return rows.length > 0;
};

describe('short reads', () => {
  it('do not wait for a slow one', async () => {
    const database = await openEngine();
    await database.db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const slow = responder(database, sql`pg_advisory_lock(1)`);
      const pid = await responder(database);
      await sql`select pg_advisory_unlock(1)`.execute(other);
      expect(pid).not.toBe(await slow);
    });
  });

  it('do not share their connections with searches', async () => {
    const t = await harness();
    const caller: Caller = { shop: t.shop, actor: { type: 'USER', id: UNKNOWN_ID, name: 'Ada' } };
    await t.ctx.db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const busy = Array.from({ length: t.ctx.config.poolSizes.reads }, () =>
        sql`select pg_advisory_lock_shared(1)`.execute(t.ctx.reads),
      );
      expect(await searchReturns(t.ctx, caller, '000001')).toEqual({ items: [] });
      await sql`select pg_advisory_unlock(1)`.execute(other);
      await Promise.allSettled(busy);
    });
  });

  it('get a new connection after theirs broke', async () => {
    const database = await openEngine();
    const pid = await responder(database);
    await sql`select pg_terminate_backend(${pid})`.execute(database.db);
    const later = await until('it answers again', () => responder(database).catch(() => null));
    expect(later).not.toBe(pid);
  });
});

it('a backup fails if its connection breaks between two statements, and the process continues', async () => {
  const { ctx } = await harness();
  const broken = withSnapshot(ctx.config, async (reading) => {
    const pid = await responderOf(reading.db);
    await sql`select pg_terminate_backend(${pid})`.execute(ctx.db);
    const isGone = sql`select from pg_stat_activity where pid = ${pid}`;
    await until('it is gone', async () => (await isGone.execute(ctx.db)).rows.length === 0);
    // Meanwhile the connection error is read, while the backup runs no statement.
    for (let i = 0; i < 5; i += 1) await responderOf(ctx.db);
    await reading.server();
  });
  await expect(broken).rejects.toThrow(/terminat|closed|connection/i);
});

describe('short lists', () => {
  it('that are requested together share a connection, without slow ones', async () => {
    const { db, shortLists } = await openEngine();
    await db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const slow = responderOf(shortLists, sql`pg_advisory_lock(1)`);
      await until('it waits', () => isWaited(db));
      const pids = await Promise.all(Array.from({ length: 10 }, () => responderOf(shortLists)));
      await sql`select pg_advisory_unlock(1)`.execute(other);
      expect(new Set(pids).size).toBe(1);
      expect(pids).not.toContain(await slow);
    });
  });

  it('fail together if their connection breaks, and the next ones get a new one', async () => {
    const { db, shortLists } = await openEngine();
    await db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(1)`.execute(other);
      const [pid, ...responses] = [
        responderOf(shortLists),
        ...Array.from({ length: 5 }, () => responderOf(shortLists, sql`pg_advisory_lock_shared(1)`)),
      ];
      const ended = Promise.allSettled(responses);
      await sql`select pg_terminate_backend(${await pid})`.execute(other);
      expect((await ended).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
      const later = await until('it answers again', () => responderOf(shortLists).catch(() => null));
      expect(later).not.toBe(await pid);
    });
  });
});
