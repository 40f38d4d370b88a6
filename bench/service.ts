import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/postgres-server.ts';
import { startChild } from './children.ts';
import type { TestDatabase } from './databases.ts';

// The service as a process of its own, measured from outside. All gates are on; limits count by the address that a
// proxy names, and the load comes from thousands of addresses.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What `npm start` runs, without npm around it. */
const COMMAND = [join(ROOT, 'bin', 'handback.js'), 'serve'];

export interface Service {
  url: string;
  memoryMb(): number;
  /** What the process has used of the processors since its start. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export const serviceEnv = (database: TestDatabase, port: number): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
  DRAIN_SECONDS: '0',
  PORT: String(port),
  LOG_LEVEL: 'error',
  TRUST_PROXY: '1',
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  ...database.env,
});

/** A clock tick is a hundredth of a second on every Linux. */
const TICKS_A_SECOND = 100;
const cpuSecondsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may contain anything: user and system time are the 12th and 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
};

export const startService = async (
  database: TestDatabase,
  more: Record<string, string> = {},
): Promise<Service> => {
  const port = await freePort();
  const child = await startChild(process.execPath, COMMAND, /is ready at/, {
    env: { ...serviceEnv(database, port), ...more },
    listen: 'stderr',
  });
  return {
    url: `http://127.0.0.1:${port}`,
    memoryMb: () =>
      Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' })) / 1024,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    stop: child.stop,
  };
};
