// engines: sqlite, postgres

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { CreateOfflineRepair } from '../../../contract/offline-repair.ts';
import { openContext } from '../../../src/app/context.ts';
import { readConfig } from '../../../src/platform/config.ts';
import { offlineRepairs } from '../../../src/returns/actions.ts';
import { backupFile, DIRECTIONS, emptyOn, everyRow, failing, isUntouched } from '../../support/backups.ts';
import { repairBody, tradeBody } from '../../support/bodies.ts';
import { cliHere } from '../../support/commands-here.ts';
import { openOn } from '../../support/database.ts';
import { ONLY_POSTGRES } from '../../support/engines.ts';
import { FULL } from '../../support/faults.ts';
import { ENGINE } from '../../support/harness.ts';
import {
  type Env,
  launch,
  lookInto,
  run,
  SENDING,
  type ServerProcess,
  startServer,
} from '../../support/process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { atOnce, repeatedly } from '../../support/responses.ts';
import { addPerson, type MadeShop, makeShop } from '../../support/shops.ts';
import { scaled, until } from '../../support/until.ts';

/** Returns that are there before the load begins: none in the suites, many with `npm run test:backup`, which prints the figures. */
const RMAS = Number(process.env['BACKUP_RMAS'] ?? 0);

/** By the service's own action, in this process: HTTP would take several times as long. */
const fill = async (env: Env, { shop, client }: MadeShop): Promise<void> => {
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  const actor = { type: 'API_CLIENT' as const, id: client.id, name: client.name };
  const caller = { shop, actor, receiverId: client.receiverId };
  let left = RMAS;
  const create = async () => {
    for (let i = left--; i > 0; i = left--) {
      // All returns differ: equal ones would compress to almost nothing.
      const own = { externalRef: `POS-${i}`, faultDescription: randomBytes(90).toString('base64') };
      await offlineRepairs.create(ctx, caller, CreateOfflineRepair.parse(repairBody(own)));
    }
  };
  await atOnce(200, create);
  await ctx.close();
};

/** Runs a command that must succeed; what it printed, and how much memory it had at most. */
const watched = async (args: string[], env: Env) => {
  const { child, out, ended } = launch([...args, '--json'], env);
  let peakMb = 0;
  const timer = setInterval(() => {
    const file = `/proc/${child.pid}/status`;
    const [, kilobytes = 0] = /VmHWM:\s+(\d+)/.exec(existsSync(file) ? readFileSync(file, 'utf8') : '') ?? [];
    peakMb = Math.max(peakMb, Math.round(Number(kilobytes) / 1024));
  }, 20);
  expect({ ...(await ended), stderr: out.stderr }).toMatchObject({ status: 0, stderr: '' });
  clearInterval(timer);
  return { ...JSON.parse(out.stdout), peakMb };
};

const write = async (server: ServerProcess, acknowledged: string[]) => {
  const response = await server.create();
  expect(response).toHaveStatus(201);
  acknowledged.push(response.body.id);
  await server.post(`/offline-repairs/${response.body.id}/begin-repair`);
  await server.post('/trade-returns', tradeBody());
};

const follow = async (server: ServerProcess, start: string): Promise<{ ids: string[]; cursor: string }> => {
  const ids: string[] = [];
  for (let cursor = start; ; ) {
    const response = await server.get(`/events?limit=100&after=${cursor}`);
    expect(response).toHaveStatus(200);
    ids.push(...response.body.items.map((item: { id: string }) => item.id));
    cursor = response.body.cursor;
    if (!response.body.hasMore) return { ids, cursor };
  }
};

