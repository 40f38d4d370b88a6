import type { RateGate, RateState, RateWindows } from './database.ts';

interface Count {
  points: number;
  untilMs: number;
}

/** Beyond these the oldest are forgotten, so that no flood of addresses fills the memory: decision 226. */
export const MOST_KEYS = 100_000;

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

/** Ordered by the end of their windows, since all windows are equally long: what has ended is at the front. */
const counter = (lengthMs: number) => {
  const counts = new Map<string, Count>();
  const forgetTheFirst = (nowMs: number): void => {
    for (const [key, { untilMs }] of counts) {
      if (untilMs > nowMs && counts.size < MOST_KEYS) return;
      counts.delete(key);
    }
  };
  return (key: string, nowMs: number): Count => {
    let count = counts.get(key);
    if (!count || count.untilMs <= nowMs) {
      counts.delete(key);
      forgetTheFirst(nowMs);
      count = { points: 0, untilMs: nowMs + lengthMs };
      counts.set(key, count);
    }
    count.points += 1;
    return count;
  };
};
