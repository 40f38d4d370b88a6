import { type SpawnOptions, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { MALLOC_SETTINGS, V8_FLAGS } from '../../bin/v8-flags.js';
import { openDatabase } from '../../src/db/open.ts';
import type { Tables } from '../../src/db/schema.ts';
import type { Db } from '../../src/db/types.ts';
import { readConfig } from '../../src/platform/config.ts';
import { repairBody } from './bodies.ts';
import { showLogOnFailure } from './failures.ts';
import { newFolder } from './folders.ts';
import { ENGINE, freshDatabase } from './harness.ts';
import { type ApiResponse, callsOf, NoResponse, type SendOptions, sendTo } from './http.ts';
import { createDatabase, onServer } from './postgres-databases.ts';
import { freePort, startPostgres } from './postgres-server.ts';
import { UNOBSERVED } from './unobserved.ts';
import { scaled, until } from './until.ts';

// The service as a process, started from the command line and seen from outside.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = join(ROOT, 'dist', 'service', 'handback.js');
/** Halves the start time of a process; the suites start hundreds. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'compile');
const READY_WITHIN_MS = 40_000;

const OWN_FACTOR = process.env['FAULTS'] === 'full' ? '1' : String(Math.floor(scaled(1_000) / 1_000));
/** A busy machine takes longer for a request than the service grants it. The full faults show what it promises. */
const PATIENT_FACTOR = process.env['FAULTS'] === 'full' ? '1' : '10';
let timeLimitFactor = PATIENT_FACTOR;

/** For a file of tests about the service's own time limits. */
export const withOwnTimeLimits = (): void => {
  beforeAll(() => {
    timeLimitFactor = OWN_FACTOR;
  });
  afterAll(() => {
    timeLimitFactor = PATIENT_FACTOR;
  });
};

const STOPPED_WITHIN_MS = scaled(30_000);
export const SECRET_KEY = 'a secret key for tests that is long enough';

export type Env = Record<string, string>;

export const timed = async <Value>(work: () => Promise<Value>): Promise<{ value: Value; ms: number }> => {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
};

// --- databases ---

/** For a service that may send to receivers on this machine. */
export const SENDING: Env = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

/** These settings, and those for a migrated database that is dropped after the test. */
export const migratedDatabase = async (settings: Env = {}): Promise<Env> => {
  const { env, drop } = await freshDatabase();
  onTestFinished(drop);
  return { ...env, ...settings };
};

export const temporaryFolder = (): string => {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Settings for a database without tables, on a server of the test's own; `clause` as in `create database`. */
export const databaseOn = async (server: { url: string }, clause?: string): Promise<Env> => ({
  DATABASE_URL: (await createDatabase(server.url, clause)).url,
  SECRET_KEY,
});

/** A PostgreSQL of the test's own, with a database without tables. */
export const ownPostgres = async (options?: Parameters<typeof startPostgres>[0]) => {
  const postgres = await startPostgres(options);
  onTestFinished(postgres.stop);
  return { postgres, env: await databaseOn(postgres) };
};

/** Another program that holds the write lock of a server's SQLite file, until it lets go. */
export const holdWriteLock = (env: Env): { letGo(): void } => {
  const db = new Sqlite(join(env['DATA_DIR'] as string, 'handback.sqlite'));
  const letGo = () => void db.close();
  onTestFinished(letGo);
  db.exec('begin immediate');
  return { letGo };
};

/** Settings for a database without tables. */
export const emptyDatabase = async (): Promise<Env> => {
  if (ENGINE === 'sqlite') return { DATA_DIR: join(temporaryFolder(), 'data') };
  const server = inject('postgresUrl');
  const env = await databaseOn({ url: server });
  const { pathname } = new URL(env['DATABASE_URL'] as string);
  onTestFinished(() => onServer(server, `drop database ${pathname.slice(1)} with (force)`));
  return env;
};

/** The same database on several servers. */
export const onHosts = (env: Env, servers: { url: string }[]): Env => {
  const { pathname } = new URL(env['DATABASE_URL'] as string);
  const hosts = servers.map(({ url }) => new URL(url).host).join(',');
  return { ...env, DATABASE_URL: `postgres://postgres@${hosts}${pathname}?target_session_attrs=read-write` };
};

const INT8 = 20;

/**
 * A connection of a test's own to a database, to fill it or to look into it. The service's time limits are for its callers: on a
 * busy machine they would end what a test sets up.
 */
export const openWithoutLimits = (env: Env): { db: Db; close(): Promise<void> } => {
  const url = env['DATABASE_URL'];
  // Of several hosts the service finds the one that takes writes.
  if (!url || url.includes(',')) return openDatabase(readConfig(env), UNOBSERVED);
  const types = {
    getTypeParser: ((oid: number, format?: 'text') =>
      oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
  };
  const pool = new pg.Pool({ connectionString: url, max: 4, types });
  // Tests end servers under their connections.
  pool.on('error', () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, close: () => db.destroy() };
};

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

/** Starts a program that ends with the test; one that is detached, with all that it started. */
export const startProgram = (file: string, args: string[], options: SpawnOptions) => {
  const child = spawn(file, args, { ...options, stdio: 'pipe' });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      out[name] += text;
    });
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal }));
  });
  const kill = () => {
    try {
      process.kill((options.detached ? -1 : 1) * (child.pid as number), 'SIGKILL');
    } catch {
      // The process and its group have ended already.
    }
  };
  onTestFinished(async () => {
    if (options.detached || (child.exitCode === null && child.signalCode === null)) kill();
    await ended;
  });
  return { child, out, ended, kill };
};

