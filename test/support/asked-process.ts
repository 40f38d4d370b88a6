import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
