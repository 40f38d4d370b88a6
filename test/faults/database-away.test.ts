import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { repairBody } from '../support/bodies.ts';
import { effort } from '../support/faults.ts';
import { ENGINE } from '../support/harness.ts';
import { onServer } from '../support/postgres-databases.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import {
  type Env,
  lookInto,
  migratedDatabase,
  SECRET_KEY,
  type ServerProcess,
  startServer,
  timed,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { expectUnavailable } from '../support/unavailable.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

const WITHIN_MS = 5_000;
/** How often the database goes and comes back. */
const ROUNDS = effort(1, 2);

/** What goes wrong is logged, and nothing of whom it went wrong for. */
const expectDiscreet = ({ stdout, logs }: ServerProcess): void => {
  expect(logs()).toContainEqual(expect.objectContaining({ msg: 'request', status: 503 }));
  expect(stdout).not.toMatch(/ada@example\.com|Ada Pereira|SO-10042|KETTLE|handback_ext_|whsec_/);
};

/** A request of every kind at once, more of them than the server has connections: each 503, each in time. */
const expectAway = async (server: ServerProcess, id: string): Promise<void> => {
  const kinds = [
    () => server.get('/offline-repairs'),
    () => server.get(`/offline-repairs/${id}`),
    () => server.get(`/offline-repairs/${id}/timeline`),
    () => server.post('/offline-repairs', repairBody()),
    () => server.post(`/offline-repairs/${id}/close`),
    () => server.get('/readyz'),
  ];
  const answers = await Promise.all(kinds.flatMap((kind) => [kind, kind, kind, kind]).map(timed));
  for (const { value } of answers) expectUnavailable(value);
  expectWithin(Math.max(...answers.map(({ ms }) => ms)), WITHIN_MS);
  expect((await timed(() => server.get('/healthz'))).value.status).toBe(200);
};

const expectBack = async (server: ServerProcess, id: string): Promise<void> => {
  await until('it is ready again', async () => (await server.get('/readyz')).status === 200, 15_000);
  await until(
    'it creates again',
    async () => (await server.post('/offline-repairs', repairBody())).status === 201,
  );
  // A backend that was told to end may still answer the first, and end with the next.
  await until('it reads again', async () => (await server.get(`/offline-repairs/${id}`)).status === 200);
};

if (ENGINE === 'postgres')
  describe('a PostgreSQL that goes away', () => {
    /** One for these tests, which leave it running; each has a database of its own. */
    let shared: PostgresServer | null = null;
    afterAll(() => shared?.stop());

    const setUp = async (): Promise<{
      postgres: PostgresServer;
      env: Env;
      server: ServerProcess;
      id: string;
    }> => {
      shared ??= await startPostgres();
      const postgres = shared;
      onTestFinished(async () => {
        postgres.thaw();
        await postgres.resume();
      });
      const name = `away_${randomBytes(4).toString('hex')}`;
      await onServer(postgres.url, `create database ${name}`);
      const env = { DATABASE_URL: postgres.url.replace(/\/postgres$/, `/${name}`), SECRET_KEY };
      const { key } = await makeShop(env);
      const server = await startServer(env, { key });
      const { body } = await server.post('/offline-repairs', repairBody());
      return { postgres, env, server, id: body.id };
    };

    it('is answered for with 503 while it is down; the service works again by itself', async () => {
      const { postgres, server, id } = await setUp();
      const before = await server.get('/offline-repairs');
      for (let round = 0; round < ROUNDS; round++) {
        await postgres.halt();
        await expectAway(server, id);
        await postgres.resume();
        await expectBack(server, id);
      }
      const after = await server.get('/offline-repairs');
      expect(after.body.total).toBe(before.body.total + ROUNDS);
      expect(server.stderr).not.toMatch(/Error|^ +at /m);
      expectDiscreet(server);
      expect((await server.stop()).status).toBe(0);
    });

    it('is answered for with 503 while it hangs, and after that again and again', async () => {
      const { postgres, server, id } = await setUp();
      // Fill the pool first: connections that are open and hang are another case than new ones that are not answered.
      await Promise.all(Array.from({ length: 20 }, () => server.get('/offline-repairs')));
      postgres.freeze();
      await expectAway(server, id);
      await expectAway(server, id);
      postgres.thaw();
      await expectBack(server, id);
      expectDiscreet(server);
      expect((await server.stop()).status).toBe(0);
    });

    it('can hang while the service is told to stop, which it still does', async () => {
      const { postgres, server } = await setUp();
      postgres.freeze();
      const { value, ms } = await timed(() => server.stop());
      expect(value).toEqual({ status: 0, signal: null });
      expectWithin(ms, 12_000);
    });

    it('that holds a lock in the way of a creation costs that creation only', async () => {
      const env = await migratedDatabase();
      const { shopId, key } = await makeShop(env);
      const server = await startServer(env, { key });
      const other = await makeShop(env);
      const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query('begin');
      await holder.query('select * from shop_counters where shop_id = $1 for update', [shopId]);
      const stuck = timed(() => server.post('/offline-repairs', repairBody()));
      expect((await server.post('/offline-repairs', repairBody(), { key: other.key })).status).toBe(201);
      expect((await server.get('/offline-repairs')).status).toBe(200);
      const { value, ms } = await stuck;
      expectUnavailable(value);
      expectWithin(ms, WITHIN_MS);
      await holder.query('rollback');
      const { status, body } = await server.post('/offline-repairs', repairBody());
      expect({ status, number: body.rmaNumber }).toEqual({ status: 201, number: '#RMA-000001' });
      const counters = await lookInto(env)
        .selectFrom('shop_counters')
        .select('month_used')
        .where('shop_id', '=', shopId)
        .executeTakeFirstOrThrow();
      expect(counters.month_used).toBe(1);
      expectDiscreet(server);
    });
  });

