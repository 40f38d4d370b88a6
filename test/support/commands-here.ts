import { Readable } from 'node:stream';
import { run as runCommand } from '../../src/cli/run.ts';
import { type Env, outcome, printed, type Run } from './process.ts';

// Commands called in this process, as the program calls them. A process of its own takes half a second of a core each; that commands
// are one, and end with their status, is tested where that is the point.

/** Gives this process the settings and streams of a command, and takes them away again. */
const inItsPlace = async (env: Env, input: string, work: () => Promise<void>): Promise<Run> => {
  const { env: ownEnv, exitCode: ownExitCode } = process;
  const ownInput = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
  const out = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const writes = streams.map((name) => process[name].write);
  for (const name of streams)
    process[name].write = (text: string | Uint8Array) => {
      out[name] += text;
      return true;
    };
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  process.env = { PATH: ownEnv['PATH'], ...env };
  process.exitCode = undefined;
  try {
    await work();
    return outcome(Number(process.exitCode ?? 0), out);
  } finally {
    process.env = ownEnv;
    process.exitCode = ownExitCode;
    Object.defineProperty(process, 'stdin', ownInput);
    for (const [i, name] of streams.entries()) process[name].write = writes[i] as typeof process.stdout.write;
  }
};

/** There is one standard output, so they take turns. */
let last: Promise<unknown> = Promise.resolve();

export const runHere = (args: string[], env: Env, { input = '' }: { input?: string } = {}): Promise<Run> => {
  const mine = last.then(() => inItsPlace(env, input, () => runCommand(['node', 'handback', ...args])));
  last = mine.catch(() => {});
  return mine;
};

export const cliHere = (args: string[], env: Env, input?: string): Promise<Run['json']> =>
  printed(runHere, args, env, input);
