// engines: sqlite, postgres

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { createClient, replaceClient } from '../../src/api-clients/actions.ts';
import { findClient } from '../../src/api-clients/store.ts';
import { sweep } from '../../src/app/janitor.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { columnsOf, TABLE_NAMES } from '../../src/db/schema.ts';
import { beginShopDeletion, deleteShopStep, SHOP_TABLES } from '../../src/shops/delete-shop.ts';
import { adminCaller, newPerson } from '../support/admin.ts';
import { newRepair, newTradeReturn } from '../support/api.ts';
import { backupFile, emptyOn, failing } from '../support/backups.ts';
import { repairBody } from '../support/bodies.ts';
import { cliHere, runHere } from '../support/commands-here.ts';
import { tablesOf } from '../support/dump.ts';
import { ONLY_POSTGRES } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE, type Harness, harness } from '../support/harness.ts';
import { lookInto, SECRET_KEY, temporaryFolder } from '../support/process.ts';
import { atOnce } from '../support/responses.ts';
import { until } from '../support/until.ts';

const it = itWith(() => harness({ env: { SECRET_KEY } }));

interface Filled extends Pick<Harness, 'shop' | 'client'> {
  /** More than 20 repairs, or 100 keys, need more than one step. */
  repairs?: number;
  keys?: number;
}

/** Adds rows of the shop to every table that can have them. */
const fill = async (t: Harness, { shop, client, repairs = 1, keys = 1 }: Filled = t) => {
  const key = client.apiKey;
  const admin = await newPerson(t, { shop });
  const leaver = await newPerson(t, { shop, role: 'STAFF' });
  const options = { key, headers: { 'idempotency-key': 'once' } };
  const repair = (await newRepair(t, {}, options)).id;
  const trade = (await newTradeReturn(t, {}, { key })).id;
  await atOnce(repairs, () => newRepair(t, {}, { key }));
  const call = async (method: 'post' | 'put', path: string, body: object) =>
    expect(await admin[method](path, body)).toHaveStatus(200, 201, 204);
  const byHand = { headers: { 'idempotency-key': 'by hand' } };
  expect(await admin.post('/offline-repairs', repairBody(), byHand)).toHaveStatus(201);
  await call('post', `/offline-repairs/${repair}/assign`, { assigneeId: leaver.id });
  await call('post', `/trade-returns/${trade}/notes`, { note: 'Called' });
  await call('post', '/views', { kind: 'OFFLINE_REPAIR', name: 'Mine', search: { q: 'x' } });
  await call('put', '/dangerous-goods', { rules: ['ACID'] });
  await call('put', '/target-days', { targets: [{ status: 'OFFLINE_REPAIR', days: 3 }] });
  await call('put', '/shop-settings', { currency: 'EUR' });
  await call('put', '/forgetting', { offlineRepairMonths: 12, tradeReturnMonths: null });
  await admin.delete(`/users/${leaver.id}`);
  const clients = t.ctx.db.selectFrom('api_clients').select('id').where('shop_id', '=', shop.id);
  for (const { id } of await clients.execute()) {
    await t.ctx.db
      .insertInto('idempotency_keys')
      .values(
        Array.from({ length: keys }, (_, i) => ({
          ...{ owner_id: id, key: `key ${i}`, body_hash: 'x', response: '{}', created_at: 1 },
        })),
      )
      .execute();
    await t.ctx.db
      .insertInto('webhook_failures')
      .values({ receiver_id: id, last_error: 'x', since: 1, failed_attempts: 1, dropped_deliveries: 0 })
      .execute();
    await t.ctx.db
      .insertInto('webhook_leases')
      .values({ receiver_id: id, holder: 'x', held_until: 1 })
      .execute();
  }
  return { admin, clientIds: (await clients.execute()).map(({ id }) => id), repair, trade };
};

const revokeAll = (t: Harness, shopId = t.shop.id) =>
  t.ctx.db.updateTable('api_clients').set({ revoked_at: 1 }).where('shop_id', '=', shopId).execute();

/** The tables that hold one of these ids, except the list for restores and counters that expire within minutes. */
const holding = async (db: Harness['ctx']['db'], ids: string[]): Promise<string[]> =>
  (await tablesOf(db))
    .filter(([name]) => name !== 'erasures' && name !== 'rate_limits')
    .filter(([, rows]) => ids.some((id) => JSON.stringify(rows).includes(id)))
    .map(([name]) => name);

const deleting = (t: Harness, ...how: string[]) => ['shop', 'delete', t.shop.id, '--confirm', ...how];

