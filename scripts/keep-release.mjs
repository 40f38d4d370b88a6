// Keeps the service as it is now as test/releases/handback-VERSION.tgz. From then on a test runs it beside the sources of the day, on
// their schema (test/faults/earlier-releases.test.ts). Run it when a release is cut: docs/upgrading.md.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as vite from 'vite';
import { bundleService } from './service-bundle.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEPT = join(ROOT, 'test', 'releases');
const MOST_BYTES = 1.5 * 2 ** 20;

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
mkdirSync(join(ROOT, 'dist'), { recursive: true });
mkdirSync(KEPT, { recursive: true });
const folder = mkdtempSync(join(ROOT, 'dist', 'release-'));
const file = join(KEPT, `handback-${version}.tgz`);
try {
  await bundleService(vite, folder, { minify: true });
  execFileSync('tar', [
    '-C',
    folder,
    '-cf',
    `${folder}.tar`,
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '.',
  ]);
  execFileSync('sh', ['-c', 'gzip -9n < "$0" > "$1"', `${folder}.tar`, file]);
} finally {
  for (const each of [folder, `${folder}.tar`]) rmSync(each, { recursive: true, force: true });
}
const { size } = statSync(file);
if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, more than the repository should keep`);
process.stdout.write(`${file}: ${Math.round(size / 1024)} KB\n`);
