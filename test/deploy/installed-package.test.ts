import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MALLOC_SETTINGS, V8_FLAGS } from '../../bin/v8-flags.js';
import { repairBody } from '../support/bodies.ts';
import { newFolder } from '../support/folders.ts';
import { sendTo } from '../support/http.ts';
import { freePort } from '../support/postgres-server.ts';
import { run, startProgram, startServer, temporaryFolder } from '../support/process.ts';
import { scaled, until } from '../support/until.ts';

// The package as an operator has it: packed here, unpacked into an empty folder where deploy/Dockerfile puts it, beside links to the
// packages that `npm install --omit=dev` would bring, and run from there. Nothing is asked of a registry.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MOST_MB = 120;

/** Comments go, and lines that end with a backslash are joined. */
const INSTRUCTIONS = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { name, rest };
  });
const restOf = (name: string): string[] =>
  INSTRUCTIONS.filter((each) => each.name === name).map(({ rest }) => rest);

const execute = (program: string, args: string[], cwd: string, env: Record<string, string> = {}): string =>
  execFileSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: scaled(60_000),
    shell: process.platform === 'win32',
  });

/** Packages that an installation without those for development has, by their folders. */
const productionPackages = (): string[] => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; devOptional?: true; link?: true }>;
  };
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional, link }]) => /^node_modules\//.test(path) && !dev && !devOptional && !link,
    )
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
};

const install = (home: string, folder: string): void => {
  const [packed] = JSON.parse(
    execute('npm', ['pack', '--ignore-scripts', '--json', '--silent', '--pack-destination', home], ROOT),
  ) as [{ filename: string }];
  const own = join(folder, 'node_modules', 'handback');
  mkdirSync(own, { recursive: true });
  execute('tar', ['-xzf', join(home, packed.filename), '--strip-components=1'], own);
  // Those of packages below other packages come with these.
  for (const path of productionPackages().filter((each) => !/node_modules\/.*node_modules\//.test(each))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path), 'junction');
  }
  mkdirSync(join(folder, 'node_modules', '.bin'));
  symlinkSync('../handback/bin/handback.js', join(folder, 'node_modules', '.bin', 'handback'));
};

const sizeMb = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) /
  2 ** 20;

const startOf = (pid: number, file: 'cmdline' | 'environ'): string =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');

