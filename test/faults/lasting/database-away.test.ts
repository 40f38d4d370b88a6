// engines: postgres

import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ANSWERED_WITHIN_MS, expectDiscreet, expectUnavailable, expectWithin } from '../../support/faults.ts';
import { newAddress } from '../../support/http.ts';
import { createDatabase, onServer } from '../../support/postgres-databases.ts';
import {
  lookInto,
  migratedDatabase,
  ownPostgres,
  run,
  SECRET_KEY,
  type ServerProcess,
  startServer,
  timed,
  withOwnTimeLimits,
} from '../../support/process.ts';
import { startTcpProxy } from '../../support/proxies.ts';
import { atOnce } from '../../support/responses.ts';
import { makeShop } from '../../support/shops.ts';
import { until } from '../../support/until.ts';

withOwnTimeLimits();

const requestsOf = (server: ServerProcess, id: string) => [
  () => server.get('/offline-repairs'),
  () => server.get(`/offline-repairs/${id}`),
  () => server.get('/offline-repairs?updatedSince=2026-01-01T00:00:00.000Z'),
  () => server.get(`/offline-repairs/${id}/timeline`),
  () => server.create(),
  () => server.post(`/offline-repairs/${id}/begin-diagnostics`, {}),
  () => server.get('/readyz'),
];

const withRepair = async (env: Record<string, string>, serverEnv = env) => {
  const { key } = await makeShop(env);
  const server = await startServer(serverEnv, { key });
  const { body } = await server.create();
  return { server, id: body.id as string };
};

const expectBack = async (server: ServerProcess, id: string): Promise<void> => {
  await until('it is ready again', server.isReady);
  await expect.poll(() => server.create()).toHaveStatus(201);
  // A backend that was told to end may still answer the first, and end with the next.
  await expect.poll(() => server.get(`/offline-repairs/${id}`)).toHaveStatus(200);
};

describe('a PostgreSQL that hangs', () => {
  const setUp = async () => {
    const { postgres, env } = await ownPostgres();
    return { postgres, ...(await withRepair(env)) };
  };

  it('causes 503s, repeatedly, and the service recovers by itself', async () => {
    const { postgres, server, id } = await setUp();
    // Fill the pool first: connections that are open and hang are another case than new ones that are not answered.
    await atOnce(20, () => server.get('/offline-repairs'));
    postgres.freeze();
    for (let round = 0; round < 2; round++) {
      // More requests at once than the server has connections.
      const asked = Array.from({ length: 4 }, () => requestsOf(server, id)).flat();
      const responses = await Promise.all(asked.map(timed));
      for (const { value } of responses) expectUnavailable(value);
      expectWithin(Math.max(...responses.map(({ ms }) => ms)), ANSWERED_WITHIN_MS);
      expect(await server.get('/healthz')).toHaveStatus(200);
    }
    postgres.thaw();
    await expectBack(server, id);
    expectDiscreet(server);
    expect(server.stderr).not.toMatch(/Error|^ +at /m);
  });

  it('does not prevent the service from stopping', async () => {
    const { postgres, server } = await setUp();
    postgres.freeze();
    const { value, ms } = await timed(() => server.stop());
    expect(value).toEqual({ status: 0, signal: null });
    expectWithin(ms, 12_000);
  });
});

describe('a PostgreSQL that refuses', () => {
  /** The service has a login and a database of its own there; `change` runs as the server's owner, in that database or beside it. */
  const setUp = async () => {
    const owners = inject('postgresUrl');
    const { url: inside } = await createDatabase(owners);
    const name = new URL(inside).pathname.slice(1);
    const user = `${name}_user`;
    await onServer(owners, `create role ${user} login`);
    onTestFinished(() => onServer(owners, `drop role ${user}`));
    onTestFinished(() => onServer(owners, `drop database ${name} with (force)`));
    await onServer(inside, `grant create on schema public to ${user}`);
    const env = { DATABASE_URL: inside.replace('postgres@', `${user}@`), SECRET_KEY };
    const endConnections = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${user}'`;
    /** Most changes affect new connections only, and some need a database without connections. */
    const change = (statement: string) =>
      until('it is changed', async () => {
        const url = / on all tables /.test(statement) ? inside : owners;
        const named = statement.replaceAll('DATABASE', name).replaceAll('LOGIN', user);
        await onServer(owners, endConnections);
        const isDone = await onServer(url, named).then(
          () => true,
          () => false,
        );
        await onServer(owners, endConnections);
        return isDone;
      });
    return { ...(await withRepair(env)), change };
  };

  const CONNECTIONS = 'alter database DATABASE';
  const READ_ONLY = 'default_transaction_read_only';
  const WRITES = 'insert, update, delete on all tables in schema public';
  const REFUSALS: [what: string, code: string, refuse: string, allow: string][] = [
    ['the login', '28000', 'alter role LOGIN nologin', 'alter role LOGIN login'],
    [
      'the login in this database',
      '42501',
      'revoke connect on database DATABASE from public',
      'grant connect on database DATABASE to public',
    ],
    [
      'connections to this database',
      '55000',
      `${CONNECTIONS} allow_connections false`,
      `${CONNECTIONS} allow_connections true`,
    ],
    ['more connections', '53300', `${CONNECTIONS} connection limit 0`, `${CONNECTIONS} connection limit -1`],
    [
      'a name that is gone',
      '3D000',
      `${CONNECTIONS} rename to DATABASE_moved`,
      'alter database DATABASE_moved rename to DATABASE',
    ],
    [
      'writes, since it is read-only',
      '25006',
      `alter role LOGIN set ${READ_ONLY} = on`,
      `alter role LOGIN reset ${READ_ONLY}`,
    ],
    ['writes by this login', '42501', `revoke ${WRITES} from LOGIN`, `grant ${WRITES} to LOGIN`],
  ];

  it('a login, a database or a write causes 503s, and the log says why', async () => {
    const { server, id, change } = await setUp();
    for (const [what, code, refuse, allow] of REFUSALS) {
      const logged = server.logs().length;
      await change(refuse);
      await until(`it is not ready: ${what}`, async () => !(await server.isReady()));
      const writes = [await server.create(), await server.post(`/offline-repairs/${id}/close`)];
      const reads = what.startsWith('writes') ? [] : [await server.get(`/offline-repairs/${id}`)];
      for (const response of [...writes, ...reads]) {
        expectUnavailable(response);
        expect(response.headers.get('retry-after')).toBe('2');
      }
      if (code === '25006')
        for (const path of [`/offline-repairs/${id}`, '/offline-repairs', '/usage', '/events'])
          expect(await server.get(path, { ip: newAddress() }), path).toHaveStatus(200);
      // Counted in the process: the limit holds.
      const ip = newAddress();
      if (code === '25006')
        expect(await atOnce(210, () => server.get('/usage', { ip }))).toHaveStatuses({ 200: 200, 429: 10 });
      expect(await server.get('/healthz')).toHaveStatus(200);
      const named = new RegExp(`"code":"${code}","reason":"[^"]+DATABASE_URL`);
      await until(`the log says why: ${what}`, () =>
        server
          .logs()
          .slice(logged)
          .some(({ msg, error }) => msg === 'request failed' && named.test(JSON.stringify(error))),
      );
      expectDiscreet(server);
      await change(allow);
      await expectBack(server, id);
    }
  });
});

