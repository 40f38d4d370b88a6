// engines: sqlite, postgres

import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../../support/engines.ts';
import { effort, expectUnavailable, measured, refusal } from '../../support/faults.ts';
import { onServer } from '../../support/postgres-databases.ts';
import { cli, type Env, emptyDatabase, run, startServer, withOwnTimeLimits } from '../../support/process.ts';
import { makeShop } from '../../support/shops.ts';
import { until } from '../../support/until.ts';

withOwnTimeLimits();

const refused: string[] = [];
afterAll(() =>
  measured(19, `${refused.join(', ')}: one line or a 503 each, and the service continues once it is fixed`),
);

const DAMAGES: [string, (key: string) => string | null][] = [
  ['missing', () => null],
  ['another one’s', (key) => key.replace(/./g, (digit) => (digit === '0' ? '1' : '0'))],
  ['cut short', (key) => key.slice(0, 10)],
  ['empty', () => ''],
  ['filled with something else', () => '\0\xff'.repeat(40)],
];

const serve = (env: Env, options = {}) => run(['serve'], { ...env, PORT: '0' }, options);

/** A database with one repair in it, and how to see that it is still there and that work goes on. */
const withRepair = async () => {
  const env = await emptyDatabase();
  const { key } = await makeShop(env);
  const server = await startServer(env, { key });
  const { body } = await server.create();
  expect((await server.stop()).status).toBe(0);
  const expectMended = async (options = {}) => {
    const again = await startServer(env, { key, ...options });
    expect((await again.get(`/offline-repairs/${body.id}`)).body).toEqual(body);
    expect((await again.create()).body.rmaNumber).toBe('#RMA-000002');
    expect((await again.stop()).status).toBe(0);
  };
  return { env, key, expectMended };
};

it("a SECRET_KEY other than the database's prevents the start", async () => {
  const { env, expectMended } = await withRepair();
  const other = 'quite another key that is just as long as it must be';
  for (const args of [['serve'], ['shop', 'list', '--json']]) {
    const line = refusal(await run(args, { ...env, PORT: '0', SECRET_KEY: other }));
    expect(line).toContain('SECRET_KEY');
    expect(line).not.toContain(other);
  }
  await expectMended();
  refused.push('wrong SECRET_KEY');
});

describe('the data folder', ONLY_SQLITE, () => {
  it.each(effort(DAMAGES.slice(0, 2), DAMAGES))(
    'with a secret.key that is %s prevents the start, which names the file and creates no other key',
    async (_, damage) => {
      const { env, expectMended } = await withRepair();
      const file = join(env['DATA_DIR'] as string, 'secret.key');
      const key = readFileSync(file, 'utf8');
      const damaged = damage(key.trim());
      if (damaged === null) rmSync(file);
      else writeFileSync(file, damaged, 'latin1');
      const line = refusal(await serve(env));
      expect(line).toContain('secret.key');
      expect(line).toContain(file);
      expect(line).not.toContain(key.trim());
      if (damaged === null) expect(existsSync(file)).toBe(false);
      else expect(readFileSync(file, 'latin1')).toBe(damaged);
      writeFileSync(file, key);
      await expectMended();
    },
  );

  it('prevents the start if it is read-only for this user', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('needs another user to run as');
    const { env, expectMended } = await withRepair();
    const folder = env['DATA_DIR'] as string;
    const all = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
    const nobody = { uid: 65_534 };
    // The folder that it is in belongs to root alone.
    chmodSync(join(folder, '..'), 0o755);
    for (const path of all) chmodSync(path, path === folder ? 0o755 : 0o444);
    expect(refusal(await serve(env, nobody))).toMatch(
      /DATA_DIR.*(permission|read-only)|(permission|read-only).*DATA_DIR/,
    );
    for (const path of all) chownSync(path, nobody.uid, nobody.uid);
    for (const path of all) chmodSync(path, path === folder ? 0o700 : 0o600);
    await expectMended(nobody);
    refused.push('read-only files');
  });

  it('serves one process only: a second one exits with one line, and a command works beside the first', async () => {
    const env = await emptyDatabase();
    const first = await startServer(env);
    expect(refusal(await serve(env))).toMatch(/another Handback process is already using .+DATA_DIR/);
    expect(await cli(['shop', 'list'], env)).toEqual([]);
    expect(await first.isReady()).toBe(true);
    expect((await first.stop()).status).toBe(0);
    const third = await startServer(env);
    await third.stop('SIGKILL');
    // A lock ends with its process.
    const fourth = await startServer(env);
    expect(await fourth.isReady()).toBe(true);
    refused.push(`secret.key damaged in ${effort(2, DAMAGES.length)} ways`, 'second process on a folder');
  });
});

it(
  'a read-only PostgreSQL makes the service unready and writes a 503, and it recovers by itself',
  ONLY_POSTGRES,
  async () => {
    const env = await emptyDatabase();
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    expect(await server.create()).toHaveStatus(201);
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    const main = (env['DATABASE_URL'] as string).replace(`/${name}`, '/postgres');
    /** This affects new connections only, so the existing ones are ended. */
    const setReadOnly = async (state: 'on' | 'off') => {
      await onServer(main, `alter database ${name} set default_transaction_read_only = ${state}`);
      await onServer(
        main,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
    };
    await setReadOnly('on');
    await until('it is not ready', async () => !(await server.isReady()));
    expectUnavailable(await server.create());
    await setReadOnly('off');
    const next = await until('it creates again', async () => {
      const response = await server.create();
      return response.status === 201 ? response : null;
    });
    expect(next.body.rmaNumber).toBe('#RMA-000002');
    refused.push('read-only database');
  },
);
