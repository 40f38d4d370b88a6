// How a delivery is tried: specification, "Delivery". Limits of the dispatcher: ADR 0007.

/** For the whole exchange: name look-up, connection, request and response. */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/** How long after the end of an attempt the next one comes; after the last entry none does. */
const WAITS_MS = [1_000, 4_000, 16_000];
export const MOST_ATTEMPTS = WAITS_MS.length + 1;
/** A due time further ahead than this was written by a clock that was wrong: it counts as now (ADR 0010). */
export const LONGEST_WAIT_MS = Math.max(...WAITS_MS) + 2_000;

/** When to try again after so many attempts, the last of which ended at `endedAtMs`; null: never, the delivery is dropped. */
export const nextAttemptAt = (attempts: number, endedAtMs: number): number | null => {
  const wait = WAITS_MS[attempts - 1];
  return wait === undefined ? null : endedAtMs + wait;
};

/** A delivery that has not ended this long after its change is dropped (docs/guide/limits.md). */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;

export const isAcknowledged = (status: number): boolean => status >= 200 && status < 300;

/** Of all that a receiver answers, from the first byte of its status line to the last of its trailers (ADR 0008). */
export const ANSWER_LIMIT_BYTES = 64 * 1024;
/** Of the same, by line breaks: many short headers cost more memory than their bytes (ADR 0008). */
export const ANSWER_LIMIT_LINES = 1_000;

/** An exchange that takes this long makes its receiver unhealthy; so does one that fails. A quicker 2xx makes it healthy again. */
export const SLOW_MS = 2_000;

/**
 * Slots for exchanges: receivers that hang or refuse take none from those that respond. An exchange that turns slow moves to the
 * unhealthy pool, however full that is; in the 8 s that it may still take, at most four times the healthy pool can follow it.
 */
export const LIMITS = { perReceiver: 8, healthy: 1_024, unhealthy: 2_048 };
export type PoolLimits = Readonly<typeof LIMITS>;
/** A slot is for a body of this size; a larger body takes several slots, 8 at most. */
const SLOT_BYTES = 32 * 1024;
export const MAX_SLOTS = 8;
export const slotsFor = (bodyBytes: number): number =>
  Math.min(MAX_SLOTS, Math.max(1, Math.ceil(bodyBytes / SLOT_BYTES)));

/**
 * Receivers and deliveries that one round reads. To read a receiver's queue costs about the same for one delivery and for eight, so
 * fewer receivers are read where more waits for each: 100 of them with a backlog drained 40 % faster, on PostgreSQL.
 */
export const RECEIVERS_A_ROUND = { most: 64, withBacklog: 16 };
export const DELIVERIES_A_ROUND = 128;
/**
 * The loop of the unhealthy rests after each round, and beside requests that of the healthy after one that is not small, so that
 * receivers that respond, and callers, go first.
 */
export const UNHEALTHY_A_ROUND = 8;
export const BESIDE_REQUESTS_A_ROUND = 24;
export const SMALL_ROUND = 8;
export const REST_MS = 40;

/** How often the whole queue is scanned, for what a lost wake-up call or a dead process left behind. */
export const SCAN_EVERY_MS = 5_000;

/** How long a dead process keeps its receivers. A living one renews a lease while it has 7 s to go. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 3_000;
/** While a process stops: how often it releases the leases of receivers whose last exchange has ended. */
export const RELEASE_EVERY_MS = 200;
/** A lease that ends later than this was written by a clock that was wrong: it is free (ADR 0010). */
export const LONGEST_LEASE_MS = 2 * LEASE_MS;
/** How long a process does not ask again for a lease that another process holds. */
export const ASK_AGAIN_MS = 1_000;

/** A stop waits this long for exchanges; those that hang are then broken off and not counted (ADR 0006). */
export const FINISH_WITHIN_MS = 3_000;
/** And this long for each of the steps after that: leases, connections. */
export const LAST_STEP_WITHIN_MS = 800;

// The form of a webhook URL. Which addresses it may lead to is in address-guard.ts, which the command line does not load.

/** The parser would skip line breaks and tabs, and add slashes that are missing, without an error. */
export const urlIn = (value: string): URL | null =>
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/\\]\S*$/i.test(value) && URL.canParse(value) ? new URL(value) : null;

export const formErrorOf = (url: URL | null, allowPlainHttp: boolean): string | null => {
  if (!url || url.port === '0' || /^\.|\.\./.test(url.hostname))
    return 'must be a whole web address, https://example.com/hook for example';
  if (url.protocol !== 'https:' && !(allowPlainHttp && url.protocol === 'http:'))
    return 'must be an https address';
  return url.username || url.password ? 'must not hold a user name or password' : null;
};