describe('an installed package', () => {
  let image: string;
  let folder: string;
  afterAll(() => rmSync(image, { recursive: true, force: true }));
  beforeAll(() => {
    image = newFolder();
    folder = join(image, restOf('WORKDIR')[0] ?? '');
    install(image, folder);
  });

  /** `npx --no handback serve`, ended as a supervisor would. */
  const serve = async () => {
    const port = await freePort();
    const env = { DATA_DIR: temporaryFolder(), PORT: String(port), DRAIN_SECONDS: '0' };
    const options = { cwd: folder, env: { ...process.env, ...env }, detached: true };
    const { child, out, ended } = startProgram('npx', ['handback', 'serve'], options);
    await until('it is ready', () => / is ready at /.test(out.stderr) && /"msg":"ready"/.test(out.stdout));
    const { pid } = JSON.parse(out.stdout.split('\n').find((line) => /"msg":"ready"/.test(line)) ?? '{}');
    const stop = async () => {
      child.kill('SIGTERM');
      // Its streams are closed when the service has closed them too.
      await ended;
      return out.stdout;
    };
    return { url: `http://127.0.0.1:${port}`, pid, env, stop, said: () => out.stderr };
  };

  it('is below 120 MB, and nothing in it was compiled', () => {
    const packages = productionPackages().map((path) => sizeMb(join(ROOT, path)));
    const total = packages.reduce((sum, mb) => sum + mb, sizeMb(join(folder, 'node_modules', 'handback')));
    expect(total).toBeGreaterThan(10);
    expect(total).toBeLessThan(MOST_MB);
    expect(readdirSync(join(folder, 'node_modules', 'better-sqlite3'))).not.toContain('build');
    // A recipe may have packages of its own in a checkout.
    const own = readdirSync(join(folder, 'node_modules', 'handback'), { recursive: true, encoding: 'utf8' });
    expect(own.filter((path) => path.includes('node_modules'))).toEqual([]);
  });

  it('serves everything, takes commands beside it, and stops when npx is stopped', async () => {
    const { url, pid, env, stop, said } = await serve();
    const send = sendTo(url);
    for (const path of ['/healthz', '/readyz', '/admin/', '/docs/', '/docs/quick-start', '/docs/reference'])
      expect(await send(path)).toHaveStatus(200);
    const [, token] = /\/admin\/set-up#(\w+)/.exec(said()) ?? [];
    expect(token).toBeTruthy();
    if (process.platform === 'linux') {
      expect(startOf(pid, 'cmdline')).toContain(V8_FLAGS.join(' '));
      for (const [name, value] of Object.entries(MALLOC_SETTINGS))
        expect(startOf(pid, 'environ')).toContain(`${name}=${value}`);
    }

    const command = (...args: string[]) =>
      JSON.parse(execute('npx', ['handback', ...args, '--json'], folder, env));
    const shop = command('shop', 'create', '--name', 'Kettles');
    const { apiKey } = command('client', 'create', '--shop', shop.id, '--name', 'Till');
    const created = await send('/offline-repairs', { method: 'POST', body: repairBody(), key: apiKey });
    expect(created).toHaveStatus(201);
    expect(created.body).toMatchObject({ rmaNumber: '#RMA-000001' });
    const read = await send(`/offline-repairs/${created.body.id}`, { key: apiKey });
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

it('the image installs the package without what is for development, and runs as another user than root', () => {
  expect(restOf('COPY')).toEqual([
    'handback-$VERSION.tgz handback.tgz',
    '--from=install /opt/handback /opt/handback',
  ]);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(restOf('ARG')).toEqual([`VERSION=${version}`]);
  const [install, prepare] = restOf('RUN');
  expect(install).toMatch(
    /tar -xzf handback\.tgz -C node_modules\/handback --strip-components=1 && rm handback\.tgz/,
  );
  expect(install).toMatch(/ && cd node_modules\/handback && npm ci --omit=dev --ignore-scripts /);
  expect(prepare).toBe(`install -d -o node -g node -m 700 ${restOf('VOLUME')[0]} /backups`);
  const lastStage = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex(({ name }) => name === 'FROM'));
  expect(lastStage.filter(({ name }) => name === 'USER')).toEqual([{ name: 'USER', rest: 'node' }]);
  expect(restOf('STOPSIGNAL')).toEqual(['SIGTERM']);
  expect(restOf('FROM').every((from) => /^node:24-bookworm-slim( AS install)?$/.test(from))).toBe(true);
});

it('a checkout in which nothing is built says so, prints no link that leads nowhere, and works', async () => {
  // Below the project, so that packages are found from there.
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const root = mkdtempSync(join(ROOT, 'dist', 'sources-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['bin', 'contract', 'src', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  const env = { DATA_DIR: temporaryFolder() };
  const server = await startServer(env, { program: join(root, 'bin', 'handback.js') });
  await until('it has said so', () => /Not built here: /.test(server.stderr));
  expect(server.stderr).toMatch(/Not built here: the admin app and the documentation\. .* npm ci/);
  expect(server.stderr).not.toMatch(/set-up|\/docs/);
  for (const path of ['/admin/', '/docs/', '/docs/quick-start']) {
    const answer = await server.get(path);
    expect(answer).toHaveStatus(404);
    expect(answer.body.message).toMatch(/^The (admin app|documentation) is not built here: .*npm ci/);
  }
  expect(await server.get('/healthz')).toHaveStatus(200);
});
