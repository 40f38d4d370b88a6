// How a delivery is tried: specification, "Delivery". Limits of the dispatcher: decisions 73 and 82 to 87.

/** For the whole exchange: name look-up, connection, request and answer. */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/** How long after the end of an attempt the next one comes; after the last entry none does. */
const WAITS_MS = [1_000, 4_000, 16_000];
export const MOST_ATTEMPTS = WAITS_MS.length + 1;
/** A due time further ahead than this was written by a clock that was wrong: it counts as now (decision 82). */
export const LONGEST_WAIT_MS = Math.max(...WAITS_MS) + 2_000;

/** When to try again after so many attempts, the last of which ended at `endedAtMs`; null: never, the delivery is dropped. */
export const nextAttemptAt = (attempts: number, endedAtMs: number): number | null => {
  const wait = WAITS_MS[attempts - 1];
  return wait === undefined ? null : endedAtMs + wait;
};

/** A delivery that has not ended this long after its change is dropped (decision 84). */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;

export const isAcknowledged = (status: number): boolean => status >= 200 && status < 300;

/** Of all that a receiver answers, from the first byte of its status line to the last of its trailers (decision 85). */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
/** Of the same, by line breaks: many short headers cost more memory than their bytes (decision 225). */
export const ANSWER_LIMIT_LINES = 1_000;

/** A receiver that takes longer than this to answer is slow, until it answers faster again (decision 83). */
export const SLOW_MS = 2_000;
/** An exchange younger than this is fresh: it keeps the process busy. Older ones only wait. */
export const FRESH_MS = 50;

/** Receivers that answer well, that hang, and whose last attempt failed (decisions 83 and 221). */
export const POOL_NAMES = ['quick', 'slow', 'failing'] as const;
export type PoolName = (typeof POOL_NAMES)[number];
export interface Limits {
  /** Exchanges that one receiver may have under way from this process. */
  perReceiver: number;
  pools: Readonly<Record<PoolName, { exchanges: number; bytes: number; fresh: number }>>;
  /** For all pools together: an exchange that turns out to be slow changes pools, however full the slow one is. */
  inAll: { exchanges: number; bytes: number };
}
/**
 * Each kind has room of its own, so that receivers that hang or refuse take nothing from those that answer. To those that do not answer
 * well deliveries go at a steady pace: hundreds that end or begin at once would delay all others.
 */
export const LIMITS: Limits = {
  perReceiver: 8,
  pools: {
    quick: { exchanges: 1024, bytes: 32 * 1024 ** 2, fresh: 128 },
    slow: { exchanges: 2048, bytes: 48 * 1024 ** 2, fresh: 8 },
    failing: { exchanges: 512, bytes: 16 * 1024 ** 2, fresh: 8 },
  },
  inAll: { exchanges: 4096, bytes: 128 * 1024 ** 2 },
};
/** The fuller it is, the fewer exchanges each receiver may have, so that one with none finds a place. */
export const SHARES = [
  { whileBelow: 0.5, each: LIMITS.perReceiver },
  { whileBelow: 0.75, each: 2 },
  { whileBelow: 1, each: 1 },
] as const;
/** What a body takes until it is read and its size is known: as much as the largest. */
export const LARGEST_BODY_BYTES = 256 * 1024;

/** How often the whole queue is looked at, for what a lost wake-up call or a dead process left behind. */
export const LOOK_EVERY_MS = 5_000;

/** While requests are under way in this process, whoever waits for an answer goes first: fewer at once. */
export const MOST_FRESH_BESIDE_REQUESTS = 24;
/** A rest comes after a large lot beside requests, and after every lot for receivers that hang or fail. */
export const LARGE_LOT = 8;
export const REST_MS = 40;

/** How long a receiver is left to a process that is heard of no more. While it is, the lease never has less than 7 s to go. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 3_000;
/** While a process stops: how often it leaves receivers to the others whose last exchange has ended. */
export const HAND_OVER_EVERY_MS = 200;
/** A lease that ends later than this was written by a clock that was wrong: it is free (decision 82). */
export const LONGEST_LEASE_MS = 2 * LEASE_MS;
/** After a receiver turned out to be another process's. */
export const ASK_AGAIN_MS = 1_000;

/** A stop waits this long for exchanges under way; those that hang are then broken off and not counted (decision 86). */
export const FINISH_WITHIN_MS = 3_000;
/** And this long for each of the steps after that: leases, connections. */
export const LAST_STEP_WITHIN_MS = 800;
