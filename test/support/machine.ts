import { pbkdf2Sync } from 'node:crypto';

// How busy the machine is. A test waits for a condition; how long it may take until that counts as never is scaled by what a known
// piece of work took when the run began.

/** What the work takes on a core of the slowest machine that the suites are made for, with nothing beside it. */
const QUIET_MS = 350;

/** Measured by the configuration, once for the run. */
export const measureSlowness = (): number => {
  const start = performance.now();
  for (let i = 0; i < 20; i++) pbkdf2Sync('a known piece of work', 'salt', 20_000, 32, 'sha256');
  return Math.max(1, (performance.now() - start) / QUIET_MS);
};

const SLOWNESS = Number(process.env['TEST_SLOWNESS'] ?? 1);

export const scaled = (ms: number): number => Math.ceil(ms * SLOWNESS);
