import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The package as an operator has it: installed from its tarball into an empty folder, and run from there.

const READY_WITHIN_MS = 60_000;
const onWindows = process.platform === 'win32';

/** Gives the program. The registry is asked for the packages that the tarball names. */
export const installPackage = (tarball: string, folder: string): string => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', tarball];
  execFileSync('npm', args, { cwd: folder, stdio: 'inherit', shell: onWindows });
  return join(folder, 'node_modules', 'handback', 'bin', 'handback.js');
};

export interface Installed {
  node: string;
  program: string;
  env: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON that a command prints
export const command = ({ node, program, env }: Installed, ...args: string[]): any =>
  JSON.parse(execFileSync(node, [program, ...args, '--json'], { env: ownEnv(env), encoding: 'utf8' }));

/** No setting of the machine counts. */
const ownEnv = (env: Record<string, string>) => {
  const { PATH = '', SystemRoot = '' } = process.env;
  return { PATH, SystemRoot, ...env };
};

/** Starts the service on a free port, and waits until `/readyz` is 200. */
export const serve = async ({ node, program, env }: Installed) => {
  const child = spawn(node, [program, 'serve'], { env: ownEnv({ PORT: '0', DRAIN_SECONDS: '0', ...env }) });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await addressOf(child);
  const { status } = await fetch(`${url}/readyz`);
  if (status !== 200) throw new Error(`/readyz is ${status}`);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const exitCode = await ended;
    // Windows has no signals: the process is ended at once.
    if (exitCode !== 0 && !onWindows) throw new Error(`the service stopped with the status ${exitCode}`);
  };
  return { url, stop };
};

const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let printed = '';
    const fail = (why: string) => () => {
      child.kill('SIGKILL');
      reject(new Error(`the service ${why}: ${printed}`));
    };
    const timer = setTimeout(fail('was not ready in a minute'), READY_WITHIN_MS);
    child.once('close', fail('ended'));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => {
        printed += text;
        const [, url] = / is ready at (\S+)/.exec(printed) ?? [];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
  });