/** Deleted together with rows of other tables; `erasures` only holds ids and stays. */
const GO_WITH_OTHERS = [
  'timeline',
  'sessions',
  'sign_in_addresses',
  'access_links',
  'recovery_codes',
  'erasures',
];

describe('the tables of a shop', () => {
  it('are all in the list of tables to delete from', () => {
    const owners: readonly string[] = ['shop_id', 'receiver_id', 'owner_id', 'user_id', 'rma_id'];
    const owned = TABLE_NAMES.filter((table) => columnsOf(table).some((column) => owners.includes(column)));
    expect([...Object.keys(SHOP_TABLES), ...GO_WITH_OTHERS].sort()).toEqual(owned.sort());
  });
});

describe('shop delete', () => {
  it('deletes everything of the shop, and nothing of others', async ({ t }) => {
    const other = await t.addShop();
    const theirs = await fill(t, other);
    const before = await holding(t.ctx.db, [other.shop.id, ...theirs.clientIds]);
    const { clientIds, repair, trade, admin } = await fill(t, { ...t, repairs: 30, keys: 150 });
    const ids = [t.shop.id, ...clientIds, repair, trade, admin.id];
    expect((await holding(t.ctx.db, ids)).length).toBeGreaterThan(15);
    await revokeAll(t);
    const { name } = t.shop;
    const result = await cliHere(deleting(t, name, '--no-export'), t.env);
    expect(result).toEqual({ id: t.shop.id, name, rows: expect.any(Number), deleted: true });
    expect(await holding(t.ctx.db, ids)).toEqual([]);
    expect(await holding(t.ctx.db, [other.shop.id, ...theirs.clientIds])).toEqual(before);
    expect(await holding(t.ctx.db, [theirs.repair, theirs.trade])).toEqual(
      expect.arrayContaining(['timeline', 'events', 'offline_repairs', 'trade_returns']),
    );
    // Four creations, an assignment, a note.
    expect(await t.ctx.db.selectFrom('timeline').select('rma_id').execute()).toHaveLength(6);
    expect((await t.get('/offline-repairs', { key: other.client.apiKey })).body.total).toBe(2);
    expect(await theirs.admin.get('/session')).toHaveStatus(200);
    expect(await failing(deleting(t, name, '--no-export'), t.env)).toMatch(/there is no shop/);
    const list = (await runHere(['customer', 'erasures'], t.env)).stdout;
    expect(JSON.parse(list.split('\n')[0] ?? '')).toMatchObject({ subject_id: t.shop.id, kind: 'shops' });
  });

  it('is refused for a wrong name and for active clients', async ({ t }) => {
    const erp = await createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl: null });
    expect(await failing(deleting(t, 'Another', '--no-export'), t.env)).toMatch(/another name/);
    const active = await failing(deleting(t, t.shop.name, '--no-export'), t.env);
    expect(active).toContain(`ERP (${erp.id})`);
    expect(active).toContain(t.client.id);
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
  });

  it('first writes an export of all rows, without secrets, and overwrites no file', async ({ t }) => {
    const { repair, clientIds } = await fill(t);
    await revokeAll(t);
    const file = join(temporaryFolder(), 'shop.json');
    await cliHere(deleting(t, t.shop.name, '--export', file), t.env);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/_hash|_secret/);
    const { exportedAt, shops, ...tables } = JSON.parse(text);
    expect(shops).toMatchObject([{ id: t.shop.id, name: t.shop.name }]);
    expect(tables.offline_repairs).toHaveLength(3);
    const [first] = tables.offline_repairs;
    expect(first).toMatchObject({ id: repair, timeline: [{ type: 'CREATED' }, { type: 'ASSIGNED' }] });
    expect(tables.api_clients.map(({ id }: { id: string }) => id)).toEqual(clientIds);
    expect(tables.users).toHaveLength(1);
    expect(tables.audit_log.length).toBeGreaterThan(5);
    expect(Object.keys(tables)).toEqual(
      expect.not.arrayContaining(['idempotency_keys', 'webhook_deliveries']),
    );
    expect(exportedAt).toMatch(/Z$/);
    const other = await t.addShop();
    await revokeAll(t, other.shop.id);
    const args = ['shop', 'delete', other.shop.id, '--confirm', other.shop.name, '--export', file];
    expect(await failing(args, t.env)).toMatch(/already exists: choose another name\n/);
    expect(await holding(t.ctx.db, [other.shop.id])).toContain('shops');
  });

  it('locks everyone out from the start, and can be completed by the same command', async ({ t }) => {
    const { admin, clientIds, repair, trade } = await fill(t);
    // The old key works until it expires, beside the new one.
    const old = await findClient(t.ctx.db, t.client.id);
    if (!old) throw new Error('the client is gone');
    const oldKeyUntil = t.ctx.clock.now() + 86_400_000;
    const next = await replaceClient(t.ctx, OPERATOR, old, { oldKeyUntil });
    await t.ctx.db.updateTable('api_clients').set({ revoked_at: 1 }).where('id', '=', next.id).execute();
    expect(await t.get('/offline-repairs')).toHaveStatus(200);
    await beginShopDeletion(t.ctx, t.shop.id);
    expect(await t.get('/offline-repairs')).toHaveStatus(401);
    expect(await admin.get('/session')).toHaveStatus(401);
    const { email, password } = admin;
    expect(await adminCaller(t).post('/session', { email, password })).toHaveStatus(401);
    expect(await deleteShopStep(t.ctx, t.shop.id)).toBeGreaterThan(0);
    // Written by the command that was killed.
    const file = join(temporaryFolder(), 'shop.json');
    writeFileSync(file, '{}');
    const { stderr, json } = await runHere([...deleting(t, t.shop.name, '--export', file), '--json'], t.env);
    expect(stderr).toMatch(/the deletion was started before: no export is written now/);
    expect(json.deleted).toBe(true);
    expect(await holding(t.ctx.db, [t.shop.id, ...clientIds, repair, trade])).toEqual([]);
  });

  it.for([
    ['ends before the replacement of a client that came later', ['deleted', 'replaced']],
    [
      'ends after the replacement of a client that came before it, and revokes the new one',
      ['replaced', 'deleted'],
    ],
  ] as const)('%s', ONLY_POSTGRES, async ([, order], { t }) => {
    const { db, background } = t.ctx;
    const client = await findClient(db, t.client.id);
    if (!client) throw new Error('the client is gone');
    const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = background.transaction().execute(async (trx) => {
      await trx.selectFrom('api_clients').select('id').where('id', '=', client.id).forUpdate().execute();
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const starts = {
      deleted: () => beginShopDeletion(t.ctx, t.shop.id),
      replaced: () => replaceClient(t.ctx, OPERATOR, client, {}),
    };
    const ends: Promise<string>[] = [];
    for (const [i, name] of order.entries()) {
      ends.push(starts[name]().then(() => name, String));
      await until(`${i + 1} sessions wait`, async () => {
        const { rows } = await sql<{ waiting: number }>`
          select count(*)::int4 as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        return rows[0]?.waiting === i + 1;
      });
    }
    release.resolve();
    await holder;
    const [first, second] = await Promise.all(ends);
    expect(first).toBe(order[0]);
    if (second !== 'deleted') expect(second).toMatch(/no such API client/);
    const working = db.selectFrom('api_clients').select('id').where('revoked_at', 'is', null);
    expect(await working.where('shop_id', '=', t.shop.id).execute()).toEqual([]);
    while ((await deleteShopStep(t.ctx, t.shop.id)) > 0);
    expect(await holding(db, [t.shop.id, client.id])).toEqual([]);
  });

  it('is also completed by the service if it was interrupted', async ({ t }) => {
    const { clientIds, repair } = await fill(t);
    await beginShopDeletion(t.ctx, t.shop.id);
    await sweep(t.ctx);
    expect(await holding(t.ctx.db, [t.shop.id, ...clientIds, repair])).toEqual([]);
    const [erasure] = await t.ctx.db.selectFrom('erasures').select(['subject_id', 'progress']).execute();
    expect(erasure).toEqual({ subject_id: t.shop.id, progress: null });
  });

  it('is repeated after a restore with the list', async ({ t }) => {
    const other = await t.addShop();
    await fill(t);
    const file = backupFile();
    await cliHere(['backup', file], t.env);
    await revokeAll(t);
    await cliHere(deleting(t, t.shop.name, '--no-export'), t.env);
    const list = join(temporaryFolder(), 'list.jsonl');
    const { stdout } = await runHere(['customer', 'erasures'], t.env);
    writeFileSync(list, stdout);
    const target = await emptyOn(ENGINE);
    await cliHere(['restore', file, '--erasures', list, '--confirm'], target);
    const db = lookInto(target);
    expect(await holding(db, [t.shop.id])).toEqual([]);
    expect(await holding(db, [other.shop.id])).toContain('shops');
  });
});
