const DAY_MS = 24 * 60 * 60 * 1000;
const MOST_DAYS = 1000;
const digits = (count: number): string[] =>
  Array.from({ length: 10 ** count }, (_, n) => String(n).padStart(count, '0'));
const TWO = digits(2);
const THREE = digits(3);
const days = new Map<number, string>();

/** `2026-11-15T`, kept, since most times that are told fall on few days. */
const dayOf = (day: number): string => {
  const known = days.get(day);
  if (known !== undefined) return known;
  if (days.size >= MOST_DAYS) days.clear();
  const text = new Date(day * DAY_MS).toISOString().slice(0, 11);
  days.set(day, text);
  return text;
};

/** A time as answers tell it: ISO 8601, UTC, with milliseconds. Every row of a list has two, and Date takes eight times as long. */
export const instant = (ms: number): string => {
  const day = Math.floor(ms / DAY_MS);
  const inDay = ms - day * DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${dayOf(day)}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${THREE[inDay % 1000]}Z`;
};
