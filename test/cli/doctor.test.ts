import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { everyRow } from '../support/backups.ts';
import { runHere } from '../support/commands-here.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { doctor, filled, statesOf } from '../support/doctor.ts';
import { scriptedProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/postgres-server.ts';
import { emptyDatabase, holdWriteLock, launch, lookInto, migratedDatabase, run } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { mailServer } from '../support/smtp.ts';

const CHECKS =
  'settings,database,migrations,writes,clock,secret key,queue,keys,backup,totals,counters,disk'.split(',');

describe('doctor', () => {
  it('finds nothing wrong with a healthy installation, and changes nothing', async () => {
    const env = await filled();
    const before = await everyRow(env);
    const found = await doctor(env, run);
    expect(statesOf(found)).toEqual(Object.fromEntries(CHECKS.map((name) => [name, 'ok'])));
    expect(await everyRow(env)).toEqual(before);
    const { status, stdout, stderr } = await runHere(['doctor'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(CHECKS.length);
    for (const line of lines) expect(line).toMatch(/^ok {5}[a-z]+/);
  });

  it('asks the identity provider for its description', async () => {
    const env = await migratedDatabase();
    const provider = await scriptedProvider();
    const look = async (more: Record<string, string> = {}) =>
      (await doctor({ ...env, ...provider.env, ...more }))['provider'];
    expect(await look()).toMatchObject({ state: 'ok', message: `${provider.issuer} responds` });
    const elsewhere = provider.issuer.replace('127.0.0.1', 'localhost');
    expect(await look({ OIDC_ISSUER: elsewhere })).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('does not identify itself'),
    });
    await provider.stop();
    expect(await look()).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('cannot be reached'),
    });
    expect(await look({ PASSWORD_SIGN_IN: 'false' })).toMatchObject({ state: 'wrong' });
  });

  it('checks that the mail server accepts the login, and sends nothing', async () => {
    const env = await migratedDatabase();
    const mails = await mailServer({ password: 'right' });
    const look = async (password: string, SMTP_URL = mails.env.SMTP_URL) =>
      (await doctor({ ...env, ...mails.env, SMTP_URL: SMTP_URL.replace('//', `//me:${password}@`) }))['mail'];
    expect(await look('right')).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('127.0.0.1 accepts the login'),
    });
    const refused = await look('wrong-one');
    expect(refused).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('does not accept the user and password in SMTP_URL [EAUTH 535]'),
    });
    expect(refused?.message).not.toContain('wrong-one');
    expect(await look('right', `smtp://127.0.0.1:${await freePort()}`)).toMatchObject({
      state: 'wrong',
      message: expect.stringMatching(/cannot be reached.*handback mail test ADDRESS/),
    });
    expect(mails.received).toEqual([]);
    expect((await doctor(env))['mail']).toBeUndefined();
  });

  it.each([
    ['update rma_totals set count = count + 1', 'totals', 'do not match the rows: \\S+ offline_repairs API'],
    ['delete from rma_totals', 'totals', 'do not match the rows'],
    ['update shop_counters set month_used = 2', 'totals', 'month_used is below'],
    ['update shop_counters set last_number = 2', 'counters', 'last_number of shop'],
    ['update shop_counters set last_position = 2', 'counters', 'last_position of shop'],
    ['update shop_counters set last_at = 2', 'counters', 'last_at of shop'],
  ])('finds what does not match the rows: %s', async (change, check, about) => {
    const { shopId, ...env } = await filled();
    await sql.raw(change).execute(lookInto(env));
    const found = await doctor(env);
    const message = expect.stringMatching(new RegExp(`(?=.*${shopId}).*${about}`));
    expect(found[check]).toMatchObject({ state: 'wrong', message });
    expect(Object.values(found).filter(({ state }) => state === 'wrong')).toHaveLength(1);
  });

  it.each([['doctor --json'], ['--help'], ['listen --port 0']])(
    'exits quietly if the reader of its output closes: %s',
    async (command) => {
      const { child, out, ended } = launch(command.split(' '), await migratedDatabase());
      child.stdout.destroy();
      expect(await ended).toEqual({ status: 0, signal: null });
      expect(out.stderr).toBe('');
    },
  );

  it('finds keys that do not open the stored secrets', async () => {
    const env = await migratedDatabase();
    const { clientId: id } = await makeShop(env);
    await makeShop(env);
    const other = { ...env, SECRET_KEY: 'another key that is long enough too' };
    expect((await doctor(other))['secret key']).toMatchObject({
      state: 'wrong',
      message: expect.stringMatching(/SECRET_KEY is not the key/),
    });
    await lookInto(env)
      .updateTable('api_clients')
      .set({ webhook_secret: 'damaged' })
      .where('id', '=', id)
      .execute();
    const found = (await doctor(env))['secret key'];
    expect(found).toMatchObject({ state: 'wrong', message: expect.stringContaining(`api_clients ${id}`) });
  });

  it('warns of webhooks that have waited for long, and of changes dated in the future', async () => {
    const env = await filled();
    const db = lookInto(env);
    const client = await db.selectFrom('api_clients').select('id').executeTakeFirstOrThrow();
    await addDeliveries({ ctx: { db } }, [waitingDelivery(client.id, Date.now() - 600_000)]);
    const anHourAhead = { last_at: Date.now() + 3_600_000 };
    await db.updateTable('shop_counters').set(anHourAhead).execute();
    const found = await doctor(env);
    expect(found['queue']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/^1 webhook waiting, .* 6\d\d s/),
    });
    expect(found['clock']).toMatchObject({ state: 'warn', message: expect.stringContaining('ahead of now') });
  });

  it('names failing receivers and says what was dropped, even if nothing waits any more', async () => {
    const env = await filled();
    const db = lookInto(env);
    const client = await db.selectFrom('api_clients').select('id').executeTakeFirstOrThrow();
    expect((await doctor(env))['queue']).toMatchObject({ state: 'ok', message: 'empty' });
    const ended = { status: 'DROPPED', finished_at: Date.now() } as const;
    const dropped = { ...waitingDelivery(client.id, Date.now()), ...ended } as never;
    await addDeliveries({ ctx: { db } }, [dropped]);
    await db.updateTable('api_clients').set({ webhook_url: 'https://pos.example.com/' }).execute();
    await db
      .insertInto('webhook_failures')
      .values({
        receiver_id: client.id,
        since: Date.now() - 5_000,
        failed_attempts: 4,
        dropped_deliveries: 1,
        last_error: 'status 500\u001b[2J',
      })
      .execute();
    const { stdout } = await runHere(['doctor'], env);
    expect(stdout).toMatch(
      /^warn {3}queue +failing receivers: .+ of .+ \(status 500 \[2J\); 1 webhooks were dropped within a day; 0 webhooks waiting\./m,
    );
  });

  it('warns of keys that expired or will within two weeks, unless their clients were replaced', async () => {
    const { shopId, ...env } = await filled();
    const db = lookInto(env);
    const { id, name } = await db.selectFrom('api_clients').select(['id', 'name']).executeTakeFirstOrThrow();
    const found = async (change: { expires_at?: number; replaced_by?: string }) => {
      await db.updateTable('api_clients').set(change).where('id', '=', id).execute();
      return (await doctor(env))['keys'];
    };
    const day = 86_400_000;
    expect(await found({ expires_at: Date.now() + 15 * day })).toMatchObject({ state: 'ok' });
    for (const [ahead, words] of [
      [13, 'expires'],
      [-1, 'expired'],
    ] as const) {
      const message = expect.stringContaining(`${name} (client ${id}) ${words} at `);
      expect(await found({ expires_at: Date.now() + ahead * day })).toMatchObject({ state: 'warn', message });
    }
    expect(await found({ replaced_by: shopId })).toMatchObject({ state: 'ok' });
  });

  it('warns of a month that was stored by a clock that was ahead', async () => {
    const env = await filled();
    await lookInto(env).updateTable('shop_counters').set({ month: '9999-12' }).execute();
    expect((await doctor(env))['clock']).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('a shop counts in the month 9999-12'),
    });
  });

  it('reports a schema that is older, newer, or missing', async () => {
    // A database that no other test uses again.
    const env = await emptyDatabase();
    await makeShop(env);
    const db = lookInto(env);
    await sql`delete from kysely_migration where name >= '0001'`.execute(db);
    expect(await doctor(env)).toMatchObject({
      migrations: { state: 'warn', message: expect.stringContaining('0001-schema') },
      data: { state: 'warn' },
    });
    await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(db);
    expect((await doctor(env))['migrations']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('9999-future'),
    });
    const empty = await emptyDatabase();
    expect((await doctor(empty))['database']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('no database'),
    });
    expect(existsSync(empty['DATA_DIR'] as string)).toBe(false);
  });

  it('reports a read-only database, and a folder that backups cannot be written to', async () => {
    const env = { ...(await filled()), BACKUP_DAILY_AT: '02:30', BACKUP_DIR: '/missing' };
    const lock = holdWriteLock(env);
    const found = await doctor(env);
    lock.letGo();
    expect(found['database']?.state).toBe('ok');
    expect(found['writes']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('another process holds it'),
    });
    expect(found['backup']).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('no such folder (BACKUP_DIR)'),
    });
    expect((await doctor(env))['writes']?.state).toBe('ok');
  });

  it('names an invalid setting, and warns of doubtful ones', async () => {
    const env = await migratedDatabase();
    expect(await doctor({ ...env, PORT: 'many' })).toEqual({
      settings: { check: 'settings', state: 'wrong', message: expect.stringContaining('PORT') },
    });
    const SECRET_KEY = 'a key that is long enough for a test';
    const remote = (options = '') =>
      doctor({ SECRET_KEY, DATABASE_URL: `postgres://me:secret-password@192.0.2.1,localhost/x${options}` });
    expect((await remote('?target_session_attrs=any'))['settings']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/^192\.0\.2\.1 is reached without TLS.*sslmode=verify-full/),
    });
    for (const [options, how] of [
      ['&ssl=0', 'without TLS'],
      ['&sslmode=no-verify', 'over TLS without a check of its certificate'],
      ['&uselibpqcompat=true&sslmode=prefer', 'over TLS without a check of its certificate'],
    ])
      expect((await remote(`?target_session_attrs=any${options}`))['settings'], options).toMatchObject({
        state: 'warn',
        message: expect.stringContaining(`192.0.2.1 is reached ${how}`),
      });
    const encrypted = await remote('?target_session_attrs=any&sslmode=verify-full');
    expect(encrypted['settings']?.state).toBe('ok');
    expect(JSON.stringify(encrypted)).not.toContain('secret-password');
    const MAIL = {
      SMTP_URL: 'smtp://u:p@mail.example.com',
      MAIL_FROM: 'a@b.example',
      SMTP_ALLOW_PLAIN: 'true',
    };
    const found = await doctor({ ...env, ...MAIL, HOST: '0.0.0.0', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
    expect(found['settings']).toMatchObject({
      state: 'warn',
      message: expect.stringMatching(/WEBHOOK_ALLOW_PRIVATE_NETWORKS.*PUBLIC_URL.*SMTP_ALLOW_PLAIN/),
    });
  });
});
