// engines: sqlite, postgres

import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { UNKNOWN_ID } from '../support/api.ts';
import { ONLY_POSTGRES, ONLY_SQLITE } from '../support/engines.ts';
import { effort, expectWithin, refusal } from '../support/faults.ts';
import { ENGINE } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import {
  cli,
  emptyDatabase,
  fullAfter,
  launch,
  lookInto,
  migratedDatabase,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
  timed,
  withOwnTimeLimits,
} from '../support/process.ts';
import { startTcpProxy } from '../support/proxies.ts';
import { atOnce } from '../support/responses.ts';
import { makeShop } from '../support/shops.ts';
import { until } from '../support/until.ts';

withOwnTimeLimits();

/** Processes that start at the same moment. */
const MANY = effort(4, 10);

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
};

describe('a first start', () => {
  it('is ready within 10 s on an empty database, and prints the next steps', async () => {
    const env = await emptyDatabase();
    const { value: server, ms } = await timed(() => startServer(env));
    expectWithin(ms, 10_000);
    expect(await server.isReady()).toBe(true);
    expect(server.stderr).toContain(`${server.url}/docs`);
    for (const command of ['demo', 'shop create --name', 'client create --shop'])
      expect(server.stderr).toContain(`npx --no handback ${command}`);
    const settings =
      ENGINE === 'postgres' ? 'DATABASE_URL and SECRET_KEY as they are here' : `DATA_DIR=${env['DATA_DIR']}`;
    expect(server.stderr).toContain(`in another terminal, with ${settings}:`);
    expect(server.logs()).toContainEqual(expect.objectContaining({ msg: 'ready', port: server.port }));
    expect((await server.stop()).status).toBe(0);

    await makeShop(env);
    const again = await startServer(env);
    expect(again.stderr).not.toMatch(/npx --no handback/);
  });

  it('works for many commands at once on one empty database', async () => {
    const env = await emptyDatabase();
    const runs = await atOnce(MANY, () => run(['migrate', '--json'], env));
    for (const { status, stderr, json } of runs)
      expect({ status, stderr, json }).toEqual({ status: 0, stderr: '', json: { migrated: true } });
    // All of them settled on one key: what one sealed, the next can open.
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    expect(await server.get('/offline-repairs')).toHaveStatus(200);
  });
});

it('commands that read or change data do not migrate an empty database, which is probably the wrong one', async () => {
  const env = await emptyDatabase();
  for (const args of [
    ['shop', 'list'],
    ['client', 'list', '--shop', UNKNOWN_ID],
    ['shop', 'update', UNKNOWN_ID, '--plan', 'SCALE'],
    ['user', 'link', 'ada@example.com'],
    ['secrets', 'reseal'],
  ])
    expect(refusal(await run(args, env))).toMatch(/there is no data in|has not been set up/);
  expect((await run(['shop', 'create', '--name', 'First'], env)).status).toBe(0);
  expect(await cli(['shop', 'list'], env)).toHaveLength(1);
});

it('the service does not start on a port that is in use', async () => {
  const port = await listening(createServer());
  const line = refusal(await run(['serve'], { ...(await migratedDatabase()), PORT: String(port) }));
  expect(line).toMatch(new RegExp(`${port}.*PORT|PORT.*${port}`));
});

it('a start that fails after the service listens ends the process', ONLY_SQLITE, async () => {
  const env = await migratedDatabase();
  await sql`create trigger no_link before insert on installation when new.name = 'set-up'
      begin select raise(abort, 'no link today'); end`.execute(lookInto(env));
  expect(refusal(await run(['serve'], { ...env, PORT: '0' }))).toContain('no link today');
});

