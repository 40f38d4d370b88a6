import { sql } from 'kysely';
import type { Database, RateGate, RateState, RateWindow, RateWindows } from './database.ts';

// Exact limits: the times of a key's last calls are kept, so that no window holds more, wherever it begins (docs/contract.md).

export const lengthMs = ({ seconds }: RateWindow): number => seconds * 1000;

/** The one that decides how long a time is kept. */
export const longestOf = (windows: RateWindows): RateWindow => windows.at(-1) as RateWindow;

/** In the window that is full for longest: Retry-After must not name a moment at which another one refuses. */
export const refusal = (windows: RateWindows, freeInMs: readonly number[]): RateState => {
  const msBeforeNext = Math.max(...freeInMs);
  const window = windows[freeInMs.indexOf(msBeforeNext)] ?? windows[0];
  return { window, remaining: 0, msBeforeNext, refused: true };
};

/** Judges a call at this moment by the times of those before it, oldest first, and adds it to them unless it is refused. */
export const judge = (windows: RateWindows, times: number[], nowMs: number): RateState => {
  const longest = longestOf(windows);
  const firstKept = times.findIndex((atMs) => atMs > nowMs - lengthMs(longest));
  times.splice(0, firstKept === -1 ? times.length : firstKept);
  // A window is full while the call that took its first place is in it.
  const freeInMs = windows.map(
    (window) => (times.at(-window.points) ?? Number.NEGATIVE_INFINITY) + lengthMs(window) - nowMs,
  );
  if (freeInMs.some((ms) => ms > 0)) return refusal(windows, freeInMs);
  times.push(nowMs);
  return {
    window: longest,
    remaining: longest.points - times.length,
    msBeforeNext: (times[0] ?? nowMs) + lengthMs(longest) - nowMs,
    refused: false,
  };
};

/** So many of the newest are kept at least and twice as many at most, so that no flood of addresses fills the memory. */
export const NEWEST_KEYS = 100_000;

// Counts in this process, by a clock that cannot be set. A call puts its key into the newer of two maps, which becomes the older one
// after a window's length, or when it is full: by then every time in the older one is past its window. Nothing is ever searched.
export const memoryRateGate = (windows: RateWindows): RateGate => {
  let newer = new Map<string, number[]>();
  let older = new Map<string, number[]>();
  let turnAtMs = 0;
  return (key) => {
    const nowMs = performance.now();
    if (nowMs >= turnAtMs || newer.size >= NEWEST_KEYS) {
      older = newer;
      newer = new Map();
      turnAtMs = nowMs + lengthMs(longestOf(windows));
    }
    let times = newer.get(key);
    if (!times) {
      times = older.get(key) ?? [];
      newer.set(key, times);
    }
    return judge(windows, times, nowMs);
  };
};

/** Small rows; engines that count in memory have none. */
const DELETED_AT_ONCE = 5_000;
/** Longer than the clocks of two processes are apart. */
const SLACK_MS = 10_000;

/** Deletes keys whose windows are empty. A row that a call counts in at this moment is left to that call. */
export const forgetEndedWindows = async (
  { background: db, among }: Pick<Database, 'background' | 'among'>,
  nowMs: number,
): Promise<boolean> => {
  const ended = db
    .selectFrom('rate_limits')
    .select('key')
    .where('expire', '<', nowMs - SLACK_MS)
    .limit(DELETED_AT_ONCE)
    .forUpdate()
    .skipLocked();
  const { numDeletedRows } = await db
    .deleteFrom('rate_limits')
    .where(sql<boolean>`key ${among(ended)}`)
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(DELETED_AT_ONCE);
};
