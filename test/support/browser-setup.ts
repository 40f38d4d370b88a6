import { execFileSync } from 'node:child_process';
import { findTool } from './tools.ts';
import { scaled } from './until.ts';

/** The pages as they are now. */
export default function setup() {
  if (findTool('chromium') === null) return;
  for (const script of ['scripts/build-admin.mjs', 'scripts/build-docs.mjs'])
    execFileSync(process.execPath, [script], { stdio: 'inherit', timeout: scaled(180_000) });
}
