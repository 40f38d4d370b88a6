// engines: postgres

import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doctor, filled, statesOf } from '../support/doctor.ts';
import { wrongClock } from '../support/faults.ts';
import { freePort } from '../support/postgres-server.ts';
import { type Env, emptyDatabase, lookInto, migratedDatabase, run } from '../support/process.ts';
import { throughPgbouncer } from '../support/proxies.ts';
import { makeShop, startShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { until } from '../support/until.ts';

const session = async (env: Env, application_name: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: env['DATABASE_URL'], application_name });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};
const waitsForLock = async (env: Env, count: number): Promise<boolean> => {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(lookInto(env));
  return rows.length === count;
};
const pidOf = async (client?: pg.Client): Promise<number> =>
  (await client?.query('select pg_backend_pid() as pid'))?.rows[0]?.pid;

describe('doctor on PostgreSQL', () => {
  it('says why the database cannot be reached', async () => {
    const env = await migratedDatabase();
    const url = new URL(env['DATABASE_URL'] as string);
    url.port = String(await freePort());
    const found = await doctor({ ...env, DATABASE_URL: url.href });
    expect(statesOf(found)).toEqual({ settings: 'ok', database: 'wrong' });
    expect(found['database']?.message).toBe(
      `the server cannot be reached (127.0.0.1:${url.port}, DATABASE_URL)`,
    );
  });

  it('says that a database is read-only', async () => {
    // A new database, since other tests share the prepared ones.
    const env = await emptyDatabase();
    await makeShop(env);
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(lookInto(env));
    const found = await doctor(env);
    expect(found['database']?.state).toBe('ok');
    expect(found['writes']).toMatchObject({ state: 'wrong', message: expect.stringContaining('read-only') });
  });

  it("warns of a clock that differs from the database's", needs('faketime'), async () => {
    const env = await migratedDatabase();
    await makeShop(env);
    const found = await doctor({ ...env, ...wrongClock('-90s') }, run);
    expect(found['clock']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/(89|90)\.\d s behind/),
    });
  });

  it('names the session that holds a lock, and those that wait, but not their statements', async () => {
    const env = await filled();
    const [holder, waiting, requests] = await Promise.all(
      ['an operator', 'a migration', 'handback'].map((application_name) => session(env, application_name)),
    );
    const [pid, waitingPid] = await Promise.all([pidOf(holder), pidOf(waiting)]);
    await holder?.query("begin; select 'secret' from trade_returns");
    const altering = waiting?.query("alter table trade_returns add column secret text default 'secret'");
    const reading = until('both wait', () => waitsForLock(env, 1)).then(() =>
      requests?.query('select from trade_returns'),
    );
    await until('both wait', () => waitsForLock(env, 2));
    const found = await until('the locks are old', async () => {
      const checks = await doctor(env, run);
      return / waits itself, /.test(checks['locks']?.message ?? '') && checks;
    });
    await holder?.query('rollback');
    await Promise.all([altering, reading]);
    expect(found['locks']?.message).toMatch(
      new RegExp(
        `^session ${pid} \\(an operator, idle in transaction, transaction since \\S+Z\\) keeps 1 waiting, 0 of them of Handback, ` +
          `session ${waitingPid} \\(a migration, active, transaction since \\S+Z\\) waits itself, and keeps 1 waiting, 1 of them of Handback: ` +
          `end the first session.*pg_terminate_backend\\(${pid}\\)$`,
      ),
    );
    expect(JSON.stringify(found)).not.toContain('secret text');
    expect(JSON.stringify(found)).not.toContain("'secret'");
    expect(found['totals']).toMatchObject({ state: 'wrong', message: expect.stringContaining('line locks') });
    expect(found['queue']?.state).toBe('ok');
    expect((await doctor(env, run))['locks']).toEqual({
      check: 'locks',
      state: 'ok',
      message: 'no session is waiting for a lock',
    });
  });

  it('compares the connections that processes may open with those the server has for them', async () => {
    const { env } = await startShop();
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    const look = async (limit: number) => {
      await sql`alter database ${sql.id(name)} connection limit ${sql.lit(limit)}`.execute(lookInto(env));
      return (await doctor(env))['connections'];
    };
    expect(await look(100)).toMatchObject({
      state: 'ok',
      message: expect.stringMatching(/^a process may open 25 connections; the server has room for 9\d$/),
    });
    expect(await look(20)).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(
        /has room for 1\d: raise max_connections on the server by at least \d+, or lower DATABASE_POOLS/,
      ),
    });
    await look(-1);
  });

  it('detects the mode of a pooler', needs('pgbouncer'), async () => {
    const env = await filled();
    for (const [mode, state] of [
      ['session', 'ok'],
      ['transaction', 'wrong'],
    ] as const) {
      const pooled = await throughPgbouncer(env['DATABASE_URL'] as string, { mode });
      const found = await doctor({ ...env, DATABASE_URL: pooled });
      expect(found['pooler']?.state).toBe(state);
      expect(found['pooler']?.message).toContain(mode === 'session' ? 'session mode' : 'transaction mode');
      expect(found['totals']?.state).toBe('ok');
    }
  });
});
