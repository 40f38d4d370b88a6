import { dayOf } from '../../format.ts';
import { texts } from '../../texts.ts';

// Until when a return waits, as days of the reader's calendar: `2026-11-17`.

const words = texts.waiting;

const NOON = 12;
const MOST_YEARS = 5;

const later = (days: number, years = 0): Date => {
  const date = new Date();
  date.setFullYear(date.getFullYear() + years);
  date.setDate(date.getDate() + days);
  return date;
};
export const dayIn = (days: number): string => dayOf(later(days));
export const latestDay = (): string => dayOf(later(0, MOST_YEARS));

/** Noon of that day: it is the same day for nearly every colleague elsewhere. */
export const asTime = (day: string): string => {
  const date = new Date(`${day}T00:00:00`);
  date.setHours(NOON);
  return date.toISOString();
};

/** What is wrong with a day; one that was saved before may have passed since. A half-typed year is one of the years 2 to 202. */
export const faultIn = (day: string, saved = ''): string | null => {
  if (day === '' || day === saved) return null;
  if (!/^\d{4}-/.test(day) || day > latestDay()) return words.tooLate;
  return day < dayIn(0) ? words.inThePast : null;
};