const underLoad = async (from: 'sqlite' | 'postgres', to: 'sqlite' | 'postgres') => {
  const source = { ...(await emptyOn(from)), ...SENDING };
  const target = { ...(await emptyOn(to)), ...SENDING };
  const receiver = await startReceiver(() => undefined);
  const made = await makeShop(source);
  const { shopId, key } = made;
  const hooked = await makeShop(source, { webhookUrl: receiver.url });
  const person = await addPerson(source, shopId);
  if (RMAS > 0) await fill(source, made);
  const server = await startServer(source, { key });

  // A receiver that hangs: its webhook is still on its way when the backup is made.
  const told = await server.create({}, { key: hooked.key });
  await receiver.got(1);
  const acknowledged: string[] = [];
  const endWriters = repeatedly(4, () => write(server, acknowledged));
  await until('something is written', () => acknowledged.length >= 20);
  const { body: page } = await server.get('/events?limit=7');
  const before = [...acknowledged];
  const file = backupFile();
  const backup = await watched(['backup', file], source);
  const writtenMeanwhile = acknowledged.length - before.length;
  await endWriters();
  await server.stop('SIGKILL');
  const restored = await watched(['restore', file], target);
  if (RMAS > 0) process.stdout.write(`${JSON.stringify({ backup, writtenMeanwhile, restored })}\n`);
  return { source, target, receiver, shopId, key, person, told, page, before, backup, restored };
};

describe.each(DIRECTIONS)('a backup, from %s into %s', (from, to) => {
  // The suites take one backup on each engine.
  if (FULL || to === ENGINE)
    it('under load is consistent, and works there: keys, cursors, webhooks and users', {
      timeout: RMAS > 0 ? 3_600_000 : scaled(120_000),
    }, async () => {
      const run = await underLoad(from, to);
      const { source, target, receiver, shopId, key, person, told, page, before } = run;
      expect(run.restored.tables).toEqual(run.backup.tables);
      const [there, here] = [await everyRow(source), await everyRow(target)];
      // Rows that are written once are equal in both databases.
      for (const table of ['events', 'timeline', 'shops', 'users', 'dangerous_goods', 'audit_log']) {
        const known = new Set(there[table]);
        expect(here[table]?.filter((row) => !known.has(row))).toEqual([]);
      }
      const db = lookInto(target);
      const rows = await db.selectFrom('offline_repairs').select('id').execute();
      const repairs = new Set(rows.map(({ id }) => id));
      expect(before.filter((id) => !repairs.has(id))).toEqual([]);
      const ofShop = await db
        .selectFrom('events')
        .select(['id', 'position'])
        .where('shop_id', '=', shopId)
        .orderBy('position')
        .execute();
      expect(ofShop.map(({ position }) => position)).toEqual(ofShop.map((_, i) => i + 1));
      const { ok, checks } = await cliHere(['doctor'], target);
      expect(ok, JSON.stringify(checks)).toBe(true);

      receiver.behave(() => 200);
      const server = await startServer(target, { key });
      const sent = await until('the webhook has come', () =>
        receiver.received.slice(1).find(({ body }) => body.data.id === told.body.id),
      );
      expect(sent.bytes).toEqual(receiver.received[0]?.bytes);
      expect(sent.headers['x-webhook-id']).toBe(receiver.received[0]?.headers['x-webhook-id']);
      const rest = await follow(server, page.cursor);
      expect(rest.ids).toEqual(ofShop.slice(7).map(({ id }) => id));
      expect(await server.create()).toHaveStatus(201);
      expect((await follow(server, rest.cursor)).ids).toHaveLength(1);
      expect(await server.post('/admin/api/session', person, { key: null })).toHaveStatus(200);
    });

  it('keeps every value unchanged', async () => {
    const [source, target] = [await emptyOn(from), await emptyOn(to)];
    const { shopId, clientId } = await makeShop(source);
    const texts = [
      ...['', ' ', 'null', '{a,"b",NULL}', '\\x00', "it's", '"', '\\', '\u2028\u2029\r\n\t'],
      ...['\u{1F9F0}é', '[1]', '{"a":"\\u0041"}'],
    ];
    const { db } = openOn(source);
    for (const pattern of texts)
      await db.insertInto('dangerous_goods').values({ shop_id: shopId, pattern }).execute();
    await sql`update shop_counters
      set last_number = 9223372036854775807, last_at = 9007199254740993, month_used = -1`.execute(db);
    await sql`update api_clients set webhook_url = null, name = ${texts.join('')}
      where id = ${clientId}`.execute(db);
    const file = backupFile();
    const made = await cliHere(['backup', file], source);
    expect(made).toMatchObject({ file, bytes: statSync(file).size, schema: expect.any(String) });
    const restored = await cliHere(['restore', file], target);
    expect(restored).toMatchObject({ rows: made.rows, tables: made.tables, verified: true });
    expect(made.tables).toMatchObject({ dangerous_goods: texts.length, shops: 1, offline_repairs: 0 });
    const rows = await everyRow(source);
    expect(await everyRow(target)).toEqual(rows);
    expect(rows['dangerous_goods']).toHaveLength(texts.length);
    const { rows: exact } =
      await sql`select '' || last_number as number, '' || last_at as at from shop_counters`.execute(
        lookInto(target),
      );
    expect(exact).toEqual([{ number: '9223372036854775807', at: '9007199254740993' }]);
  });
});

