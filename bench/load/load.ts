import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputOf } from '../children.ts';
import type { Request } from '../requests.ts';
import { autocannonCommand } from './autocannon.ts';
import type { LoadOptions } from './command.ts';
import { wrkCommand } from './wrk.ts';

// Load comes from a process of its own: wrk where it is installed, since it leaves most of the machine to the measured
// server, autocannon otherwise. One run uses one of them for everything.

export interface Target {
  url: string;
  requests(): Request[];
}

/** What a load generator prints, as JSON. */
interface Outcome {
  requests: number;
  seconds: number;
  failures: number;
  p50Ms: number;
  p99Ms: number;
}

export type LoadFigures = { perSecond: number; p50Ms: number; p99Ms: number; requests: number };

const hasWrk = await outputOf('wrk', ['-v']).then(
  () => true,
  // It prints its version and ends with 1.
  (error: Error & { code?: string }) => error.code !== 'ENOENT',
);
export const LOAD_TOOL = hasWrk ? 'wrk' : 'autocannon';

/** Keeps so many connections busy for so long; any response that is not a success fails the run. */
export const load = async ({ url, requests }: Target, options: LoadOptions): Promise<LoadFigures> => {
  const all = requests();
  await checkOne(url, all[0] as Request);
  const folder = mkdtempSync(join(tmpdir(), 'handback-load-'));
  try {
    const [command, ...args] = (hasWrk ? wrkCommand : autocannonCommand)(folder, url, all, options);
    const lines = (await outputOf(command, args)).trim().split('\n');
    const outcome = JSON.parse(lines.at(-1) ?? '') as Outcome;
    if (outcome.failures > 0)
      throw new Error(`${outcome.failures} of ${outcome.requests} requests to ${url}${all[0]?.path} failed`);
    // Where nothing came back in time, it took longer than that.
    const least = outcome.requests === 0 ? options.seconds * 1000 : 0;
    return {
      perSecond: outcome.requests / outcome.seconds,
      p50Ms: Math.max(least, outcome.p50Ms),
      p99Ms: Math.max(least, outcome.p99Ms),
      requests: outcome.requests,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** A refusal is easier to understand from one response than from a count. */
const checkOne = async (url: string, { method, path, headers, body }: Request): Promise<void> => {
  const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
};