describe('an unusable data folder prevents the start', ONLY_SQLITE, () => {
  const NOBODY = { uid: 65_534 };
  const isRoot = process.getuid?.() === 0;
  const startIn = async (folder: string, options = {}): Promise<string> => {
    const line = refusal(await run(['serve'], { PORT: '0', DATA_DIR: folder }, options));
    expect(line).toContain('DATA_DIR');
    return line;
  };

  it('if it is a file, or inside one', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'data')]) expect(await startIn(folder)).toContain(folder);
  });

  it('if this user cannot write to it', async () => {
    // A folder of another user: root's for the user nobody, and the system's own for all others.
    const folder = isRoot ? join(temporaryFolder(), 'data') : '/handback-test';
    if (isRoot) {
      chmodSync(join(folder, '..'), 0o755);
      mkdirSync(folder, { mode: 0o755 });
    }
    expect(await startIn(folder, isRoot ? NOBODY : {})).toMatch(/permission|read-only/);
  });

  it('if a file in it belongs to another user, whose name is shown', async (context) => {
    if (!isRoot) context.skip('only root can make files of two users');
    const folder = temporaryFolder();
    await cli(['migrate'], { DATA_DIR: folder });
    chownSync(folder, NOBODY.uid, NOBODY.uid);
    expect(await startIn(folder, NOBODY)).toContain(
      `${join(folder, 'handback.sqlite')}: permission denied; it belongs to user 0, and this is user 65534 (DATA_DIR)`,
    );
  });

  it('if the database file is something else', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'handback.sqlite'), 'not a database, whatever its name says. '.repeat(50));
    await startIn(folder);
  });

  // Which write fails depends on how far the first start gets before the disk is full.
  it.each([1, 64, 200])('if the disk is full after %i blocks', async (blocks) => {
    const env = { DATA_DIR: temporaryFolder() };
    const result = await run(['migrate', '--json'], env, { shell: fullAfter(blocks) });
    if (result.status === 0) return;
    expect(refusal(result)).toMatch(/disk.*DATA_DIR|DATA_DIR.*disk/);
    // With free space it starts normally.
    expect(await cli(['migrate'], env)).toEqual({ migrated: true });
  });
});

it('a start waits for a database that does not respond yet, and says so', ONLY_POSTGRES, async () => {
  const env = await migratedDatabase();
  const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
  proxy.hold();
  const through = { ...env, DATABASE_URL: proxy.url, DATABASE_WAIT_SECONDS: '600' };
  const { out } = launch(['serve'], { ...through, PORT: '0' });
  await until('it waits', () => /"msg":"waiting for the database"/.test(out.stdout));
  proxy.release();
  await until('it is ready', () => /"msg":"ready"/.test(out.stdout));
  expect(out.stdout.match(/waiting for the database/g)).toHaveLength(1);
});

describe('an unreachable database prevents the start', ONLY_POSTGRES, () => {
  const PASSWORD = 'hunter2-hunter2';
  const start = (DATABASE_URL: string, DATABASE_WAIT_SECONDS = '0') =>
    run(['serve'], { PORT: '0', DATABASE_URL, SECRET_KEY, DATABASE_WAIT_SECONDS });

  it('after it has waited for DATABASE_WAIT_SECONDS', async () => {
    const { ms, value } = await timed(() => start('postgres://user@127.0.0.1:1/x', '2'));
    expect(value).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^handback: [^\n]+DATABASE_URL[^\n]+\n$/),
    });
    expect(value.stdout).toMatch(/waiting for the database/);
    expect(ms).toBeGreaterThan(2_000);
  });

  const at = (port: number) => `postgres://user:${PASSWORD}@127.0.0.1:${port}/x`;
  const silent = () => createServer((socket) => socket.on('error', () => {}).resume());
  const webServer = () =>
    createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400\r\n\r\n'));
  it.each<[what: string, url: () => string | Promise<string>]>([
    ['nothing listens', async () => at(await freePort())],
    ['a server never answers', async () => at(await listening(silent()))],
    ['a server speaks another protocol', async () => at(await listening(webServer()))],
    ['there is no such database', () => inject('postgresUrl').replace(/\/postgres$/, '/no_such_database')],
    ['there is no such user', () => inject('postgresUrl').replace('postgres@', `no_such_user:${PASSWORD}@`)],
  ])('if %s', async (_what, url) => {
    const address = await url();
    const { value, ms } = await timed(() => start(address));
    expect(refusal(value)).toMatch(/DATABASE_URL(?!.*hunter2)/);
    expectWithin(ms, 10_000);
  });
});
