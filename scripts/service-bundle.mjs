import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Packages with native code stay packages, and so does the log, whose parts find each other by file name. */
const PACKAGES = ['better-sqlite3', '@node-rs/argon2', 'pg-native', 'pino'];

/** Puts the service and all other packages into a folder, as one program: `handback.js` and its parts. */
export const bundleService = (vite, outDir, { minify = false } = {}) =>
  vite.build({
    configFile: false,
    root: ROOT,
    logLevel: 'warn',
    ssr: { noExternal: true, external: PACKAGES },
    build: {
      ssr: true,
      target: 'node22',
      outDir,
      minify,
      rolldownOptions: {
        input: { handback: 'src/cli/handback.ts' },
        external: PACKAGES,
        // Nothing is left out: both would take `decodeURIComponent(path);` for a line without effect, though it may throw.
        treeshake: false,
        output: { minify, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
