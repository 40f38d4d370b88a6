// engines: postgres

import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ANSWERED_WITHIN_MS, expectWithin } from '../support/faults.ts';
import { onServer } from '../support/postgres-databases.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import {
  cli,
  type Env,
  onHosts,
  ownPostgres,
  run,
  type ServerProcess,
  startServer,
  timed,
  withOwnTimeLimits,
} from '../support/process.ts';
import { startTcpProxy } from '../support/proxies.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

const setUp = async () => {
  const { postgres: primary, env: alone } = await ownPostgres();
  const standby = await primary.addStandby();
  onTestFinished(standby.stop);
  const env = onHosts(alone, [primary, standby]);
  const { key } = await makeShop(env);
  return { primary, standby, alone, env, key };
};

const create = (server: ServerProcess): Promise<string> =>
  until('it creates', async () => {
    const { value, ms } = await timed(() => server.create());
    expectWithin(ms, ANSWERED_WITHIN_MS);
    expect(value).toHaveStatus(201, 503);
    return value.status === 201 && (value.body.id as string);
  });

const askServer = async (env: Env, { url }: { url: string }, statement: string): Promise<unknown[]> => {
  const address = new URL(url);
  address.pathname = new URL(onHosts(env, [{ url }])['DATABASE_URL'] as string).pathname;
  const client = new pg.Client({ connectionString: address.toString() });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

const idsOn = async (env: Env, server: PostgresServer): Promise<unknown[]> =>
  (await askServer(env, server, 'select id from offline_repairs')).map((row) => (row as { id: string }).id);

const setReadOnly = async (primary: PostgresServer, state: 'on' | 'off'): Promise<void> => {
  await onServer(primary.url, `alter system set default_transaction_read_only = ${state}`);
  await onServer(primary.url, 'select pg_reload_conf()');
};

/** The primary refuses a write, the standby accepts writes, and the service finds the standby. */
const promoted = async (server: ServerProcess, env: Env, standby: PostgresServer): Promise<void> => {
  await expect.poll(() => server.create()).toHaveStatus(503);
  await standby.promote();
  const id = await create(server);
  expect(await idsOn(env, standby)).toContain(id);
};

/** The old primary is started again without becoming a standby of the new one, so both accept writes. */
const expectLoyalty = async (
  server: ServerProcess,
  env: Env,
  primary: PostgresServer,
  standby: PostgresServer,
) => {
  await onServer(
    standby.url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'handback'",
  );
  const id = await create(server);
  expect(await idsOn(env, standby)).toContain(id);
  expect(await idsOn(env, primary)).not.toContain(id);
};

describe('with several hosts', () => {
  it('the writable one is used, and its successor after it, but never one that was replaced', async () => {
    const { primary, standby, alone, env, key } = await setUp();
    expect(await cli(['shop', 'list'], onHosts(alone, [standby, primary]))).toHaveLength(1);
    const refused = await run(['shop', 'list', '--json'], onHosts(alone, [standby]));
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^handback: cannot open the database: [^\n]*read-only[^\n]*\n$/);

    const server = await startServer(env, { key });
    await create(server);
    const listening = `select from pg_stat_activity where application_name = 'handback' and query like 'listen %'`;
    await until('it listens', async () => (await askServer(alone, primary, listening)).length > 0);
    // No connection ends, but nothing can be written any more.
    await setReadOnly(primary, 'on');
    await promoted(server, alone, standby);
    await until('it listens there', async () => (await askServer(alone, standby, listening)).length > 0);
    expect(await askServer(alone, primary, listening)).toEqual([]);

    await setReadOnly(primary, 'off');
    await expectLoyalty(server, alone, primary, standby);
    const started = await startServer(env, { key });
    await expectLoyalty(started, alone, primary, standby);
    await standby.halt();
    await until('it is not ready', async () => !(await server.isReady()));
    expect(await server.create()).toHaveStatus(503);
    await standby.resume();
    await expectLoyalty(server, alone, primary, standby);
  });

  it('one that does not respond delays no request, and is not used again when it is back', async () => {
    const { primary, standby, alone, key } = await setUp();
    const proxy = await startTcpProxy(primary.url);
    const env = onHosts(alone, [{ url: proxy.url }, standby]);
    const server = await startServer(env, { key });
    await create(server);
    proxy.hold();
    await promoted(server, alone, standby);
    expect(await cli(['shop', 'list'], env)).toHaveLength(1);
    proxy.release();
    await expectLoyalty(server, alone, primary, standby);
  });
});
