import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RATE_LIMITS } from '../../src/api/rate-limits.ts';
import { judge } from '../../src/db/rate-windows.ts';
import type { RateWindow, RateWindows } from '../../src/db/types.ts';

const SMALL: RateWindows = [
  { name: 'second', points: 2, seconds: 1 },
  { name: 'minute', points: 7, seconds: 10 },
];

/** The largest number of these in any window of this length. */
const mostWithin = (taken: number[], { seconds }: RateWindow): number =>
  Math.max(0, ...taken.map((from) => taken.filter((at) => at >= from && at < from + seconds * 1000).length));

/** Steps between calls that often meet the edges of windows, in eighths of a millisecond, whose sums are exact. */
const steps = fc.array(
  fc.oneof(
    fc.constantFrom(0, 0.125, 1, 499, 500, 999, 999.875, 1_000, 1_001, 9_999, 10_000),
    fc.nat(3_000),
    fc.nat(12_000).map((eighths) => eighths / 8),
  ),
  { maxLength: 120 },
);

const anyWindows = fc.constantFrom<RateWindows>(SMALL, RATE_LIMITS.create, RATE_LIMITS.other);

it('accepted calls never exceed a limit in any window of its length, and a call is refused only if it would', () => {
  fc.assert(
    fc.property(steps, anyWindows, (gaps, windows) => {
      const times: number[] = [];
      const taken: number[] = [];
      let nowMs = 0;
      for (const gap of gaps) {
        nowMs += gap;
        const { refused } = judge(windows, times, nowMs);
        const wouldBeTooMany = windows.some(
          ({ points, seconds }) => taken.filter((at) => at > nowMs - seconds * 1000).length >= points,
        );
        expect(refused).toBe(wouldBeTooMany);
        if (!refused) taken.push(nowMs);
      }
      for (const window of windows) expect(mostWithin(taken, window)).toBeLessThanOrEqual(window.points);
    }),
  );
});

it('a refused call is accepted exactly when the response says', () => {
  fc.assert(
    fc.property(steps, (gaps) => {
      const times: number[] = [];
      let nowMs = 0;
      for (const gap of gaps) {
        nowMs += Math.round(gap);
        const state = judge(SMALL, times, nowMs);
        if (!state.refused) continue;
        expect(state.remaining).toBe(0);
        expect(judge(SMALL, [...times], nowMs + state.msBeforeNext - 1).refused).toBe(true);
        expect(judge(SMALL, [...times], nowMs + state.msBeforeNext).refused).toBe(false);
      }
    }),
  );
});
