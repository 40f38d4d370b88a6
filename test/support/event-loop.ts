import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Env, type ServerProcess, temporaryFolder } from './process.ts';
import { until } from './until.ts';

/** For how long an event loop was blocked at most: by the clock, and by its own work. */
interface Blocked {
  clockMs: number;
  workMs: number;
}

/** Settings for a process whose event loop is watched, and what was seen since the last question. */
export const watchedEventLoop = (): { env: Env; longestBlock(server: ServerProcess): Promise<Blocked> } => {
  const file = join(temporaryFolder(), 'event-loop.json');
  const preload = fileURLToPath(new URL('preloads/watch-event-loop.mjs', import.meta.url));
  let asked = 0;
  return {
    env: { NODE_OPTIONS: `--import ${preload}`, TEST_EVENT_LOOP_FILE: file },
    async longestBlock(server) {
      asked += 1;
      server.signal('SIGWINCH');
      return until('the process tells how long it was blocked', () => {
        const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
        const { times, most } = text.endsWith('}') ? JSON.parse(text) : { times: 0, most: null };
        return times === asked ? (most as Blocked) : null;
      });
    },
  };
};
