import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { V8_FLAGS } from '../../bin/v8-flags.js';
import { BASE_PATH } from '../../contract/common.ts';
import type { Db } from '../../src/db/database.ts';
import { newFolder } from './folders.ts';
import { type Answer, ENGINE, EXTERNAL, freshDatabase, type SendOptions } from './harness.ts';
import { bytesOf, exchange } from './http.ts';
import { scaled } from './machine.ts';
import { onServer } from './postgres-databases.ts';
import { freePort } from './postgres-server.ts';
import { showLogOnFailure } from './service-log.ts';
import { until } from './until.ts';
import { openWithoutLimits } from './without-limits.ts';

// The service as its users have it: a process of its own, started from the command line, seen from outside.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = join(ROOT, 'dist', 'service', 'handback.js');
/** Halves the time a process takes to start, and the suites start hundreds. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'compile');
const READY_WITHIN_MS = 40_000;
const STOPPED_WITHIN_MS = scaled(30_000);
export const SECRET_KEY = 'a secret key for tests that is long enough';

export type Env = Record<string, string>;

// --- waiting ---

export const timed = async <Value>(work: () => Promise<Value>): Promise<{ value: Value; ms: number }> => {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
};

// --- databases ---

/** Settings for a migrated database that goes when the test does. */
export const migratedDatabase = async (): Promise<Env> => {
  const { env, drop } = await freshDatabase();
  onTestFinished(drop);
  return env;
};

export const temporaryFolder = (): string => {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Settings for a database that nobody has migrated yet. */
export const emptyDatabase = async (): Promise<Env> => {
  if (ENGINE === 'sqlite') return { DATA_DIR: join(temporaryFolder(), 'data') };
  const name = `empty_${randomBytes(8).toString('hex')}`;
  const server = inject('postgresUrl');
  await onServer(server, `create database ${name}`);
  onTestFinished(() => onServer(server, `drop database ${name} with (force)`));
  return { DATABASE_URL: server.replace(/\/postgres$/, `/${name}`), SECRET_KEY };
};

/** A connection of the test's own to a server's database, to look into it. */
export const lookInto = (env: Env): Db => {
  const database = openWithoutLimits(env);
  onTestFinished(() => database.close());
  return database.db;
};

// --- processes ---

interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
}

interface Started {
  child: ChildProcessWithoutNullStreams;
  out: { stdout: string; stderr: string };
  ended: Promise<Ended>;
}

interface SpawnOptions {
  /** Another program than the service as it is built here. */
  program?: string;
  /** Runs as this user; for root, who may do everything. */
  uid?: number;
  /** Where standard output goes instead of to the test. */
  stdoutTo?: string;
  /** `ulimit -f`, in the shell's own blocks: the disk is full beyond it. */
  fileSizeLimit?: number;
  umask?: number;
}

/** PATH is all that comes from outside, so that no setting of the machine decides a test. */
export const launch = (
  args: string[],
  env: Env,
  { program = COMMAND, uid, fileSizeLimit, stdoutTo, umask }: SpawnOptions = {},
): Started => {
  // As bin/handback.js has it done.
  const flags = args[0] === 'serve' ? V8_FLAGS : [];
  const command = [process.execPath, ...flags, program, ...args];
  const limits = [
    ...(fileSizeLimit === undefined ? [] : [`ulimit -f ${fileSizeLimit}; trap "" XFSZ`]),
    ...(umask === undefined ? [] : [`umask ${umask.toString(8)}`]),
  ];
  const script = [...limits, `exec "$0" "$@"${stdoutTo ? ` >>${stdoutTo}` : ''}`].join('; ');
  const [file = '', ...rest] = limits.length > 0 || stdoutTo ? ['sh', '-c', script, ...command] : command;
  const child = spawn(file, rest, {
    cwd: ROOT,
    // A stop answers for a while before it closes; tests that are not about that need not wait.
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, DRAIN_SECONDS: '0', ...env },
    stdio: 'pipe',
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.stderr += text;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal }));
  });
  showLogOnFailure(() => [`handback ${args.join(' ')}`, out.stdout, out.stderr]);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, out, ended };
};

export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON; throws where it is not exactly one line of it. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted on field by field
  readonly json: any;
}

/** Runs a command to its end. */
export const run = async (
  args: string[],
  env: Env,
  { input = '', ...options }: SpawnOptions & { input?: string } = {},
): Promise<Run> => {
  const { child, out, ended } = launch(args, env, options);
  child.stdin.end(input);
  const { status } = await ended;
  return outcome(status, out);
};

