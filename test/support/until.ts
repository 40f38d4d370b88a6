import { pbkdf2Sync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

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

/** For so long at least, on a quiet machine: a condition that holds is seen at once, so only a failure takes longer. */
const WITHIN_MS = 30_000;

const SHOWN = { depth: 4, maxArrayLength: 20, maxStringLength: 500, breakLength: 120 };

/** Not by a clock that a test may have stopped. */
const nowMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Reads a value until it is as it should be; a failure shows the last one. Nothing here waits a fixed time. */
export const untilHolds = async <Value>(
  what: string,
  read: () => Value | Promise<Value>,
  holds: (value: Value) => unknown,
  withinMs = WITHIN_MS,
): Promise<Value> => {
  const timeoutMs = scaled(Math.max(withinMs, WITHIN_MS));
  const deadline = nowMs() + timeoutMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (nowMs() > deadline) {
      const last = inspect(value, SHOWN);
      const error = new Error(`timed out after ${timeoutMs} ms waiting until ${what}; last value: ${last}`);
      // Its stack begins where the test waits.
      Error.captureStackTrace(error, untilHolds);
      throw error;
    }
    await pause(5);
  }
};

/** The same of a text that is printed bit by bit; gives the match. */
export const untilMatches = async (read: () => string, pattern: RegExp): Promise<RegExpExecArray> => {
  const text = await untilHolds(`a text matches ${pattern}`, read, (text) => pattern.test(text));
  return pattern.exec(text) as RegExpExecArray;
};

/** The same until there is a value. */
export const until = <Value>(what: string, ask: () => Value | Promise<Value>, withinMs?: number) =>
  untilHolds(what, ask, Boolean, withinMs) as Promise<NonNullable<Exclude<Value, false>>>;
