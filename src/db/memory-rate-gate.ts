import type { RateGate, RateState, RateWindows } from './database.ts';

interface Count {
  points: number;
  untilMs: number;
}

/** So many of the newest are kept at least and twice as many at most, so that no flood of addresses fills the memory: decision 226. */
export const NEWEST_KEYS = 100_000;

/** Counts in this process, for an engine that serves only one; by a clock that nobody sets, so that a jump of the time changes nothing (decision 103). */
export const memoryRateGate = (windows: RateWindows): RateGate => {
  const counted = windows.map((window) => ({ window, count: counter(window.seconds * 1000) }));
  return (key) => {
    let state: RateState | null = null;
    for (const { window, count } of counted) {
      const nowMs = performance.now();
      const { points, untilMs } = count(key, nowMs);
      const refused = points > window.points;
      state = {
        window,
        remaining: Math.max(0, window.points - points),
        msBeforeNext: untilMs - nowMs,
        refused,
      };
      if (refused) break;
    }
    return state as RateState;
  };
};

/**
 * Two maps: the newer one takes what begins, and after a window's length, or when it is full, it becomes the older one. By then
 * every window of the older one has ended, unless it filled up. Nothing is ever searched, however many keys there are.
 */
const counter = (lengthMs: number) => {
  let newer = new Map<string, Count>();
  let older = new Map<string, Count>();
  let turnAtMs = 0;
  return (key: string, nowMs: number): Count => {
    let count = newer.get(key) ?? older.get(key);
    if (!count || count.untilMs <= nowMs) {
      if (nowMs >= turnAtMs || newer.size >= NEWEST_KEYS) {
        older = newer;
        newer = new Map();
        turnAtMs = nowMs + lengthMs;
      }
      count = { points: 0, untilMs: nowMs + lengthMs };
      newer.set(key, count);
    }
    count.points += 1;
    return count;
  };
};
