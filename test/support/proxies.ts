import { execFileSync, type SpawnOptions } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort, NOBODY } from './postgres-server.ts';
import { startProgram, temporaryFolder } from './process.ts';
import { type Tool, toolPath } from './tools.ts';
import { until, untilMatches } from './until.ts';

// What stands between callers and the service, or between the service and PostgreSQL, until the test ends.

/** Runs a tool. Gives what it has said so far, and fails once it has ended. */
const startTool = (tool: Tool, args: string[], options: SpawnOptions = {}): (() => string) => {
  const { child, out } = startProgram(toolPath(tool), args, options);
  return () => {
    if (child.exitCode !== null) throw new Error(`${tool} ended: ${out.stderr}`);
    return out.stderr;
  };
};

/** Certificate and key in one file of this name, as haproxy wants them. */
export const makeCertificate = (folder: string, name: string): void => {
  const what = 'req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out certificate.pem';
  execFileSync(toolPath('openssl'), what.split(' '), { cwd: folder, stdio: 'pipe' });
  const parts = ['certificate.pem', 'key.pem'].map((part) => readFileSync(join(folder, part), 'utf8'));
  writeFileSync(join(folder, name), parts.join(''));
};

/** A real proxy before the service, with this configuration. Gives what waits until it sends requests to a server, or to none of a backend. */
export const startHaproxy = async (configuration: string) => {
  const statsPort = await freePort();
  const file = join(temporaryFolder(), 'haproxy.cfg');
  const stats = `frontend figures\n  bind 127.0.0.1:${statsPort}\n  stats enable\n  stats uri /\n`;
  writeFileSync(file, `${configuration}\n${stats}`);
  const said = startTool('haproxy', ['-f', file, '-db']);
  const isUp = async (backend: string, server: string): Promise<boolean> => {
    said();
    const table = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
      (response) => response.text(),
      () => '',
    );
    return table.split('\n').some((line) => line.startsWith(`${backend},${server},`) && /,UP,/.test(line));
  };
  return {
    uses: (server: string, backend = 'handback') =>
      until(`the proxy uses ${server}`, () => isUp(backend, server)),
    lacks: (backend: string) =>
      until(`the proxy uses none of ${backend}`, async () => !(await isUp(backend, 'BACKEND'))),
  };
};

/** Another real proxy, with this within its one server. */
export const startNginx = async (port: number, within: string): Promise<void> => {
  const folder = temporaryFolder();
  const file = join(folder, 'nginx.conf');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  );
  const server = `server {\n listen 127.0.0.1:${port};\n${within}\n}`;
  const lines = [
    // Its workers would have no access to the folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `daemon off;\nworker_processes 1;\npid ${join(folder, 'pid')};\nerror_log stderr;\nevents {}`,
    `http {\naccess_log off;\n${folders.join('\n')}\n${server}\n}\n`,
  ];
  writeFileSync(file, lines.join('\n'));
  // Its workers would outlive it.
  const said = startTool('nginx', ['-e', 'stderr', '-c', file], { detached: true });
  await until('nginx listens', () => {
    said();
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  });
};

interface PoolerOptions {
  mode: 'session' | 'transaction' | 'statement';
  poolSize?: number;
  settings?: readonly string[];
}

/** The address of a database through a real pooler. */
export const throughPgbouncer = async (
  databaseUrl: string,
  { mode, poolSize = 100, settings = [] }: PoolerOptions,
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
  const said = startTool('pgbouncer', [file], asRoot ? { uid: NOBODY, gid: NOBODY } : {});
  await untilMatches(said, / process up: /);
  target.port = String(port);
  return target.toString();
};

/** The network between the service and PostgreSQL, so that a test can cut, hold or lose it. `url` leads through it. */
export const startTcpProxy = async (databaseUrl: string) => {
  const target = new URL(databaseUrl);
  const pairs = new Set<[from: Socket, to: Socket]>();
  const sockets = new Set<Socket>();
  let held = false;
  let most = Number.POSITIVE_INFINITY;
  const connectPair = ([from, to]: [Socket, Socket]) => {
    from.pipe(to);
    to.pipe(from);
  };
  const part = ([from, to]: [Socket, Socket]) => {
    from.unpipe(to).pause();
    to.unpipe(from).pause();
  };
  const server = createServer((from) => {
    if (pairs.size >= most) return void from.destroy();
    const pair: [Socket, Socket] = [from, connect(Number(target.port), target.hostname)];
    pairs.add(pair);
    const end = () => {
      for (const socket of pair) socket.destroy();
      pairs.delete(pair);
    };
    for (const socket of pair) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    connectPair(pair);
    if (held) part(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    /** Nothing passes any more, in either direction, on old and new connections; neither side is notified. */
    hold() {
      held = true;
      pairs.forEach(part);
    },
    release() {
      held = false;
      pairs.forEach(connectPair);
    },
    /** As a firewall does with connections that were idle: those there are now are dead, and neither side is notified. New ones work. */
    forget() {
      pairs.forEach(part);
      pairs.clear();
    },
    limit(connections: number) {
      most = connections;
    },
    connections: () => pairs.size,
  };
};
