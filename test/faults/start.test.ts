import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { effort } from '../support/faults.ts';
import { ENGINE } from '../support/harness.ts';
import { freePort } from '../support/postgres-server.ts';
import {
  cli,
  type Env,
  emptyDatabase,
  launch,
  migratedDatabase,
  run,
  SECRET_KEY,
  startServer,
  temporaryFolder,
  timed,
} from '../support/process.ts';
import { makeShop } from '../support/shops.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { refusal } from '../support/unavailable.ts';
import { until } from '../support/until.ts';
import { expectWithin } from '../support/within.ts';

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
    expect((await server.get('/readyz')).status).toBe(200);
    expect(server.stderr).toContain(server.url);
    expect(server.stderr).toContain(`${server.url}/docs`);
    expect(server.stderr).toMatch(/npx handback demo/);
    expect(server.stderr).toMatch(/npx handback shop create --name/);
    expect(server.stderr).toMatch(/npx handback client create --shop/);
    expect(server.logs()).toContainEqual(expect.objectContaining({ msg: 'ready', port: server.port }));
    expect((await server.stop()).status).toBe(0);

    await makeShop(env);
    const again = await startServer(env);
    expect(again.stderr).not.toMatch(/npx handback/);
  });

  it('needs no server: a command sets the database up as well', async () => {
    const env = await emptyDatabase();
    expect(await cli(['shop', 'list'], env)).toEqual([]);
  });

  if (ENGINE === 'postgres')
    it(`of ${MANY} servers at once on one empty database works`, async () => {
      const env = await emptyDatabase();
      const servers = await Promise.all(Array.from({ length: MANY }, () => startServer(env)));
      const ready = await Promise.all(servers.map((server) => server.get('/readyz')));
      expect(ready.map((answer) => answer.status)).toEqual(Array(MANY).fill(200));
      const { key } = await makeShop(env);
      const seen = await Promise.all(servers.map((server) => server.get('/offline-repairs', { key })));
      expect(seen.map((answer) => answer.status)).toEqual(Array(MANY).fill(200));
    });

  it(`of ${MANY} commands at once on one empty database works`, async () => {
    const env = await emptyDatabase();
    const lists = await Promise.all(Array.from({ length: MANY }, () => run(['shop', 'list', '--json'], env)));
    expect(lists.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      Array(MANY).fill({ status: 0, stderr: '' }),
    );
    expect(lists.map((list) => list.json)).toEqual(Array(MANY).fill([]));
    // All of them settled on one key: what one sealed, the next can open.
    const { key } = await makeShop(env);
    const server = await startServer(env, { key });
    expect((await server.get('/offline-repairs')).status).toBe(200);
  });
});

describe('the service does not start', () => {
  it('on a port that is taken', async () => {
    const port = await listening(createServer());
    const env = { ...(await migratedDatabase()), PORT: String(port) };
    const line = refusal(await run(['serve'], env));
    expect(line).toContain(String(port));
    expect(line).toContain('PORT');
  });
});

