import type { RateGate, RateState, RateWindows } from './database.ts';

interface Count {
  points: number;
  untilMs: number;
}

/** From so many keys on, those whose window has ended are looked for and forgotten. */
const FIRST_SWEEP = 1000;

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

const counter = (lengthMs: number) => {
  const counts = new Map<string, Count>();
  let sweepAt = FIRST_SWEEP;
  const sweep = (nowMs: number): void => {
    for (const [key, { untilMs }] of counts) if (untilMs <= nowMs) counts.delete(key);
    sweepAt = Math.max(FIRST_SWEEP, counts.size * 2);
  };
  return (key: string, nowMs: number): Count => {
    let count = counts.get(key);
    if (!count || count.untilMs <= nowMs) {
      if (counts.size >= sweepAt) sweep(nowMs);
      count = { points: 0, untilMs: nowMs + lengthMs };
      counts.set(key, count);
    }
    count.points += 1;
    return count;
  };
};
