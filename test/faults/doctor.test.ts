import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { doctor, filled, statesOf } from '../support/doctor.ts';
import { wrongClock } from '../support/faults.ts';
import { freePort } from '../support/postgres-server.ts';
import { emptyDatabase, lookInto, migratedDatabase, run } from '../support/process.ts';
import { throughPgbouncer } from '../support/proxies.ts';
import { makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';

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
    // Not one that other tests use again.
    const env = await emptyDatabase();
    await makeShop(env);
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(lookInto(env));
    const found = await doctor(env);
    expect(found['database']?.state).toBe('ok');
    expect(found['writes']).toMatchObject({ state: 'wrong', message: expect.stringContaining('read-only') });
  });

  it("warns of a clock that is not the database's", needs('faketime'), async () => {
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

  it('sees how a pooler works', needs('pgbouncer'), async () => {
    const env = await filled();
    for (const [mode, state] of [
      ['session', 'ok'],
      ['transaction', 'wrong'],
    ] as const) {
      const pooled = await throughPgbouncer(env['DATABASE_URL'] as string, { mode });
      const found = await doctor({ ...env, DATABASE_URL: pooled });
      expect(found['pooler']?.state).toBe(state);
      expect(found['pooler']?.message).toContain(mode === 'session' ? 'keeps a session' : 'shares sessions');
      expect(found['totals']?.state).toBe('ok');
    }
  });
});
