import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startPostgres } from '../test/support/postgres-server.ts';

// The service as a process of its own on a database of its own, for measuring it from outside.

const COMMAND = fileURLToPath(new URL('../bin/handback.js', import.meta.url));
export type Engine = 'sqlite' | 'postgres';

export interface Service {
  url: string;
  env: Record<string, string>;
  pid: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints
  cli(...args: string[]): any;
  memoryMb(): number;
  stop(): Promise<void>;
}

export const startService = async (engine: Engine, more: Record<string, string> = {}): Promise<Service> => {
  const { env: database, remove } = await newDatabase(engine);
  const port = await freePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: String(port),
    LOG_LEVEL: 'error',
    TRUST_PROXY: '1',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    ...database,
    ...more,
  };
  const child = spawn(process.execPath, [COMMAND, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  await ready(child);
  return {
    url: `http://127.0.0.1:${port}`,
    env,
    pid: child.pid as number,
    cli: (...args) =>
      JSON.parse(execFileSync(process.execPath, [COMMAND, ...args, '--json'], { env, encoding: 'utf8' })),
    memoryMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      await remove();
    },
  };
};

const newDatabase = async (
  engine: Engine,
): Promise<{ env: Record<string, string>; remove(): Promise<void> }> => {
  if (engine === 'postgres') {
    const server = await startPostgres({ durable: true });
    return {
      env: { DATABASE_URL: server.url, SECRET_KEY: 'a secret key for benchmarks, long enough' },
      remove: server.stop,
    };
  }
  const folder = mkdtempSync(join(tmpdir(), 'handback-bench-'));
  return { env: { DATA_DIR: folder }, remove: async () => rmSync(folder, { recursive: true }) };
};

const ready = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
      if (/is ready at/.test(said)) resolve();
    });
    child.once('exit', () => reject(new Error(`the service did not start: ${said}`)));
  });
