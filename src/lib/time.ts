/** Where time comes from, so that a test can move it. */
export interface Clock {
  now(): number;
}
export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601, UTC, with milliseconds. */
export const toIso = (ms: number): string => new Date(ms).toISOString();

/** The work itself goes on. A busy process may not have read its result yet, so the timeout lets the event loop do that first. */
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
