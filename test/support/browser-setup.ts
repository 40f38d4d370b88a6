import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { findTool } from './tools.ts';
import { scaled } from './until.ts';

/** Builds the admin app if it has changed, and deletes the evidence of earlier failures. */
export default function setup() {
  rmSync('test-results', { recursive: true, force: true });
  if (findTool('chromium') === null) return;
  execFileSync(process.execPath, ['scripts/build-admin.mjs'], { stdio: 'inherit', timeout: scaled(180_000) });
}
