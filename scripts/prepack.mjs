// Before a package is made: everything in it is built from the sources as they are. A build that left something out, because what
// builds it is not installed, makes no package.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PARTS = {
  'scripts/build-admin.mjs': 'dist/admin/index.html',
  'scripts/build-docs.mjs': 'dist/docs/llms.txt',
  'scripts/build-service.mjs': 'dist/service/handback.js',
};

const cwd = fileURLToPath(new URL('..', import.meta.url));
for (const script of Object.keys(PARTS)) execFileSync(process.execPath, [script], { cwd, stdio: 'inherit' });
const missing = Object.values(PARTS).filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)));
if (missing.length > 0) {
  process.stderr.write(`no package: ${missing.join(', ')} could not be built; run npm ci first\n`);
  process.exitCode = 1;
}
