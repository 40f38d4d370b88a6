/** ISO 8601, UTC, with milliseconds. */
export const instant = (ms: number): string => new Date(ms).toISOString();
