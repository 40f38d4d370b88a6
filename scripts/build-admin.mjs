// Builds the admin app into dist/admin where a source is newer; run by npm ci and by the tests. Plain JavaScript, so that any Node
// can run it: where only what the service needs at run time was installed, it says so and leaves it at that.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compress } from './compress.mjs';
import { isFresh } from './fresh.mjs';

const BUILT = fileURLToPath(new URL('../dist/admin', import.meta.url));

const PAGE = join(BUILT, 'index.html');

const vite = isFresh(`${PAGE}.br`, ['admin', 'contract']) ? null : await import('vite').catch(() => 'absent');
if (vite === 'absent') process.stdout.write('admin app not built: vite is not installed\n');
else if (vite) {
  // Whatever calls this (the tests do), what is built is what people use.
  process.env.NODE_ENV = 'production';
  await vite.build({
    configFile: fileURLToPath(new URL('../admin/vite.config.ts', import.meta.url)),
    logLevel: 'warn',
  });
  for (const name of readdirSync(BUILT, { recursive: true }))
    if (/\.(js|css|svg)$/.test(name)) compress(join(BUILT, name));
  // Last, so that a build that broke off is not taken for a whole one.
  compress(PAGE);
}
