// engines: postgres

import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../support/commands-here.ts';
import { onServer } from '../support/postgres-databases.ts';
import { NOBODY, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import {
  type Env,
  type Run,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
  withOwnTimeLimits,
} from '../support/process.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

// Certificates for 100 years: `localhost`, signed by ca.pem. other-ca.pem has signed nothing.
const tls = (name: string): string => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));

let postgres: PostgresServer;
let plain: PostgresServer;

const hasTls = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url, ssl: { rejectUnauthorized: false } });
  // Without TLS the server refuses it.
  const isThere = await client.connect().then(
    () => true,
    () => false,
  );
  await client.end();
  return isThere;
};

/** The user `handback` gets in over TLS and with a password, `postgres` as everywhere in the tests. */
const switchOnTls = async (): Promise<void> => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query('show data_directory');
  const folder = rows[0].data_directory as string;
  for (const name of ['server.pem', 'server.key']) {
    copyFileSync(tls(name), join(folder, name));
    // PostgreSQL takes no key that others may read.
    chmodSync(join(folder, name), 0o600);
    if (process.getuid?.() === 0) chownSync(join(folder, name), NOBODY, NOBODY);
  }
  await client.query("create role handback superuser login password 'right'");
  writeFileSync(
    join(folder, 'pg_hba.conf'),
    'host all postgres 127.0.0.1/32 trust\nhostssl all handback 127.0.0.1/32 scram-sha-256\n',
  );
  await client.query("alter system set ssl_cert_file = 'server.pem'");
  await client.query("alter system set ssl_key_file = 'server.key'");
  await client.query('alter system set ssl = on');
  await client.query('select pg_reload_conf()');
  await client.end();
  await until('the server has TLS', () => hasTls(postgres.url));
};

beforeAll(async () => {
  postgres = await startPostgres();
  plain = await startPostgres();
  await switchOnTls();
  await onServer(postgres.url, 'create database handback');
});
afterAll(() => Promise.all([postgres?.stop(), plain?.stop()]));

const at = (options: string, { host = 'localhost', password = 'right', server = postgres } = {}): Env => ({
  DATABASE_URL: `postgres://handback:${password}@${host}:${new URL(server.url).port}/handback${options}`,
  SECRET_KEY,
  DATABASE_WAIT_SECONDS: '0',
});
const TRUSTED = `?sslmode=verify-full&sslrootcert=${tls('ca.pem')}`;

describe('TLS to PostgreSQL', () => {
  it('is used by all connections of the service, and by commands', async () => {
    const server = await startServer(at(TRUSTED));
    expect(await server.get('/readyz')).toHaveStatus(200);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(
      `select ssl, count(*)::int as connections from pg_stat_ssl join pg_stat_activity using (pid)
         where usename = 'handback' group by ssl`,
    );
    await client.end();
    expect(rows).toEqual([{ ssl: true, connections: expect.any(Number) }]);
    expect((await server.stop()).status).toBe(0);
    const { status, json, stderr } = await run(['doctor', '--json'], at(TRUSTED));
    expect({ status, stderr, ok: json.ok }).toEqual({ status: 0, stderr: '', ok: true });
    await run(['backup', join(temporaryFolder(), 'x.backup'), '--json'], at(TRUSTED)).then((backup) =>
      expect(backup).toMatchObject({ status: 0, stderr: '' }),
    );
  });

  it.each([
    ['require, which also verifies the certificate', `?sslmode=require&sslrootcert=${tls('ca.pem')}`],
    ['an authority alone', `?sslrootcert=${tls('ca.pem')}`],
    ['no-verify, without any authority', '?sslmode=no-verify'],
  ])('works with %s, without messages', async (_, options) => {
    expect(await runHere(['shop', 'list', '--json'], at(options))).toMatchObject({ status: 0, stderr: '' });
  });

  const expectLine = ({ status, stdout, stderr }: Run, line: RegExp) => {
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^handback: [^\n]*DATABASE_URL[^\n]*\n$/);
    expect(stderr).toMatch(line);
    expect(stderr).not.toMatch(/right|wrong@|:wrong/);
  };
  const wrongFile = tls('server.key').replace('server.key', 'missing.pem');
  it.each<[what: string, env: () => Env, line: RegExp]>([
    ['no TLS if the server requires it', () => at(''), /only over TLS.*sslmode=verify-full/],
    ['sslmode=disable there', () => at('?sslmode=disable'), /only over TLS.*sslmode=verify-full/],
    [
      'no authority',
      () => at('?sslmode=verify-full'),
      /not signed by an authority that is trusted here.*sslrootcert=/,
    ],
    [
      'require without an authority',
      () => at('?sslmode=require'),
      /not signed by an authority.*sslrootcert=/,
    ],
    [
      'another authority',
      () => at(`?sslmode=verify-full&sslrootcert=${tls('other-ca.pem')}`),
      /not signed by an authority that is trusted here.*sslrootcert=/,
    ],
    ['another name', () => at(TRUSTED, { host: '127.0.0.1' }), /is for another name/],
    ['a server without TLS', () => at(TRUSTED, { server: plain }), /the server has no TLS.*ssl = on/],
    ['a wrong password', () => at(TRUSTED, { password: 'wrong' }), /refused the user name or password/],
    [
      'a missing file',
      () => at(`?sslmode=verify-full&sslrootcert=${wrongFile}`),
      /sslrootcert in DATABASE_URL names a file that cannot be read/,
    ],
    ['an invalid mode', () => at('?sslmode=yes'), /DATABASE_URL can have an sslmode of disable, prefer/],
  ])('%s causes one line that says what to change', async (_, env, line) => {
    expectLine(await runHere(['shop', 'list', '--json'], env()), line);
  });

  it('the service prints that line, too, if it cannot start', async () => {
    const wrong = { ...at(TRUSTED, { password: 'wrong' }), PORT: '0', LOG_LEVEL: 'silent' };
    expectLine(await run(['serve'], wrong), /refused the user name or password/);
  });

  it('a damaged file of the authority causes one line that says what to change', async () => {
    const file = join(temporaryFolder(), 'ca.pem');
    writeFileSync(file, readFileSync(tls('ca.pem'), 'utf8').replace('BEGIN', 'START'));
    expectLine(await runHere(['shop', 'list'], at(`?sslmode=verify-full&sslrootcert=${file}`)), /./);
  });
});
