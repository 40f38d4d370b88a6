import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { everyRow } from '../support/backups.ts';
import { runHere } from '../support/commands-here.ts';
import { wrongClock } from '../support/faketime.ts';
import { ENGINE } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import {
  type Env,
  emptyDatabase,
  lookInto,
  migratedDatabase,
  run,
  temporaryFolder,
} from '../support/process.ts';
import { addRepairs, addShops, makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

interface Checked {
  check: string;
  state: 'ok' | 'warn' | 'wrong';
  message: string;
}

/** What it finds, by check; the exit status fits. */
const doctor = async (env: Env, runs: typeof runHere = runHere): Promise<Record<string, Checked>> => {
  const result = await runs(['doctor', '--json'], env);
  expect(result.stderr).toBe('');
  const { ok, checks } = result.json as { ok: boolean; checks: Checked[] };
  expect(ok).toBe(checks.every(({ state }) => state !== 'wrong'));
  expect(result.status).toBe(ok ? 0 : 1);
  return Object.fromEntries(checks.map((checked) => [checked.check, checked]));
};

const statesOf = (found: Record<string, Checked>) =>
  Object.fromEntries(Object.entries(found).map(([check, { state }]) => [check, state]));

const filled = async (): Promise<Env & { shopId: string }> => {
  const env = await migratedDatabase();
  const { shopId, key } = await makeShop(env);
  await addRepairs(env, key, 3);
  return { ...env, shopId };
};

const CHECKS = ['settings', 'database', 'migrations', 'clock', 'secret key', 'queue', 'totals', 'counters'];
const ENGINE_CHECK = ENGINE === 'sqlite' ? 'disk' : 'pooler';

describe('doctor', () => {
  it('finds nothing wrong with a good installation, and changes nothing', async () => {
    const env = await filled();
    const before = await everyRow(env);
    const found = await doctor(env, run);
    expect(statesOf(found)).toEqual(
      Object.fromEntries([...CHECKS, ENGINE_CHECK].map((name) => [name, 'ok'])),
    );
    expect(await everyRow(env)).toEqual(before);
    const { status, stdout, stderr } = await run(['doctor'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(CHECKS.length + 1);
    for (const line of lines) expect(line).toMatch(/^ok {5}[a-z]+/);
  });

  it.each<[what: string, change: string, check: string, about: RegExp]>([
    [
      'totals',
      'update rma_totals set count = count + 1',
      'totals',
      /not what counting finds: \S+ offline_repairs API/,
    ],
    ['a total that is missing', 'delete from rma_totals', 'totals', /not what counting finds/],
    ['the month', 'update shop_counters set month_used = 2', 'totals', /month_used is below/],
    ['numbers', 'update shop_counters set last_number = 2', 'counters', /last_number of shop/],
    ['positions', 'update shop_counters set last_position = 2', 'counters', /last_position of shop/],
    ['times', 'update shop_counters set last_at = 2', 'counters', /last_at of shop/],
  ])('finds %s that do not fit the rows', async (_what, change, check, about) => {
    const { shopId, ...env } = await filled();
    await sql.raw(change).execute(lookInto(env));
    const found = await doctor(env);
    expect(found[check]).toMatchObject({ state: 'wrong', message: expect.stringMatching(about) });
    expect(found[check]?.message).toContain(shopId);
    expect(Object.values(found).filter(({ state }) => state === 'wrong')).toHaveLength(1);
  });

  it('finds keys that do not open what is sealed', async () => {
    const env = await migratedDatabase();
    const [first] = await addShops(env, 2);
    const other = { ...env, SECRET_KEY: 'another key that is long enough too' };
    expect((await doctor(other, run))['secret key']).toMatchObject({
      state: 'wrong',
      message: expect.stringMatching(/SECRET_KEY does not hold the key/),
    });
    const id = first?.client.id as string;
    await lookInto(env)
      .updateTable('api_clients')
      .set({ webhook_secret: 'damaged' })
      .where('id', '=', id)
      .execute();
    const found = (await doctor(env))['secret key'];
    expect(found).toMatchObject({ state: 'wrong', message: expect.stringContaining(`api_clients ${id}`) });
  });

  it('warns of webhooks that wait for long, and of changes that are dated ahead', async () => {
    const { shopId, ...env } = await filled();
    const db = lookInto(env);
    const client = await db.selectFrom('api_clients').select('id').executeTakeFirstOrThrow();
    await db
      .insertInto('webhook_deliveries')
      .values({
        id: shopId,
        client_id: client.id,
        rma_id: null,
        event: 'offline_repair.closed',
        body: '{}',
        status: 'PENDING',
        attempts: 0,
        attempt_log: '[]',
        due_at: 1,
        created_at: Date.now() - 600_000,
        finished_at: null,
      })
      .execute();
    await db
      .updateTable('shop_counters')
      .set({ last_at: Date.now() + 3_600_000 })
      .execute();
    const found = await doctor(env);
    expect(found['queue']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/^1 webhook waits, .* 60\d s/),
    });
    expect(found['clock']).toMatchObject({ state: 'warn', message: expect.stringContaining('ahead of now') });
  });

  it('tells of a schema that is older, newer, or not there', async () => {
    // Not one that other tests use again.
    const env = await emptyDatabase();
    await makeShop(env);
    const db = lookInto(env);
    await sql`delete from kysely_migration where name >= '0015'`.execute(db);
    expect(await doctor(env)).toMatchObject({
      migrations: { state: 'warn', message: expect.stringContaining('0015-product-names') },
      data: { state: 'warn' },
    });
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(db);
    expect((await doctor(env))['migrations']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('9999-future'),
    });
    const empty = await emptyDatabase();
    const found = await doctor(empty);
    if (ENGINE === 'postgres') expect(found['migrations']?.state).toBe('warn');
    else {
      expect(found['database']).toMatchObject({
        state: 'wrong',
        message: expect.stringContaining('no database'),
      });
      expect(existsSync(empty['DATA_DIR'] as string)).toBe(false);
    }
  });

  it('names a wrong setting, and says what is doubtful about others', async () => {
    const env = await migratedDatabase();
    expect(await doctor({ ...env, PORT: 'many' })).toEqual({
      settings: { check: 'settings', state: 'wrong', message: expect.stringContaining('PORT') },
    });
    const found = await doctor({ ...env, HOST: '0.0.0.0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    expect(found['settings']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/WEBHOOK_ALLOW_PRIVATE_NETWORKS.*PUBLIC_URL/),
    });
  });
});

