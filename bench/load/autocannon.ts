import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Request } from '../requests.ts';
import type { LoadCommand, LoadOptions } from './command.ts';

const RUN = fileURLToPath(new URL('./autocannon-run.ts', import.meta.url));

export interface AutocannonJob extends LoadOptions {
  url: string;
  requests: Request[];
}

export const autocannonCommand: LoadCommand = (folder, url, requests, options) => {
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify({ url, requests, ...options } satisfies AutocannonJob));
  return [process.execPath, RUN, file];
};
