#!/usr/bin/env node
// Plain JavaScript that any Node can read: it must be able to say that this Node is too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `handback: needs Node 22.19 or newer, this is ${process.version}; inside the checkout, npm start and npx --no handback bring their own\n`,
  );
  process.exit(1);
}
if (process.argv[2] === 'serve') (await import('./v8-flags.js')).ensureV8Flags();
// Node runs what it finds in the cache as if it were our code, and checks neither owner nor mode: without a safe folder there is none.
const cacheFolder = await compileCacheFolder();
if (cacheFolder) (await import('node:module')).enableCompileCache?.(cacheFolder);
await import((await program()).href);

/** What was built, which starts in half the time; in a checkout, its sources where one of them is newer. An installed package has none. */
async function program() {
  const sources = new URL('../src/cli/handback.ts', import.meta.url);
  const built = new URL('../dist/service/handback.js', import.meta.url);
  const { existsSync } = await import('node:fs');
  if (!existsSync(sources)) return built;
  if (!existsSync(built)) return sources;
  const { isFresh } = await import('../scripts/fresh.mjs');
  return isFresh(built, ['src', 'contract']) ? built : sources;
}

/** Below DATA_DIR, where no other user can write, nor rename a folder above it; null: there is no such place (Windows has no owners to ask for). */
async function compileCacheFolder() {
  const { lstatSync, mkdirSync, realpathSync } = await import('node:fs');
  const { dirname, join, resolve } = await import('node:path');
  const self = process.geteuid?.();
  const isSafe = (path, owners, writableByOthers) => {
    const { uid, mode } = lstatSync(path);
    const isSticky = (mode & 0o1000) !== 0;
    return owners.includes(uid) && ((mode & 0o022) === 0 || (writableByOthers === 'if sticky' && isSticky));
  };
  const areSafeUpwards = (path) =>
    isSafe(path, [0, self], 'if sticky') && (path === dirname(path) || areSafeUpwards(dirname(path)));
  try {
    const data = realpathSync(resolve(process.env.DATA_DIR?.trim() || './data'));
    if (self === undefined || !isSafe(data, [self], 'never') || !areSafeUpwards(dirname(data))) return null;
    const folder = join(data, 'compile-cache');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const isFolder = lstatSync(folder).isDirectory();
    return isFolder && isSafe(folder, [self], 'never') ? folder : null;
  } catch {
    return null;
  }
}