describe.runIf(ENGINE === 'postgres')('doctor on PostgreSQL', () => {
  it('says why the database cannot be reached', async () => {
    const env = await migratedDatabase();
    const url = new URL(env['DATABASE_URL'] as string);
    url.port = String(await freePort());
    const found = await doctor({ ...env, DATABASE_URL: url.href });
    expect(statesOf(found)).toEqual({ settings: 'ok', database: 'wrong' });
    expect(found['database']?.message).toContain('cannot be reached');
  });

  it("warns of a clock that is not the database's", async () => {
    const env = await migratedDatabase();
    await makeShop(env);
    const found = await doctor({ ...env, ...wrongClock('-90s') }, run);
    expect(found['clock']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/(89|90)\.\d s behind/),
    });
  });

  it('gives up on what takes too long, and goes on', async () => {
    const env = await filled();
    const db = lookInto(env);
    const found = await db.transaction().execute(async (trx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
      await sql`lock table trade_returns in access exclusive mode`.execute(trx);
      return doctor(env, run);
    });
    expect(found['totals']).toEqual({ check: 'totals', state: 'warn', message: 'not checked in time' });
    expect(found['queue']?.state).toBe('ok');
  });

  it.runIf(spawnSync('pgbouncer', ['--version']).error === undefined)('sees how a pooler works', async () => {
    const env = await filled();
    for (const [mode, state] of [
      ['session', 'ok'],
      ['transaction', 'wrong'],
    ] as const) {
      const pooled = await throughPooler(env['DATABASE_URL'] as string, mode);
      const found = await doctor({ ...env, DATABASE_URL: pooled });
      expect(found['pooler']?.state).toBe(state);
      expect(found['pooler']?.message).toContain(mode === 'session' ? 'keeps a session' : 'shares sessions');
      expect(found['totals']?.state).toBe('ok');
    }
  });
});

const NOBODY = 65_534;

/** The same database through a PgBouncer of the test's own. */
const throughPooler = async (databaseUrl: string, mode: string): Promise<string> => {
  const url = new URL(databaseUrl);
  const port = await freePort();
  const file = join(temporaryFolder(), 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${url.hostname} port=${url.port} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
  );
  // It does not run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [join(file, '..'), file]) chownSync(path, NOBODY, NOBODY);
  const pooler = spawn('pgbouncer', ['-q', file], {
    stdio: 'ignore',
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const ended = new Promise((resolve) => pooler.once('close', resolve));
  onTestFinished(async () => {
    pooler.kill('SIGKILL');
    await ended;
  });
  url.port = String(port);
  const { default: pg } = await import('pg');
  await until('the pooler answers', async () => {
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => {});
    const answered = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    return answered;
  });
  return url.href;
};
