// Builds the documentation into dist/docs; run by npm ci, like build-admin.mjs. Plain JavaScript, so that any Node can run it: where
// only what the service needs at run time was installed, it says so and leaves it at that.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh } from './fresh.mjs';

/** The last file that a build writes. */
const LAST = join(fileURLToPath(new URL('../dist/docs', import.meta.url)), 'llms.txt');
const SOURCES = [
  'docs/guide',
  'docs/operations',
  'docs/site',
  'contract',
  'src',
  'recipes',
  'CHANGELOG.md',
  'docs/privacy.md',
  'admin/src/fonts.css',
];

const isInstalled = (name) =>
  import(name).then(
    () => true,
    () => false,
  );

if (isFresh(LAST, SOURCES)) process.exit();
if ((await isInstalled('vite')) && (await isInstalled('@scalar/fastify-api-reference'))) {
  // Whatever calls this (the tests do), what is built is what people use.
  process.env.NODE_ENV = 'production';
  const { buildSite } = await import('./docs/site.ts');
  await buildSite();
} else process.stdout.write('documentation not built: the packages that build it are not installed\n');
