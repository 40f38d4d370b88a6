// engines: postgres

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectWithin } from '../support/faults.ts';
import { onServer } from '../support/postgres-databases.ts';
import {
  migratedDatabase,
  run,
  SENDING,
  type ServerProcess,
  startServer,
  temporaryFolder,
  timed,
  withOwnTimeLimits,
} from '../support/process.ts';
import { throughPgbouncer } from '../support/proxies.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeShop } from '../support/shops.ts';
import { needs } from '../support/tools.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

/** A wait for events also looks by itself every 5 s: sooner means that it was woken. */
const WOKEN_WITHIN_MS = 4_000;

const directUrl = (env: Record<string, string>): string => env['DATABASE_URL'] as string;

/** A change in one process wakes a caller that waits for events in the other. */
const expectWakeUp = async (from: ServerProcess, to: ServerProcess): Promise<void> => {
  const { body: latest } = await to.get('/events?after=latest');
  const waiting = to.get(`/events?after=${latest.cursor}&wait=20`);
  const created = await from.create();
  expect(created).toHaveStatus(201);
  const { value, ms } = await timed(() => waiting);
  expect(value.body.items[0].data.id).toBe(created.body.id);
  expectWithin(ms, WOKEN_WITHIN_MS);
};

describe('a pooler', needs('pgbouncer'), () => {
  it('in session mode serves everything, without settings of its own', async () => {
    const receiver = await startReceiver();
    const direct = await migratedDatabase(SENDING);
    const env = { ...direct, DATABASE_URL: await throughPgbouncer(directUrl(direct), { mode: 'session' }) };
    const { key } = await makeShop(env, { webhookUrl: receiver.url });
    const [one, other] = await Promise.all([
      startServer({ ...env, ROLE: 'api' }, { key }),
      startServer(env, { key }),
    ]);
    const { body } = await one.create();
    expect((await other.post(`/offline-repairs/${body.id}/close`)).body.status).toBe('OFFLINE_CLOSED');
    await receiver.got(2);
    await expectWakeUp(one, other);

    // All sessions end, as in a restart of the server.
    await onServer(
      directUrl(direct),
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    for (const server of [one, other]) await until('it is ready again', server.isReady);
    await until('it listens again', () => other.stdout.includes('listening connection lost'));
    await receiver.got(3);
    await one.post(`/offline-repairs/${body.id}/close`);
    await receiver.got(4);
    await expectWakeUp(one, other);
  });

  it.each([
    ['transaction', 100, []],
    ['transaction', 1, []],
    ['transaction', 100, ['server_round_robin = 1', 'min_pool_size = 3']],
    ['statement', 100, []],
  ] as const)('in %s mode with %i connections prevents the start (%j)', async (mode, poolSize, settings) => {
    const direct = await migratedDatabase();
    const url = await throughPgbouncer(directUrl(direct), { mode, poolSize, settings });
    for (const command of [['serve'], ['shop', 'list', '--json']]) {
      const { status, stdout, stderr } = await run(command, { ...direct, PORT: '0', DATABASE_URL: url });
      expect(stderr).toMatch(/^handback: DATABASE_URL [^\n]+pool_mode = session[^\n]+\n$/);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    }
  });

  it('in transaction mode refuses a restore, which changes data as the service does', async () => {
    const direct = await migratedDatabase();
    const file = join(temporaryFolder(), 'whole.backup');
    expect(await run(['backup', file], direct)).toMatchObject({ status: 0 });
    const url = await throughPgbouncer(directUrl(direct), { mode: 'transaction' });
    const { status, stderr } = await run(['restore', file], { ...direct, DATABASE_URL: url });
    expect(stderr).toMatch(/^handback: DATABASE_URL [^\n]+pool_mode = session[^\n]+\n$/);
    expect(status).toBe(1);
  });

  it('without a second free connection prevents the start', async () => {
    const direct = await migratedDatabase();
    const url = await throughPgbouncer(directUrl(direct), { mode: 'session', poolSize: 1 });
    const { status, stderr } = await run(['serve'], { ...direct, PORT: '0', DATABASE_URL: url });
    expect(stderr).toMatch(/^handback: DATABASE_URL [^\n]+default_pool_size[^\n]+\n$/);
    expect(status).toBe(1);
  });
});