if (ENGINE === 'sqlite')
  describe('a data folder that cannot be used stops the start', () => {
    const start = (env: Env, options = {}) => run(['serve'], { PORT: '0', ...env }, options);

    it('where it is a file, or lies under one', async () => {
      const file = join(temporaryFolder(), 'file');
      writeFileSync(file, '');
      for (const dataDir of [file, join(file, 'data')]) {
        const line = refusal(await start({ DATA_DIR: dataDir }));
        expect(line).toContain('DATA_DIR');
        expect(line).toContain(dataDir);
      }
    });

    it('where this user may not write', async () => {
      // A folder of somebody else's: root's for nobody, and the system's own for everybody else.
      const asRoot = process.getuid?.() === 0;
      const parent = asRoot ? temporaryFolder() : '/';
      const folder = asRoot ? join(parent, 'data') : '/handback-test';
      if (asRoot) {
        chmodSync(parent, 0o755);
        mkdirSync(folder, { mode: 0o755 });
      }
      const line = refusal(await start({ DATA_DIR: folder }, asRoot ? { uid: 65_534 } : {}));
      expect(line).toContain('DATA_DIR');
      expect(line).toMatch(/permission|read-only/);
    });

    it("where a file in it is another user's, and says whose", async (context) => {
      if (process.getuid?.() !== 0) context.skip('only root can make files of two users');
      const folder = temporaryFolder();
      await cli(['shop', 'list'], { DATA_DIR: folder });
      chownSync(folder, 65_534, 65_534);
      const line = refusal(await start({ DATA_DIR: folder }, { uid: 65_534 }));
      expect(line).toContain(
        `${join(folder, 'handback.sqlite')}: permission denied; it belongs to user 0, and this is user 65534 (DATA_DIR)`,
      );
    });

    it('where the database file is something else', async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'handback.sqlite'), 'not a database, whatever its name says. '.repeat(50));
      expect(refusal(await start({ DATA_DIR: folder }))).toContain('DATA_DIR');
    });

    // How far a first start comes before the disk is full decides which write fails.
    it.each([1, 64, 200])('where the disk is full after %i blocks', async (blocks) => {
      const folder = temporaryFolder();
      const result = await run(['shop', 'list', '--json'], { DATA_DIR: folder }, { fileSizeLimit: blocks });
      if (result.status === 0) return;
      const line = refusal(result);
      expect(line).toContain('DATA_DIR');
      expect(line).toContain('disk');
      // Room again, and it starts as if nothing had been.
      expect(await cli(['shop', 'list'], { DATA_DIR: folder })).toEqual([]);
    });
  });

if (ENGINE === 'postgres')
  it('a start waits for a database that does not answer yet, and says so', async () => {
    const env = await migratedDatabase();
    const proxy = await startTcpProxy(env['DATABASE_URL'] as string);
    proxy.hold();
    const through = { ...env, DATABASE_URL: proxy.through(env['DATABASE_URL'] as string) };
    const { out } = launch(['serve'], { ...through, PORT: '0', DATABASE_WAIT_SECONDS: '600' });
    await until('it waits', () => /"msg":"waiting for the database"/.test(out.stdout));
    proxy.release();
    await until('it is ready', () => /"msg":"ready"/.test(out.stdout));
    expect(out.stdout.match(/waiting for the database/g)).toHaveLength(1);
  });

if (ENGINE === 'postgres')
  describe('a database that cannot be reached stops the start', () => {
    const start = (url: string, waitSeconds = 0) =>
      run(['serve'], {
        PORT: '0',
        DATABASE_URL: url,
        SECRET_KEY,
        DATABASE_WAIT_SECONDS: String(waitSeconds),
      });
    const PASSWORD = 'hunter2-hunter2';

    it('where nobody listens, after it has waited for as long as it is told', async () => {
      const { ms, value } = await timed(() => start('postgres://user@127.0.0.1:1/x', 2));
      expect(value).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^handback: [^\n]+DATABASE_URL[^\n]+\n$/),
      });
      expect(value.stdout).toMatch(/waiting for the database/);
      expect(ms).toBeGreaterThan(2_000);
    });

    it('where nobody listens', async () => {
      const line = refusal(await start(`postgres://user:${PASSWORD}@127.0.0.1:${await freePort()}/x`));
      expect(line).toContain('DATABASE_URL');
      expect(line).not.toContain(PASSWORD);
    });

    it('where somebody listens who never answers', async () => {
      const port = await listening(createServer((socket) => socket.on('error', () => {}).resume()));
      const { value, ms } = await timed(() => start(`postgres://user:${PASSWORD}@127.0.0.1:${port}/x`));
      expect(refusal(value)).toContain('DATABASE_URL');
      expectWithin(ms, 10_000);
    });

    it('where somebody listens who speaks something else', async () => {
      const port = await listening(
        createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400\r\n\r\n')),
      );
      expect(refusal(await start(`postgres://user:${PASSWORD}@127.0.0.1:${port}/x`))).toContain(
        'DATABASE_URL',
      );
    });

    it('where the server has no such database or user', async () => {
      const server = inject('postgresUrl');
      expect(refusal(await start(server.replace(/\/postgres$/, '/no_such_database')))).toContain(
        'DATABASE_URL',
      );
      expect(refusal(await start(server.replace('postgres@', `no_such_user:${PASSWORD}@`)))).toMatch(
        /DATABASE_URL(?!.*hunter2)/,
      );
    });
  });
