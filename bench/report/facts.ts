import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';

/** Where, when and of what a run was. */
export interface Facts {
  date: string;
  commit: string;
  machine: string;
  /** How busy the machine was before the run: processes that wanted a core, over the last minute. */
  busyBefore: number;
  software: string[];
  loadTool: string;
  rounds: number;
  minutes: number;
}

const versionOf = (name: string): string => {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = entry.slice(0, entry.lastIndexOf(join('node_modules', name)));
  const file = join(folder, 'node_modules', name, 'package.json');
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
};

const commit = (): string => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: dirname(import.meta.filename), encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '../../src', '../../contract') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and changes' : '');
  } catch {
    return 'unknown';
  }
};

/** What is known before anything is measured. */
export const factsBefore = () => ({
  date: new Date().toISOString().slice(0, 10),
  commit: commit(),
  machine: [
    cpus()[0]?.model.trim() ?? 'unknown processor',
    `${cpus().length} cores`,
    `${Math.round(totalmem() / 1024 ** 3)} GB of memory`,
    `${type()} ${release().replace(/-.*/, '')}`,
  ].join(', '),
  busyBefore: loadavg()[0] ?? 0,
  software: [
    `Node ${process.versions.node}`,
    ...['fastify', 'pg', 'better-sqlite3', 'undici'].map(versionOf),
  ],
});
