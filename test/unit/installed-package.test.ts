import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeVariant } from '../../bench/ablation/variant.ts';
import { V8_FLAGS } from '../../bin/v8-flags.js';
import { BASE_PATH } from '../../contract/common.ts';
import { repairBody } from '../support/bodies.ts';
import { instructionsOf, replay } from '../support/dockerfile.ts';
import { newFolder } from '../support/folders.ts';
import { exchange } from '../support/http.ts';
import { freePort } from '../support/postgres-server.ts';
import { run, startServer, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';

// The package as an operator has it: packed here, installed into an empty folder as deploy/Dockerfile does, run from there.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENV = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
const MOST_MB = 120;

const DOCKERFILE = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8');
const INSTRUCTIONS = instructionsOf(DOCKERFILE);
const restOf = (name: string): string[] =>
  INSTRUCTIONS.filter((each) => each.name === name).map(({ rest }) => rest);

const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', [...args, '--loglevel=error'], { cwd, env: ENV, encoding: 'utf8' });

const sizeMb = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) /
  2 ** 20;

const argumentsOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');

const get = async (url: string, headers: Record<string, string> = {}) =>
  exchange(url, { method: 'GET', headers, body: undefined });

describe('an installed package', () => {
  let home: string;
  let image: string;
  let folder: string;
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  beforeAll(() => {
    home = newFolder();
    npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', home);
    // The user of the image is not one of this machine.
    const text = DOCKERFILE.replace('-o node -g node ', '');
    image = replay(text, { context: home, home, env: { ...ENV, npm_config_prefer_offline: 'true' } });
    folder = join(image, 'opt/handback');
  }, 180_000);

  /** `npx handback serve`, ended as a supervisor would. */
  const serve = async () => {
    const port = await freePort();
    const env = { ...ENV, DATA_DIR: temporaryFolder(), PORT: String(port), DRAIN_SECONDS: '0' };
    const npx = spawn('npx', ['handback', 'serve'], { cwd: folder, env, detached: true });
    let said = '';
    let logged = '';
    npx.stderr.on('data', (chunk) => {
      said += chunk;
    });
    npx.stdout.on('data', (chunk) => {
      logged += chunk;
    });
    const closed = new Promise((resolve) => npx.once('close', resolve));
    onTestFinished(async () => {
      if (npx.exitCode === null) process.kill(-(npx.pid as number), 'SIGKILL');
      await closed;
    });
    await until('it is ready', () => / is ready at /.test(said) && /"msg":"ready"/.test(logged), 20_000);
    const { pid } = JSON.parse(logged.split('\n').find((line) => /"msg":"ready"/.test(line)) ?? '{}');
    const stop = async () => {
      npx.kill('SIGTERM');
      // Its streams are closed when the service has closed them too.
      await closed;
      return logged;
    };
    return { url: `http://127.0.0.1:${port}`, pid, env, stop, said: () => said };
  };

  it('is below 120 MB, and nothing in it was compiled', () => {
    expect(sizeMb(folder)).toBeLessThan(MOST_MB);
    expect(readdirSync(join(folder, 'node_modules', 'better-sqlite3'))).not.toContain('build');
  });

  it('serves everything, takes commands beside it, and stops when npx is told to', {
    timeout: 120_000,
  }, async () => {
    const { url, pid, env, stop, said } = await serve();
    for (const path of ['/healthz', '/readyz', '/admin/', '/docs/', '/docs/quick-start', '/docs/reference'])
      expect({ path, ...(await get(`${url}${path}`)) }).toMatchObject({ path, status: 200 });
    const [, token] = /\/admin\/set-up\?token=(\w+)/.exec(said()) ?? [];
    expect(token).toBeTruthy();
    if (process.platform === 'linux') expect(argumentsOf(pid)).toContain(V8_FLAGS.join(' '));

    const command = (...args: string[]) =>
      JSON.parse(
        execFileSync('npx', ['handback', ...args, '--json'], { cwd: folder, env, encoding: 'utf8' }),
      );
    const shop = command('shop', 'create', '--name', 'Kettles');
    const { apiKey } = command('client', 'create', '--shop', shop.id, '--name', 'Till');
    const created = await exchange(`${url}${BASE_PATH}/offline-repairs`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(repairBody()),
    });
    expect(created).toMatchObject({ status: 201, body: { rmaNumber: '#RMA-000001' } });
    const read = await get(`${url}${BASE_PATH}/offline-repairs/${created.body.id}`, { 'x-api-key': apiKey });
    expect(read.body).toEqual(created.body);
    expect(await stop()).toMatch(/"msg":"stopped"/);
  });

  it('starts with the words of the Dockerfile, which finds it healthy and then not', async () => {
    const [node, program = ''] = JSON.parse(restOf('ENTRYPOINT')[0] ?? '[]');
    expect([node, ...JSON.parse(restOf('CMD')[0] ?? '[]')]).toEqual(['node', 'serve']);
    const settings = Object.fromEntries((restOf('ENV')[0] ?? '').split(' ').map((pair) => pair.split('=')));
    expect(settings).toMatchObject({ HOST: '0.0.0.0', DATA_DIR: '/data' });
    expect(restOf('VOLUME')).toEqual([settings.DATA_DIR]);
    const own = { ...settings, DATA_DIR: join(image, settings.DATA_DIR), HOST: '127.0.0.1', PORT: '' };
    const server = await startServer(own, { program: join(image, program) });

    const [, check = '[]'] = /CMD (\[.*\])$/.exec(restOf('HEALTHCHECK')[0] ?? '') ?? [];
    const [, flag, script] = JSON.parse(check) as string[];
    const health = async () =>
      (await run([script ?? ''], { PORT: String(server.port) }, { program: flag ?? '' })).status;
    expect(await health()).toBe(0);
    await server.stop();
    expect(await health()).toBe(1);
  });
});

describe('the image', () => {
  it('runs as another user than root, checks its health and stops by SIGTERM', () => {
    const lastStage = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex(({ name }) => name === 'FROM'));
    expect(lastStage.filter(({ name }) => name === 'USER')).toEqual([{ name: 'USER', rest: 'node' }]);
    expect(restOf('STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(restOf('FROM').every((from) => /^node:24-bookworm-slim( AS install)?$/.test(from))).toBe(true);
  });
});

describe('a checkout in which nothing is built', () => {
  it('says so, prints no link that leads nowhere, and works without', async () => {
    const { root, remove } = makeVariant([]);
    onTestFinished(remove);
    const env = { DATA_DIR: temporaryFolder() };
    const server = await startServer(env, { program: join(root, 'bin', 'handback.js') });
    await until('it has said so', () => /Not built here: /.test(server.stderr));
    expect(server.stderr).toMatch(/Not built here: the admin app and the documentation\. .* npm ci/);
    expect(server.stderr).not.toMatch(/set-up|\/docs/);
    for (const path of ['/admin/', '/docs/', '/docs/quick-start'])
      expect(await server.get(path)).toMatchObject({
        status: 404,
        body: {
          message: expect.stringMatching(/^The (admin app|documentation) is not built here: .*npm ci/),
        },
      });
    expect(await server.get('/healthz')).toMatchObject({ status: 200 });
  });
});
