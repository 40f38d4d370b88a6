// Builds the service into dist/service: one program, and the thread that it starts, which any Node from 22.19 runs without stripping
// types and starts in half the time. Installed packages run it; so do the tests, which build it anew where a source is newer.

import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh } from './fresh.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, 'dist', 'service');
const SOURCES = ['src', 'contract'];
/** Packages with native code stay packages, and so does the log, whose parts find each other by file name. */
const PACKAGES = ['better-sqlite3', '@node-rs/argon2', 'pg-native', 'pino'];

/**
 * V8 keeps a program's source in memory, with two bytes for each character where one is beyond Latin-1, be it in a comment. Only what is
 * written with `String.raw` must be ASCII as it is.
 */
const inAscii = {
  name: 'ascii',
  renderChunk: (code) =>
    code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
};

const bundleService = (vite, outDir) =>
  vite.build({
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    ssr: { noExternal: true, external: PACKAGES },
    build: {
      ssr: true,
      target: 'node22',
      outDir,
      minify: false,
      rolldownOptions: {
        input: { handback: 'src/cli/handback.ts', 'reader-thread': 'src/db/sqlite/reader-thread.ts' },
        external: PACKAGES,
        // Nothing is left out: it would take `decodeURIComponent(path);` for a line without effect, though it may throw.
        treeshake: false,
        output: {
          minify: false,
          comments: { legal: true, annotation: false, jsdoc: false },
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          plugins: [inAscii],
        },
      },
    },
  });

const vite = isFresh(join(BUILT, 'handback.js'), SOURCES) ? null : await import('vite').catch(() => 'absent');
if (vite === 'absent') process.stdout.write('service not built: vite is not installed\n');
else if (vite) {
  // Somebody may be running what is there: the new one takes its place when it is whole.
  const beside = `${BUILT}-${process.pid}`;
  await bundleService(vite, beside);
  rmSync(BUILT, { recursive: true, force: true });
  renameSync(beside, BUILT);
}
