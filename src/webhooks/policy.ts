// How a delivery is tried: specification, "Delivery".

/** For the whole exchange: name look-up, connection, request and answer. */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/** How long after the end of an attempt the next one comes; after the last entry none does. */
const WAITS_MS = [1_000, 4_000, 16_000];

/** When to try again after so many attempts, the last of which ended at `endedAtMs`; null: never, the delivery is dropped. */
export const nextAttemptAt = (attempts: number, endedAtMs: number): number | null => {
  const wait = WAITS_MS[attempts - 1];
  return wait === undefined ? null : endedAtMs + wait;
};

export const isAcknowledged = (status: number): boolean => status >= 200 && status < 300;

export const ANSWER_LIMIT_BYTES = 64 * 1024;

/** What one receiver may have under way from this process, so that a slow one cannot take everybody's turn. */
export const MOST_IN_FLIGHT_PER_RECEIVER = 8;
export const MOST_IN_FLIGHT = 512;
/**
 * Of these so many may be fresh. Receivers that answer keep the process busy with their answers, and more at once would
 * only make everybody else wait; one that has not answered for a while costs nothing and leaves its place to others.
 */
export const MOST_FRESH = 128;
/** While requests are under way in this process, whoever waits for an answer goes first: fewer, and a rest after a large lot. */
export const MOST_FRESH_BESIDE_REQUESTS = 24;
export const LARGE_LOT = 8;
export const REST_BESIDE_REQUESTS_MS = 40;
export const FRESH_MS = 500;

/** How long a receiver is left to a process that is heard of no more. While it is, the lease never has less than 7 s to go. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 3_000;
/** After a receiver turned out to be another process's. */
export const ASK_AGAIN_MS = 1_000;

export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
