import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { MALLOC_SETTINGS, V8_FLAGS } from '../../bin/v8-flags.js';
import { sendTo } from '../support/http.ts';
import { freePort } from '../support/postgres-server.ts';
import { startProgram, startServer, temporaryFolder } from '../support/process.ts';
import { until, untilMatches } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const startOf = (pid: number, file: 'cmdline' | 'environ'): string =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');

it('npx starts the service with its V8 and memory settings, and stops it when npx is stopped', async () => {
  const port = await freePort();
  // With a cache of its own: an npx that was killed leaves half a package in the shared one, and no later npx starts from it.
  const npm = { npm_config_cache: temporaryFolder() };
  const env = { DATA_DIR: temporaryFolder(), PORT: String(port), DRAIN_SECONDS: '0', ...npm };
  const options = { cwd: ROOT, env: { ...process.env, ...env }, detached: true };
  const { child, out, ended } = startProgram('npx', ['--no', 'handback', 'serve'], options);
  await until('it is ready', () => / is ready at /.test(out.stderr) && /"msg":"ready"/.test(out.stdout));
  const send = sendTo(`http://127.0.0.1:${port}`);
  for (const path of ['/readyz', '/admin/', '/docs/', '/docs/quick-start', '/docs/reference'])
    expect(await send(path)).toHaveStatus(200);
  expect(out.stderr).toMatch(/\/admin\/set-up#\w+/);
  if (process.platform === 'linux') {
    const { pid } = JSON.parse(out.stdout.split('\n').find((line) => /"msg":"ready"/.test(line)) ?? '{}');
    expect(startOf(pid, 'cmdline')).toContain(V8_FLAGS.join(' '));
    for (const [name, value] of Object.entries(MALLOC_SETTINGS))
      expect(startOf(pid, 'environ')).toContain(`${name}=${value}`);
  }
  child.kill('SIGTERM');
  // Its streams are closed when the service has closed them too.
  await ended;
  expect(out.stdout).toMatch(/"msg":"stopped"/);
});

it('an unbuilt checkout says so, prints no dead links, and works', async () => {
  // Inside the project, so that packages are found.
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const root = mkdtempSync(join(ROOT, 'dist', 'sources-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['bin', 'contract', 'src', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  const env = { DATA_DIR: temporaryFolder() };
  const server = await startServer(env, { program: join(root, 'bin', 'handback.js') });
  await untilMatches(() => server.stderr, /Not built here: /);
  expect(server.stderr).toMatch(/Not built here: the admin app and the documentation\. .* npm ci/);
  expect(server.stderr).not.toMatch(/set-up|\/docs/);
  for (const path of ['/admin/', '/docs/', '/docs/quick-start']) {
    const response = await server.get(path);
    expect(response).toHaveStatus(404);
    expect(response.body.message).toMatch(/^The (admin app|documentation) is not built here: .*npm ci/);
  }
  expect(await server.get('/healthz')).toHaveStatus(200);
});
