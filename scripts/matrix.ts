import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASE_PATH } from '../contract/common.ts';
import { repairBody, tradeBody } from '../test/support/bodies.ts';
import { createDatabase } from '../test/support/postgres-databases.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { until } from '../test/support/until.ts';
import { command, type Installed, installPackage, serve } from './installed-package.ts';

// npm run test:matrix: runs the packed service on every Node and database that it is promised for: demo data, a day of calls, webhooks,
// a backup and its restore. `npm run test:matrix -- 22 26 sqlite` runs a part of the table.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const onWindows = process.platform === 'win32';
const nodeIn = (folder: string): string => join(ROOT, folder, 'bin', onWindows ? 'node.exe' : 'node');
const NODES: Record<string, string> = {
  22: nodeIn('matrix/node_modules/node-22'),
  24: nodeIn('node_modules/node'),
  26: nodeIn('matrix/node_modules/node-26'),
};
const DATABASES = ['sqlite', 'postgres-14', 'postgres-18'];
const SETTINGS = { SECRET_KEY: 'a secret key that is long enough', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

const expectEqual = (what: string, found: unknown, expected: unknown): void => {
  if (found !== expected) throw new Error(`${what} is ${JSON.stringify(found)} instead of ${expected}`);
};

/** Counts the webhooks that are signed with the secret. */
const startReceiver = async () => {
  const receiver = { url: '', secret: '', signed: 0, close: () => void server.close() };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const signature = createHmac('sha256', receiver.secret).update(body).digest('hex');
    const isSigned = request.headers['x-webhook-signature'] === signature;
    if (isSigned) receiver.signed += 1;
    response.writeHead(isSigned ? 200 : 401).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
};

const callsTo = (url: string, key: string) => async (method: string, path: string, body?: object) => {
  const headers = { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) };
  const sent = body ? { body: JSON.stringify(body) } : {};
  const response = await fetch(`${url}${BASE_PATH}${path}`, { method, headers, ...sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} is ${response.status}: ${text}`);
  return JSON.parse(text);
};

/** What a till does: it creates returns of both kinds, moves and lists them, and receives webhooks about all of that. */
const aDayOfCalls = async (service: Installed, shopId: string) => {
  const receiver = await startReceiver();
  const about = ['--shop', shopId, '--name', 'Till', '--webhook-url', receiver.url];
  const { apiKey, webhookSecret } = command(service, 'client', 'create', ...about);
  receiver.secret = webhookSecret;
  const { url, stop } = await serve(service);
  const call = callsTo(url, apiKey);
  const { id, rmaNumber } = await call('POST', '/offline-repairs', repairBody());
  const path = `/offline-repairs/${id}`;
  await call('POST', `${path}/begin-repair`, {});
  await call('POST', '/trade-returns', tradeBody());
  const { items, total } = await call('GET', '/offline-repairs?limit=3&status=OFFLINE_REPAIR');
  expectEqual('the newest repair', items[0].rmaNumber, rmaNumber);
  expectEqual('the length of a page', items.length, Math.min(3, total));
  expectEqual('the length of the timeline', (await call('GET', `${path}/timeline`)).items.length, 2);
  await until('three webhooks have come', () => receiver.signed === 3);
  for (const page of ['/admin/', '/docs/']) expectEqual(page, (await fetch(url + page)).status, 200);
  const repair = JSON.stringify(await call('GET', path));
  await stop();
  receiver.close();
  return { apiKey, path, repair };
};

const servers = new Map<string, Awaited<ReturnType<typeof startPostgres>>>();

const runOn = async (base: Omit<Installed, 'env'>, database: string, parent: string): Promise<void> => {
  const onEmptyDatabase = async (): Promise<Installed> => {
    const dataDir = mkdtempSync(join(parent, 'data-'));
    const server = servers.get(database);
    const env: Installed['env'] = { ...SETTINGS, DATA_DIR: dataDir };
    if (server) env['DATABASE_URL'] = (await createDatabase(server.url)).url;
    return { ...base, env };
  };
  const [service, restored] = [await onEmptyDatabase(), await onEmptyDatabase()];
  command(service, 'migrate');
  const { shopId } = command(service, 'demo');
  const { apiKey, path, repair } = await aDayOfCalls(service, shopId);
  const { checks } = command(service, 'doctor') as { checks: { check: string; message: string }[] };
  const { message = '' } = checks.find(({ check }) => check === 'database') ?? {};
  expectEqual(`"${message}"`, message.toLowerCase().startsWith(database.replace('-', 'ql ')), true);
  const file = join(mkdtempSync(join(parent, 'backup-')), 'handback.backup');
  command(service, 'backup', file);
  expectEqual('verified', command(restored, 'restore', file).verified, true);
  const { url, stop } = await serve(restored);
  expectEqual('the restored repair', JSON.stringify(await callsTo(url, apiKey)('GET', path)), repair);
  await stop();
};

const chosen = process.argv.slice(2);
const choose = (names: string[]): string[] => {
  const some = names.filter((name) => chosen.includes(name));
  return some.length > 0 ? some : names;
};
const [nodes, databases] = [choose(Object.keys(NODES)), choose(DATABASES)];
const unknown = chosen.filter((name) => ![...nodes, ...databases].includes(name));
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown}; there are ${[...Object.keys(NODES), ...DATABASES]}`);
const npm = (...args: string[]) =>
  execFileSync('npm', args, { cwd: ROOT, stdio: 'inherit', shell: onWindows });
const print = (cells: string[]) => process.stdout.write(`${cells.map((cell) => cell.padEnd(14)).join('')}\n`);

npm('ci', '--no-audit', '--no-fund', '--prefix', 'matrix');
const folder = mkdtempSync(join(tmpdir(), 'handback-matrix-'));
try {
  npm('run', '--silent', 'release', '--', '--draft', '--output', join(folder, 'release'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const program = installPackage(join(folder, 'release', `handback-${version}.tgz`), join(folder, 'package'));
  for (const database of databases.filter((name) => name !== 'sqlite'))
    servers.set(database, await startPostgres({ release: database.replace('postgres-', '') }));
  print(['Node', ...databases]);
  for (const name of nodes) {
    const node = NODES[name] as string;
    const cells: string[] = [];
    for (const database of databases) {
      const start = performance.now();
      const failure = await runOn({ node, program }, database, folder).then(() => null, String);
      cells.push(failure === null ? `ok ${((performance.now() - start) / 1000).toFixed(1)} s` : 'FAILED');
      if (failure === null) continue;
      process.stderr.write(`Node ${name}, ${database}: ${failure}\n`);
      process.exitCode = 1;
    }
    print([execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim(), ...cells]);
  }
} finally {
  for (const server of servers.values()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
// What failed may have left a service or a receiver behind.
process.exit();
