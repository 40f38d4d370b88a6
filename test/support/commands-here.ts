import type { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { runCli as runCommand } from '../../src/cli/run.ts';
import { type Env, outcome, printed, type Run } from './process.ts';

// Commands called in this process, as the program calls them: a process of their own takes half a second of a core each. Tests about
// the process itself start one with `runCli`.

type Output = Record<'stdout' | 'stderr', string>;

/** Where commands leave listeners, which end with their process. */
const LISTENED_TO: [EventEmitter, event: string][] = [
  [process, 'SIGINT'],
  [process, 'SIGTERM'],
  [process.stdout, 'error'],
];

const setEnv = (env: NodeJS.ProcessEnv): void => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
};

/** Gives this process the settings and streams of a command, and takes them away again. */
const inItsPlace = async (args: string[], env: Env, input: string, out: Output): Promise<Run> => {
  const { exitCode } = process;
  const ownEnv = { ...process.env };
  const ownInput = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
  const streams = ['stdout', 'stderr'] as const;
  const writes = streams.map((name) => process[name].write);
  const listeners = LISTENED_TO.map(([emitter, name]) => emitter.listeners(name));
  for (const name of streams)
    process[name].write = (text: string | Uint8Array) => {
      out[name] += text;
      return true;
    };
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  setEnv({ PATH: ownEnv['PATH'], ...env });
  process.exitCode = undefined;
  try {
    await runCommand(['node', 'handback', ...args]);
    return outcome(Number(process.exitCode ?? 0), out);
  } finally {
    setEnv(ownEnv);
    process.exitCode = exitCode;
    Object.defineProperty(process, 'stdin', ownInput);
    for (const [i, name] of streams.entries()) process[name].write = writes[i] as typeof process.stdout.write;
    for (const [i, [emitter, name]] of LISTENED_TO.entries())
      for (const each of emitter.listeners(name))
        if (!listeners[i]?.includes(each)) emitter.off(name, each as () => void);
  }
};

/** There is one standard output, so they take turns. */
let last: Promise<unknown> = Promise.resolve();

const inTurn = (args: string[], env: Env, input = '', out: Output = { stdout: '', stderr: '' }) => {
  const mine = last.then(() => inItsPlace(args, env, input, out));
  last = mine.catch(() => {});
  return mine;
};

export const runHere = (args: string[], env: Env, { input }: { input?: string } = {}): Promise<Run> =>
  inTurn(args, env, input);

/** A command that goes on until it is told to end, or until the test does, with what it has printed so far. */
export const startHere = (args: string[], env: Env) => {
  const out = { stdout: '', stderr: '' };
  const ended = inTurn(args, env, '', out);
  const before = process.listeners('SIGINT');
  const interrupt = () => {
    for (const each of process.listeners('SIGINT')) if (!before.includes(each)) each('SIGINT');
  };
  onTestFinished(async () => {
    interrupt();
    await ended;
  });
  return { out, ended, interrupt };
};

export const cliHere = (args: string[], env: Env, input?: string): Promise<Run['json']> =>
  printed(runHere, args, env, input);