if (ENGINE === 'postgres')
  describe('a PostgreSQL that refuses', () => {
    /** The service has a login and a database of its own there; `sql` runs as the server's owner, in that database or beside it. */
    const setUp = async () => {
      const owners = inject('postgresUrl');
      const name = `away_${randomBytes(4).toString('hex')}`;
      const user = `${name}_user`;
      await onServer(owners, `create role ${user} login`);
      onTestFinished(() => onServer(owners, `drop role ${user}`));
      await onServer(owners, `create database ${name}`);
      onTestFinished(() => onServer(owners, `drop database ${name} with (force)`));
      const inside = owners.replace(/\/postgres$/, `/${name}`);
      await onServer(inside, `grant create on schema public to ${user}`);
      const env = { DATABASE_URL: inside.replace('postgres@', `${user}@`), SECRET_KEY };
      const { key } = await makeShop(env);
      const server = await startServer(env, { key });
      const { body } = await server.post('/offline-repairs', repairBody());
      const endConnections = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${user}'`;
      /** Most of it holds for new connections only, and some while nobody is connected. */
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
      return { server, id: body.id as string, change };
    };

    const REFUSALS = [
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
        'alter database DATABASE allow_connections false',
        'alter database DATABASE allow_connections true',
      ],
      [
        'more connections',
        '53300',
        'alter database DATABASE connection limit 0',
        'alter database DATABASE connection limit -1',
      ],
      [
        'a name that is gone',
        '3D000',
        'alter database DATABASE rename to DATABASE_moved',
        'alter database DATABASE_moved rename to DATABASE',
      ],
      [
        'writes, since it is read-only',
        '25006',
        'alter role LOGIN set default_transaction_read_only = on',
        'alter role LOGIN reset default_transaction_read_only',
      ],
      [
        'writes by this login',
        '42501',
        'revoke insert, update, delete on all tables in schema public from LOGIN',
        'grant insert, update, delete on all tables in schema public to LOGIN',
      ],
    ] as const;

    it('a login, a name, a write is answered for with 503, and the log says why', async () => {
      const { server, id, change } = await setUp();
      for (const [what, code, refuse, allow] of REFUSALS) {
        const logged = server.logs().length;
        await change(refuse);
        await until(`it is not ready: ${what}`, async () => (await server.get('/readyz')).status === 503);
        const writes = [
          await server.post('/offline-repairs', repairBody()),
          await server.post(`/offline-repairs/${id}/close`),
        ];
        const reads = what.startsWith('writes') ? [] : [await server.get(`/offline-repairs/${id}`)];
        for (const answer of [...writes, ...reads]) {
          expectUnavailable(answer);
          expect(answer.headers.get('retry-after')).toBe('2');
        }
        expect((await server.get('/healthz')).status).toBe(200);
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

if (ENGINE === 'sqlite')
  describe('a SQLite file that somebody else holds', () => {
    const setUp = async ({ used }: { used: boolean }) => {
      const env = await migratedDatabase();
      const { key } = await makeShop(env);
      const server = await startServer(env, { key });
      if (used) expect((await server.post('/offline-repairs', repairBody())).status).toBe(201);
      const holder = new Sqlite(join(env['DATA_DIR'] as string, 'handback.sqlite'));
      onTestFinished(() => void holder.close());
      holder.exec('begin immediate');
      return { server, release: () => holder.exec('rollback') };
    };

    it('is waited for, and then answered for with 503; after that it works again', async () => {
      const { server, release } = await setUp({ used: true });
      const { value, ms } = await timed(() => server.post('/offline-repairs', repairBody()));
      expectUnavailable(value);
      expectWithin(ms, WITHIN_MS);
      expect((await server.get('/offline-repairs')).status).toBe(200);
      release();
      const { status, body } = await server.post('/offline-repairs', repairBody());
      expect({ status, number: body.rmaNumber }).toEqual({ status: 201, number: '#RMA-000002' });
      expectDiscreet(server);
    });

    it('costs a short lock a wait and nothing more', async () => {
      const { server, release } = await setUp({ used: true });
      const creating = server.post('/offline-repairs', repairBody());
      const stillWaiting = await Promise.race([creating, nothingFor(300)]);
      expect(stillWaiting).toBeNull();
      release();
      expect((await creating).status).toBe(201);
    });

    it('is waited for once a request, also by a client who was never seen before', async () => {
      const { server, release } = await setUp({ used: false });
      const { value, ms } = await timed(() => server.post('/offline-repairs', repairBody()));
      expectUnavailable(value);
      expectWithin(ms, WITHIN_MS);
      release();
    });

    it('does not turn away a reader who was never seen before', async () => {
      const { server, release } = await setUp({ used: false });
      const { value, ms } = await timed(() => server.get('/offline-repairs'));
      expect(value.status).toBe(200);
      expectWithin(ms, WITHIN_MS);
      release();
    });
  });

/** For watching that nothing happens, not for hoping that something has. */
const nothingFor = (ms: number): Promise<null> =>
  new Promise((resolve) => setTimeout(() => resolve(null), ms));
