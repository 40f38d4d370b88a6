import { execFileSync } from 'node:child_process';
import { scaled } from './machine.ts';

/** The service as a program, as it is now: the tests that start it as a process run this. */
export default function setup() {
  execFileSync(process.execPath, ['scripts/build-service.mjs'], {
    stdio: 'inherit',
    timeout: scaled(120_000),
  });
}
