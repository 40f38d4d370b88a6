import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { BASE_PATH } from '../contract/common.ts';
import { repairBody } from '../test/support/bodies.ts';
import { until } from '../test/support/until.ts';

// npm run test:image: builds the image of a draft release, and starts it with deploy/compose.yaml as its first lines say: PostgreSQL,
// migrations, three processes and the proxy, ten calls through it, doctor, a backup, and the replacement of a process. It uses the
// ports 80 and 443.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = ['node', '/opt/handback/node_modules/handback/bin/handback.js'];
const URL_OF_PROXY = 'https://localhost';
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0) {
  process.stderr.write(
    'no container engine answers here (docker info): the image was neither built nor started\n',
  );
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'handback-image-'));
const run = (program: string, args: string[], input?: Buffer): string =>
  execFileSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    ...(input ? { input } : {}),
  });
const compose = (...args: string[]): string =>
  run('docker', ['compose', '--project-name', 'handback-image-test', ...args]);
const command = (service: string, ...args: string[]) =>
  JSON.parse(compose('exec', '-T', service, ...PROGRAM, ...args, '--json'));

const writeSecrets = (): void => {
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets, { mode: 0o700 });
  const random = () => run('openssl', ['rand', '-hex', '32']);
  const password = random();
  const key = ['-keyout', 'key.pem', '-out', 'certificate.pem', '-subj', '/CN=localhost'];
  run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...key]);
  const contents = {
    'database-password': password,
    'database-url': `postgres://handback:${password.trim()}@database:5432/handback\n`,
    'secret-key': random(),
    'metrics-token': random(),
    tls: ['certificate.pem', 'key.pem'].map((name) => readFileSync(join(folder, name), 'utf8')).join(''),
  };
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(join(secrets, name), content);
    chmodSync(join(secrets, name), 0o644);
  }
  writeFileSync(join(folder, '.env'), `PUBLIC_URL=${URL_OF_PROXY}\nHANDBACK_IMAGE=handback:test\n`);
};

const trusting = new Agent({ connect: { rejectUnauthorized: false } });

const call = async (expected: number, method: 'GET' | 'POST', path: string, key?: string, body?: object) => {
  const headers = {
    ...(key ? { 'x-api-key': key } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  };
  const sent = body ? { body: JSON.stringify(body) } : {};
  const response = await request(URL_OF_PROXY + path, { method, headers, dispatcher: trusting, ...sent });
  const text = await response.body.text();
  if (response.statusCode !== expected)
    throw new Error(`${method} ${path} is ${response.statusCode} instead of ${expected}: ${text}`);
  return response.headers['content-type']?.includes('json') ? JSON.parse(text) : text;
};

const tenCalls = async (key: string): Promise<void> => {
  const repairs = `${BASE_PATH}/offline-repairs`;
  await call(200, 'GET', '/admin/');
  await call(200, 'GET', '/docs/');
  await call(404, 'GET', '/metrics');
  await call(401, 'GET', repairs);
  const { id } = await call(201, 'POST', repairs, key, repairBody());
  await call(400, 'POST', repairs, key, {});
  await call(200, 'POST', `${repairs}/${id}/begin-repair`, key, {});
  const { items } = await call(200, 'GET', repairs, key);
  if (items[0].status !== 'OFFLINE_REPAIR') throw new Error(`the list has ${JSON.stringify(items)}`);
  await call(200, 'GET', `${repairs}/${id}/timeline`, key);
  await call(200, 'GET', `${BASE_PATH}/usage`, key);
};

const isReady = (): Promise<boolean> =>
  call(200, 'GET', '/readyz').then(
    () => true,
    () => false,
  );

process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const release = ['run', '--silent', 'release', '--', '--draft', '--output', join(folder, 'release')];
execFileSync('npm', release, { cwd: ROOT, stdio: 'inherit' });
const context = readFileSync(join(folder, 'release', `handback-${version}-image.tar.gz`));
run('docker', ['build', '--tag', 'handback:test', '-'], context);
for (const name of ['compose.yaml', 'haproxy.cfg'])
  copyFileSync(join(ROOT, 'deploy', name), join(folder, name));
writeSecrets();
try {
  compose('up', '--detach', '--wait');
  await until('the proxy uses a process', isReady);
  const { id } = command('api-1', 'shop', 'create', '--name', 'My shop');
  const { apiKey } = command('api-2', 'client', 'create', '--shop', id, '--name', 'Till');
  await tenCalls(apiKey);
  const user = compose('exec', '-T', 'api-1', 'id', '-un').trim();
  if (user !== 'node') throw new Error(`the service runs as ${user}`);
  command('worker', 'doctor');
  const hasBackup = () => compose('exec', '-T', 'worker', 'ls', '/backups').includes('.backup');
  await until('the first backup is there', hasBackup);
  compose('up', '--detach', '--no-deps', '--wait', '--force-recreate', 'api-1');
  await until('the proxy uses a process', isReady);
  process.stdout.write(`the image of ${version} was built, started with Compose and called\n`);
} catch (error) {
  process.stdout.write(compose('logs', '--tail', '50'));
  throw error;
} finally {
  compose('down', '--volumes');
  await trusting.close();
}
