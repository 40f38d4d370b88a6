import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENGINE } from '../support/harness.ts';
import { cli, emptyDatabase, run, startServer } from '../support/process.ts';
import { makeShop } from '../support/shops.ts';

const modesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
const private600 = (names: string[]) => Object.fromEntries(names.map((name) => [name, '600']));

describe.runIf(ENGINE === 'sqlite')('the data folder', () => {
  const FILES = [
    'handback.lock',
    'handback.sqlite',
    'handback.sqlite-shm',
    'handback.sqlite-wal',
    'secret.key',
  ];

  it.each(['000', '022', '277'])('is for its owner alone with a umask of %s', async (umask) => {
    const env = await emptyDatabase();
    const folder = env['DATA_DIR'] as string;
    await startServer(env, { umask: Number.parseInt(umask, 8) });
    expect(modesIn(folder)).toEqual(private600(FILES));
  });

  it('is narrowed at the next start where others could read it', async () => {
    const env = await emptyDatabase();
    const folder = env['DATA_DIR'] as string;
    const server = await startServer(env);
    // A crash leaves the log and its index behind.
    await server.stop('SIGKILL');
    for (const name of FILES) chmodSync(join(folder, name), 0o644);
    await startServer(env);
    expect(modesIn(folder)).toEqual(private600(FILES));
  });

  it('serves one process only: a second one is refused in one line, and a command works beside the first', async () => {
    const env = await emptyDatabase();
    const first = await startServer(env);
    const second = await run(['serve'], { ...env, PORT: '0' });
    expect(second).toMatchObject({ status: 1, stdout: '' });
    expect(second.stderr).toMatch(/^handback: another Handback serves from [^\n]+DATA_DIR[^\n]*\n$/);
    expect(await cli(['shop', 'list'], env)).toEqual([]);
    expect((await first.get('/readyz')).status).toBe(200);
    expect((await first.stop()).status).toBe(0);
    const third = await startServer(env);
    await third.stop('SIGKILL');
    // No lock outlives its process.
    const fourth = await startServer(env);
    expect((await fourth.get('/readyz')).status).toBe(200);
  });

  it('without its secret.key stops the start, names the file, and makes no other key', async () => {
    const env = await emptyDatabase();
    const file = join(env['DATA_DIR'] as string, 'secret.key');
    await makeShop(env);
    const key = readFileSync(file, 'utf8');
    rmSync(file);
    for (const args of [['serve'], ['shop', 'list', '--json']]) {
      const { status, stdout, stderr } = await run(args, { ...env, PORT: '0' });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^handback: [^\n]*secret\.key[^\n]*missing[^\n]*\n$/);
      expect(stderr).toContain(file);
      expect(stderr).not.toContain(key.trim());
      expect(existsSync(file)).toBe(false);
    }
  });
});