/** Enough rows for a kill to interrupt the restore. */
const fillAuditLog = async (env: Env): Promise<void> => {
  const db = lookInto(env);
  const { id } = await db.selectFrom('shops').select('id').executeTakeFirstOrThrow();
  const text = JSON.stringify('x'.repeat(1_000));
  const common = { shop_id: id, at: 1, actor_type: 'SYSTEM' as const, actor_name: 'x', action: 'x' };
  const subject = { subject_type: 'x', subject_id: id, subject_name: 'x', data: text };
  for (let made = 0; made < 15_000; made += 500) {
    const ids = Array.from({ length: 500 }, (_, i) => String(made + i).padStart(12, '0'));
    const rows = ids.map((end) => ({ id: `019a8c1e-7a54-7cc1-9a3e-${end}`, ...common, ...subject }));
    await db
      .insertInto('audit_log')
      .values(rows as never)
      .execute();
  }
};

describe('a restore', () => {
  it('that is killed half-way leaves an empty database, and can be repeated', async () => {
    const env = await emptyOn(ENGINE);
    await makeShop(env);
    await fillAuditLog(env);
    const file = backupFile();
    await cliHere(['backup', file], env);

    const target = await emptyOn(ENGINE);
    const db = lookInto(env);
    const wal = join(target['DATA_DIR'] ?? '', 'handback.sqlite-wal');
    const isHalfWay = async () => {
      if (ENGINE === 'sqlite') return existsSync(wal) && statSync(wal).size > 1_000_000;
      const name = new URL(target['DATABASE_URL'] as string).pathname.slice(1);
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = ${name} and query like 'insert into "audit_log"%'`.execute(db);
      return rows.length > 0;
    };
    const restoring = launch(['restore', file, '--json'], target);
    await until('rows are being written', isHalfWay);
    restoring.child.kill('SIGKILL');
    expect((await restoring.ended).signal).toBe('SIGKILL');
    expect(restoring.out.stdout).toBe('');
    expect(await isUntouched(target)).toBe(true);
    // The server notices the death of the other side when it next writes to it.
    await until(
      'it can be restored again',
      async () => (await run(['restore', file, '--json'], target)).status === 0,
    );
    expect(await everyRow(target)).toEqual(await everyRow(env));
  });

  it('names the rows that PostgreSQL cannot store, and writes nothing', ONLY_POSTGRES, async () => {
    const source = await emptyOn('sqlite');
    await makeShop(source);
    await sql`update shop_counters set last_number = 'many'`.execute(lookInto(source));
    const file = backupFile();
    await cliHere(['backup', file], source);
    const target = await emptyOn('postgres');
    const line = await failing(['restore', file], target);
    expect(line).toMatch(/rows 1 to 1 of shop_counters cannot be written: 22P02/);
    expect(line).not.toContain('many');
    expect(await isUntouched(target)).toBe(true);
  });
});