describe('a PostgreSQL with few connections', () => {
  it('reserves one for readiness from the start; without it, readiness depends on the connections for changes', async () => {
    const owners = inject('postgresUrl');
    const env = await migratedDatabase();
    const name = new URL(env['DATABASE_URL'] as string).pathname.slice(1);
    const user = `${name}_few`;
    await onServer(owners, `create role ${user} login`);
    onTestFinished(() => onServer(owners, `drop role ${user}`));
    const inside = env['DATABASE_URL'] as string;
    await onServer(inside, `grant all on all tables in schema public to ${user}`);
    onTestFinished(() => onServer(inside, `drop owned by ${user}`));
    const { server } = await withRepair(env, {
      ...env,
      DATABASE_URL: inside.replace('postgres@', `${user}@`),
    });
    expect(await server.create()).toHaveStatus(201);
    const readiness = `application_name = 'handback readiness' and usename = '${user}'`;
    const { rows } = await sql<{ count: number }>`
      select count(*) from pg_stat_activity where ${sql.raw(readiness)}`.execute(lookInto(env));
    expect(Number(rows[0]?.count)).toBe(1);
    // From now on no kind of work gets a new connection.
    await onServer(owners, `alter role ${user} connection limit 1`);
    expect(await server.isReady()).toBe(true);
    await onServer(owners, `select pg_terminate_backend(pid) from pg_stat_activity where ${readiness}`);
    await until(
      'it notices',
      async () => (await server.get('/readyz')).status === 200 && /no connection left/.test(server.stdout),
    );
    expect(await server.create()).toHaveStatus(201);
    const { stderr } = await run(['shop', 'list'], {
      ...env,
      DATABASE_URL: inside.replace('postgres@', `${user}@`),
      DATABASE_WAIT_SECONDS: '0',
    });
    expect(stderr).toMatch(
      /the server has no connection left: raise max_connections there to processes × 25/,
    );
    // No connection for changes either: every request of a caller fails.
    await onServer(
      owners,
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${user}'`,
    );
    await until('it is not ready', async () => !(await server.isReady()));
    expectUnavailable(await server.create());
    await onServer(owners, `alter role ${user} connection limit -1`);
    await until('it is ready by its own connection', server.isReady);
  });
});

describe('the network to PostgreSQL', () => {
  const behindProxy = async () => {
    const env = await migratedDatabase();
    const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
    const { server, id } = await withRepair(env, { ...env, DATABASE_URL: proxy.url });
    return { proxy, server, requests: () => [...requestsOf(server, id), ...requestsOf(server, id)] };
  };

  it('drops idle connections, and no request fails', async () => {
    const { proxy, requests } = await behindProxy();
    // Every kind of work has its connections open.
    for (let i = 0; i < 3; i++) await Promise.all(requests().map((ask) => ask()));
    expect(proxy.connections()).toBeGreaterThan(8);
    const idleSince = performance.now();
    await until('the connections were idle for a while', () => performance.now() - idleSince > 2_000);
    proxy.forget();
    const responses = await Promise.all(requests().map((ask) => timed(ask)));
    for (const { value } of responses) expect(value).toHaveStatus(200, 201);
    expectWithin(Math.max(...responses.map(({ ms }) => ms)), ANSWERED_WITHIN_MS);
  });

  it('allows too few connections: the service is not ready, and ready when there are enough', async () => {
    const { proxy, server, requests } = await behindProxy();
    expect(await server.isReady()).toBe(true);
    proxy.forget();
    proxy.limit(2);
    await until('it is not ready', async () => !(await server.isReady()));
    proxy.limit(100);
    await until('it is ready again', server.isReady);
    for (const ask of requests()) expect(await ask()).toHaveStatus(200, 201);
  });
});
