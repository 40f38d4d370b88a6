import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Env, type ServerProcess, temporaryFolder } from './process.ts';
import { until } from './until.ts';

/** Settings for a process that tells something about itself whenever it is asked: a preload answers SIGWINCH with a file. */
export const askedProcess = <Told>(
  preload: string,
  fileSetting: string,
): { env: Env; ask(server: ServerProcess): Promise<Told> } => {
  const file = join(temporaryFolder(), `${preload}.json`);
  const path = fileURLToPath(new URL(`preloads/${preload}.mjs`, import.meta.url));
  let asked = 0;
  return {
    env: { NODE_OPTIONS: `--import ${path}`, [fileSetting]: file },
    async ask(server) {
      asked += 1;
      server.signal('SIGWINCH');
      return until(`the process answers (${preload})`, () => {
        const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
        const { times, told } = text.endsWith('}') ? JSON.parse(text) : { times: 0, told: null };
        return times === asked ? (told as Told) : null;
      });
    },
  };
};

/** Settings for a process whose event loop is watched; for how long it was blocked since the last question: by the clock, by its work. */
export const watchedEventLoop = () => {
  const { env, ask } = askedProcess<{ clockMs: number; workMs: number }>(
    'watch-event-loop',
    'TEST_EVENT_LOOP_FILE',
  );
  return { env, longestBlock: ask };
};

/** What a process holds in memory now, in MB. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Looks at a process again and again; gives the most that it held. */
export const watchMemory = (pid: number): (() => number) => {
  let most = residentMb(pid);
  const look = () => {
    most = Math.max(most, residentMb(pid));
  };
  const timer = setInterval(look, 20);
  onTestFinished(() => clearInterval(timer));
  return () => {
    look();
    return most;
  };
};
