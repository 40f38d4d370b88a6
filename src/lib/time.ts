/** The source of time, which tests can move. */
export interface Clock {
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;
const MOST_DAYS = 1_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
/** By day since 1970, its `2026-11-15T`. */
const days = new Map<number, string>();

const dayOf = (day: number): string => {
  const known = days.get(day);
  if (known) return known;
  if (days.size >= MOST_DAYS) days.clear();
  const text = new Date(day * DAY_MS).toISOString().slice(0, 11);
  days.set(day, text);
  return text;
};

/** ISO 8601, UTC, with milliseconds. With `toISOString` a list of 20 rows took 14 % more processor time (ADR 0026). */
export const toIso = (ms: number): string => {
  const day = Math.floor(ms / DAY_MS);
  const inDay = ms - day * DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const time = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${dayOf(day)}${time}.${String(inDay % 1000).padStart(3, '0')}Z`;
};

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

/** The same day some months earlier, or the last day of that month. */
export const monthsBefore = (ms: number, months: number): number => {
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() - months);
  return date.getUTCDate() === day ? date.getTime() : date.setUTCDate(0);
};

/**
 * Rejects after the timeout, while the work itself continues. A busy process may not have read the result yet, so the timeout first
 * lets the event loop do that.
 */
export const withTimeout = async <Result>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<Result> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => late.reject(onTimeout())), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
