// Builds the service into dist/service: one program that any Node from 22.19 runs without stripping types, and that starts in
// half the time. Installed packages run it; so do the tests, which build it anew where a source is newer.

import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh } from './fresh.mjs';
import { bundleService } from './service-bundle.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, 'dist', 'service');
const SOURCES = ['src', 'contract'];

const vite = isFresh(join(BUILT, 'handback.js'), SOURCES) ? null : await import('vite').catch(() => 'absent');
if (vite === 'absent') process.stdout.write('service not built: vite is not installed\n');
else if (vite) {
  // Somebody may be running what is there: the new one takes its place when it is whole.
  const beside = `${BUILT}-${process.pid}`;
  await bundleService(vite, beside);
  rmSync(BUILT, { recursive: true, force: true });
  renameSync(beside, BUILT);
}