/** The output of a program, both streams, and its status. */
export const ran = async (...program: Parameters<typeof startProgram>) => {
  const { out, ended } = startProgram(...program);
  return { status: (await ended).status, output: out.stdout + out.stderr };
};

interface LaunchOptions {
  /** Another program than the service as it is built here. */
  program?: string;
  /** Runs as this user; for root, who may do everything. */
  uid?: number;
  /** What a shell does before it becomes the program: `umask 077`, `exec >>/dev/full`. */
  shell?: string;
}

/** For `shell`, with `ulimit -f` in the shell's own blocks: the disk is full beyond it. */
export const fullAfter = (blocks: number): string => `ulimit -f ${blocks}; trap "" XFSZ`;

/** Only PATH is inherited, so that no setting of the machine influences a test. */
export const launch = (args: string[], env: Env, { program = COMMAND, uid, shell }: LaunchOptions = {}) => {
  // As bin/handback.js does.
  const [flags, settings] = args[0] === 'serve' ? [V8_FLAGS, MALLOC_SETTINGS] : [[], {}];
  const command = [process.execPath, ...flags, program, ...args];
  const [file = '', ...rest] = shell ? ['sh', '-c', `${shell}; exec "$0" "$@"`, ...command] : command;
  const started = startProgram(file, rest, {
    cwd: ROOT,
    // A stopping service still serves requests for a while; most tests need not wait for that.
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DRAIN_SECONDS: '0',
      TIME_LIMIT_FACTOR: timeLimitFactor,
      ...settings,
      ...env,
    },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const { child, out } = started;
  // A running server only prints its greeting there.
  const printsErrors = () => args[0] !== 'serve' || Boolean(child.exitCode);
  showLogOnFailure(`handback ${args.join(' ')}`, () => [out.stdout, printsErrors() ? out.stderr : '']);
  return started;
};
type Started = ReturnType<typeof launch>;

export const run = async (
  args: string[],
  env: Env,
  { input = '', ...options }: LaunchOptions & { input?: string } = {},
): Promise<Run> => {
  const { child, out, ended } = launch(args, env, options);
  child.stdin.end(input);
  const { status } = await ended;
  return outcome(status, out);
};

export const outcome = (status: number | null, out: Started['out']) => ({
  status,
  ...out,
  /** Standard output as JSON; throws where it is not exactly one line of it. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted on field by field
  get json(): any {
    if (!/^[^\n]+\n$/.test(out.stdout))
      throw new Error(`not one line on standard output: ${JSON.stringify(out)}`);
    return JSON.parse(out.stdout);
  },
});
export type Run = ReturnType<typeof outcome>;

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
  // On a busy machine the database may be slow to respond.
  const said = result.stderr.replace(/^handback: waiting for the database .*\n/, '');
  if (result.status !== 0 || said !== '')
    throw new Error(
      `handback ${args.join(' ')}: status ${result.status}, ${result.stderr}${JSON.stringify(result.json)}`,
    );
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

interface ServerOptions extends LaunchOptions {
  /** Sent with every request that has no key of its own. */
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
    // Another program took the free port in between.
    if (env['PORT'] || tries >= 3 || !TAKEN.test(started.out.stderr))
      throw new Error(`the server did not start: ${started.out.stderr}`);
  }
};

/** All the processes that one database may have: two on PostgreSQL, one on SQLite. */
export const startAll = (env: Env, key?: string): Promise<ServerProcess[]> =>
  Promise.all(
    Array.from({ length: ENGINE === 'postgres' ? 2 : 1 }, () => startServer(env, key ? { key } : {})),
  );

const serverProcess = ({ child, out, ended }: Started, port: number, ownKey?: string) => {
  const url = `http://127.0.0.1:${port}`;
  const signal = (name: NodeJS.Signals) => void process.kill(child.pid as number, name);
  const calls = callsOf(sendTo(url, ownKey));
  return {
    url,
    port,
    pid: child.pid as number,
    /** Standard output itself, for tests that stop reading it. */
    output: child.stdout,
    get stdout() {
      return out.stdout;
    },
    get stderr() {
      return out.stderr;
    },
    /** Standard output as log lines; throws where a whole line is not JSON. */
    logs: (): LogLine[] =>
      out.stdout
        .slice(0, out.stdout.lastIndexOf('\n') + 1)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ended,
    signal,
    async stop(name: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
      signal(name);
      const late = pause(STOPPED_WITHIN_MS, undefined, { ref: false }).then(() => {
        throw new Error(`the server did not stop: ${out.stdout}`);
      });
      return Promise.race([ended, late]);
    },
    /** A new repair. */
    create: (more?: Record<string, unknown>, options?: SendOptions) =>
      calls.post('/offline-repairs', repairBody(more), options),
    isReady: async () => (await calls.get('/readyz')).status === 200,
    ...calls,
  };
};
export type ServerProcess = ReturnType<typeof serverProcess>;

/** The service as callers see it: one address, behind which processes start and stop. */
export class Service {
  servers: ServerProcess[] = [];
  #turn = 0;

  /** One of the processes, in turn; it may just have died. */
  get next(): ServerProcess {
    this.#turn += 1;
    return this.servers[this.#turn % this.servers.length] as ServerProcess;
  }

  /** Asks one of the processes; another one where that has just been killed. */
  async ask(work: (server: ServerProcess) => Promise<ApiResponse>): Promise<ApiResponse> {
    for (;;) {
      try {
        const response = await work(this.next);
        if (response.status < 500) return response;
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
      }
      await pause(20);
    }
  }
}
