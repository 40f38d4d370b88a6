import { execFileSync } from 'node:child_process';
import { scaled } from './until.ts';

/** Builds the service and the pages of /docs, for tests that start a process. */
export default function setup() {
  for (const script of ['scripts/build-service.mjs', 'scripts/build-docs.mjs'])
    execFileSync(process.execPath, [script], { stdio: 'inherit', timeout: scaled(120_000) });
}
