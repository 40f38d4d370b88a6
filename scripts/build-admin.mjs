// Builds the admin app into dist/admin; run by npm ci. Plain JavaScript, so that any Node can run it: where only what the
// service needs at run time was installed, it says so and leaves it at that.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compress } from './compress.mjs';

const BUILT = fileURLToPath(new URL('../dist/admin', import.meta.url));

const vite = await import('vite').catch(() => null);
if (vite) {
  // Whatever calls this (the tests do), what is built is what people use.
  process.env.NODE_ENV = 'production';
  await vite.build({
    configFile: fileURLToPath(new URL('../admin/vite.config.ts', import.meta.url)),
    logLevel: 'warn',
  });
  for (const name of readdirSync(BUILT, { recursive: true }))
    if (/\.(js|css|html|svg)$/.test(name)) compress(join(BUILT, name));
} else process.stdout.write('admin app not built: vite is not installed\n');
