import { spawn } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './postgres-server.ts';
import { temporaryFolder } from './process.ts';
import { toolPath } from './tools.ts';
import { until } from './until.ts';

// A real pooler between the service and PostgreSQL.

const NOBODY = 65_534;

type PoolMode = 'session' | 'transaction' | 'statement';

interface Options {
  mode: PoolMode;
  poolSize?: number;
  settings?: string[];
}

export const throughPgbouncer = async (
  databaseUrl: string,
  { mode, poolSize = 100, settings = [] }: Options,
): Promise<string> => {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const folder = temporaryFolder();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port} user=${target.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    ...settings,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  // It refuses to run as root.
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    chmodSync(folder, 0o755);
    chownSync(file, NOBODY, NOBODY);
  }
  const pooler = spawn(toolPath('pgbouncer'), [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let said = '';
  pooler.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise((resolve) => pooler.once('close', resolve));
  onTestFinished(async () => {
    pooler.kill('SIGKILL');
    await ended;
  });
  await until('pgbouncer listens', () => {
    if (pooler.exitCode !== null) throw new Error(`pgbouncer ended: ${said}`);
    return / process up: /.test(said);
  });
  target.port = String(port);
  return target.toString();
};
