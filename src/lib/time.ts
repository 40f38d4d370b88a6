/** Where time comes from, so that a test can move it. */
export interface Clock {
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601, UTC, with milliseconds. */
export const toIso = (ms: number): string => new Date(ms).toISOString();
