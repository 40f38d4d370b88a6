import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Whatever is built depends on these too. */
const ALWAYS = ['scripts', 'package.json', 'package-lock.json'];

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const newestIn = (path) =>
  Math.max(
    changedAt(path),
    ...(statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true }).map((name) => changedAt(join(path, name)))
      : []),
  );

/** Whether a file, the last that its build writes, is newer than every source: files and folders, from the root of the checkout. */
export const isFresh = (built, sources) => {
  const builtAt = changedAt(built);
  return [...sources, ...ALWAYS].every((name) => newestIn(join(ROOT, name)) < builtAt);
};
