import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { findTool } from './tools.ts';
import { scaled } from './until.ts';

/** The admin app as it is now, and nothing of failures before. */
export default function setup() {
  rmSync('test-results', { recursive: true, force: true });
  if (findTool('chromium') === null) return;
  execFileSync(process.execPath, ['scripts/build-admin.mjs'], { stdio: 'inherit', timeout: scaled(180_000) });
}
