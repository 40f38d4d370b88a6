import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

// The processes a run starts: it waits until they are ready and ends each of them itself, also when it is broken off.

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const watched = <Process extends ChildProcess>(child: Process): Process => {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
};

export interface Child {
  pid: number;
  /** What it has said on the stream that was listened to. */
  said(): string;
  stop(): Promise<void>;
}

/** Starts a process and waits until its output matches. */
export const startChild = (
  command: string,
  args: string[],
  ready: RegExp,
  options: SpawnOptions & { listen?: 'stdout' | 'stderr' } = {},
): Promise<Child> => {
  const { listen = 'stdout', ...others } = options;
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', listen === 'stdout' ? 'pipe' : 'ignore', listen === 'stderr' ? 'pipe' : 'inherit'],
    ...others,
  });
  watched(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child[listen]?.on('data', (chunk) => {
      said += chunk;
      if (ready.test(said)) resolve({ pid: child.pid as number, said: () => said, stop: () => stop(child) });
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${command} ${args.join(' ')} ended: ${said}`)));
  });
};

/** At once: what it leaves behind is thrown away, and a service would first wait for receivers that never answer. */
const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
};

/** Runs a process to its end and gives back its standard output. */
export const outputOf = (command: string, args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = watched(spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    let output = '';
    let faults = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      faults += chunk;
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}: ${faults}${output}`)),
    );
  });
