import { describe, expect, it } from 'vitest';
import { lastDays } from '../../src/overview/figures.ts';

const at = (text: string): number => Date.parse(text);
const told = (count: number, zone: string, now: string) =>
  lastDays(count, zone, at(now)).map(({ day, from, to }) => [
    day,
    new Date(from).toISOString(),
    (to - from) / 3_600_000,
  ]);

describe('the last days', () => {
  it('are those of the zone, from midnight to midnight', () => {
    expect(told(2, 'UTC', '2026-11-16T00:00:00.000Z')).toEqual([
      ['2026-11-15', '2026-11-15T00:00:00.000Z', 24],
      ['2026-11-16', '2026-11-16T00:00:00.000Z', 24],
    ]);
    expect(told(1, 'Pacific/Auckland', '2026-11-16T11:30:00.000Z')).toEqual([
      ['2026-11-17', '2026-11-16T11:00:00.000Z', 24],
    ]);
    expect(told(1, 'America/Los_Angeles', '2026-11-16T07:59:59.999Z')).toEqual([
      ['2026-11-15', '2026-11-15T08:00:00.000Z', 24],
    ]);
  });

  it('are longer or shorter when the clocks change, without gaps', () => {
    expect(told(2, 'Europe/Berlin', '2026-10-25T23:30:00.000+01:00').map(([, , hours]) => hours)).toEqual([
      24, 25,
    ]);
    expect(told(1, 'Europe/Berlin', '2026-03-29T12:00:00.000Z').map(([, , hours]) => hours)).toEqual([23]);
    for (const zone of ['America/Santiago', 'Africa/Cairo', 'Asia/Kathmandu', 'Australia/Lord_Howe']) {
      const days = lastDays(400, zone, at('2026-11-16T12:00:00.000Z'));
      for (const [i, { to }] of days.slice(0, -1).entries()) expect(days[i + 1]?.from).toBe(to);
      expect(days.at(-1)?.to).toBeGreaterThan(at('2026-11-16T12:00:00.000Z'));
    }
  });
});
