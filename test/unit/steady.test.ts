import { expect, it } from 'vitest';
import { growthPerHour, secondAndLastFifth } from '../support/steady.ts';

const every10s = (value: (n: number) => number) =>
  Array.from({ length: 60 }, (_, n) => ({ atMs: n * 10_000, value: value(n) }));

it('what leaks is seen as growth, and what swings is not', () => {
  expect(growthPerHour(every10s((n) => 100 + n))).toBeCloseTo(360);
  expect(growthPerHour(every10s(() => 100))).toBe(0);
  expect(Math.abs(growthPerHour(every10s((n) => 100 + (n % 2 ? 5 : -5))))).toBeLessThan(6);
});

it('fifths are compared by their medians, so one peak does not decide', () => {
  expect(secondAndLastFifth(every10s((n) => n))).toEqual([18, 54]);
  expect(secondAndLastFifth(every10s((n) => (n === 50 ? 1_000 : 7)))).toEqual([7, 7]);
});
