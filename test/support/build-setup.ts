import { execFileSync } from 'node:child_process';
import { scaled } from './until.ts';

/** The service as a program and the pages of /docs, as they are now: the tests that start it as a process run this. */
export default function setup() {
  for (const script of ['scripts/build-service.mjs', 'scripts/build-docs.mjs'])
    execFileSync(process.execPath, [script], { stdio: 'inherit', timeout: scaled(120_000) });
}
