import { calendarDaysBetween } from './calendar.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** A length of time in whole units: "3 days", counted by the reader's calendar as in "3 days ago". */
export const formatSpan = (fromMs: number, toMs: number): string => {
  const ms = toMs - fromMs;
  if (ms >= DAY_MS) return counted(calendarDaysBetween(fromMs, toMs), 'day');
  if (ms >= HOUR_MS) return counted(Math.floor(ms / HOUR_MS), 'hour');
  return ms >= MINUTE_MS ? counted(Math.floor(ms / MINUTE_MS), 'minute') : 'less than a minute';
};