export const outcome = (status: number | null, out: Started['out']): Run => ({
  status,
  ...out,
  get json() {
    if (!/^[^\n]+\n$/.test(out.stdout))
      throw new Error(`not one line on standard output: ${JSON.stringify(out)}`);
    return JSON.parse(out.stdout);
  },
});

/** Runs a command that must succeed, with `--json`, and gives what it printed. */
export const cli = (args: string[], env: Env, input?: string): Promise<Run['json']> =>
  printed(run, args, env, input);

export const printed = async (
  runs: (args: string[], env: Env, options: { input?: string }) => Promise<Run>,
  args: string[],
  env: Env,
  input?: string,
): Promise<Run['json']> => {
  const result = await runs([...args, '--json'], env, input === undefined ? {} : { input });
  // On a busy machine the database may be slow to answer.
  const said = result.stderr.replace(/^handback: waiting for the database .*\n/, '');
  if (result.status !== 0 || said !== '')
    throw new Error(`handback ${args.join(' ')}: status ${result.status}, ${result.stderr}`);
  return result.json;
};

interface LogLine {
  level: number;
  msg: string;
  requestId?: string;
  method?: string;
  route?: string;
  status?: number;
  [name: string]: unknown;
}

export interface ServerProcess {
  url: string;
  port: number;
  pid: number;
  /** Both streams so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output itself, for tests that stop reading it. */
  output: Readable;
  /** Standard output as log lines; throws where a whole line is not JSON. */
  logs(): LogLine[];
  ended: Promise<Ended>;
  signal(name: NodeJS.Signals): void;
  stop(name?: NodeJS.Signals): Promise<Ended>;
  send(path: string, options?: SendOptions): Promise<Answer>;
  get(path: string, options?: SendOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
}

interface ServerOptions extends SpawnOptions {
  /** Sent with every request that names none. */
  key?: string;
}

const TAKEN = /another program listens/;

/** Starts a server on a free port and waits until it says that it is ready. */
export const startServer = async (env: Env, options: ServerOptions = {}): Promise<ServerProcess> => {
  for (let tries = 0; ; tries++) {
    const port = env['PORT'] ? Number(env['PORT']) : await freePort();
    const started = launch(['serve'], { TRUST_PROXY: '1', ...env, PORT: String(port) }, options);
    let over = false;
    started.ended.then(() => {
      over = true;
    });
    await until(
      'the server is ready',
      () => over || /"msg":"ready"/.test(started.out.stdout) || / is ready at /.test(started.out.stderr),
      READY_WITHIN_MS,
    );
    if (!over) return serverProcess(started, port, options.key);
    // Somebody took the free port in between.
    if (env['PORT'] || tries >= 3 || !TAKEN.test(started.out.stderr))
      throw new Error(`the server did not start: ${started.out.stderr}`);
  }
};

/** Sends requests to a server or to what stands before it, from a new address each. */
export const sendTo =
  (url: string, ownKey?: string): ServerProcess['send'] =>
  async (path, { method = 'GET', body, headers = {}, key = ownKey ?? null, ip = newAddress() } = {}) => {
    const target = EXTERNAL.test(path) ? `${BASE_PATH}${path}` : path;
    return exchange(`${url}${target}`, {
      method,
      headers: {
        'x-forwarded-for': ip,
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: bytesOf(body),
    });
  };

const serverProcess = ({ child, out, ended }: Started, port: number, ownKey?: string): ServerProcess => {
  const url = `http://127.0.0.1:${port}`;
  const send = sendTo(url, ownKey);
  const signal = (name: NodeJS.Signals) => void process.kill(child.pid as number, name);
  return {
    url,
    port,
    pid: child.pid as number,
    output: child.stdout,
    get stdout() {
      return out.stdout;
    },
    get stderr() {
      return out.stderr;
    },
    logs: () =>
      out.stdout
        .slice(0, out.stdout.lastIndexOf('\n') + 1)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ended,
    signal,
    async stop(name = 'SIGTERM') {
      signal(name);
      const late = pause(STOPPED_WITHIN_MS, undefined, { ref: false }).then(() => {
        throw new Error(`the server did not stop: ${out.stdout}`);
      });
      return Promise.race([ended, late]);
    },
    send,
    get: (path, more) => send(path, more),
    post: (path, body, more) => send(path, { method: 'POST', body, ...more }),
  };
};

let addresses = 0;
/** A new caller for each request, so that rate limits stay out of the way. */
const newAddress = (): string => {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
};
