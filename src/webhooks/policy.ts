// These values define how deliveries are attempted (specification, "Delivery") and the limits of the dispatcher (ADR 0007).

/** The time limit of a whole exchange: name lookup, connection, request and response. */
export const EXCHANGE_TIMEOUT_MS = 10_000;

/** The waits between the end of an attempt and the next attempt. After the last entry there is no further attempt. */
const RETRY_DELAYS_MS = [1_000, 4_000, 16_000];
export const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1;
/** A due time further ahead than this was written by a wrong clock, so the delivery is due now (ADR 0010). */
export const MAX_RETRY_DELAY_MS = Math.max(...RETRY_DELAYS_MS) + 2_000;

/** Returns when to try again after an attempt that ended at `endedAtMs`, or null if the delivery is to be dropped. */
export const nextAttemptAt = (attempts: number, endedAtMs: number): number | null => {
  const wait = RETRY_DELAYS_MS[attempts - 1];
  return wait === undefined ? null : endedAtMs + wait;
};

/** A delivery that is still pending this long after its change is dropped (docs/guide/limits.md). */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60 * 1000;

export const isAcknowledged = (status: number): boolean => status >= 200 && status < 300;

/** The maximum size of a response, from the first byte of its status line to the last of its trailers (ADR 0008). */
export const RESPONSE_LIMIT_BYTES = 64 * 1024;
/** The maximum number of line breaks in a response: many short headers need more memory than their bytes (ADR 0008). */
export const RESPONSE_LIMIT_LINES = 1_000;

/** An exchange that takes this long, or fails, makes its receiver unhealthy. A faster 2xx makes it healthy again. */
export const SLOW_AFTER_MS = 2_000;

/**
 * The slots for exchanges. Receivers that hang or refuse take no slots from those that respond: an exchange that turns slow
 * moves to the unhealthy pool, even a full one. In its remaining 8 s at most four times the healthy pool can follow it.
 */
export const POOL_LIMITS = { perReceiver: 8, healthy: 1_024, unhealthy: 2_048 };
export type PoolLimits = Readonly<typeof POOL_LIMITS>;
/** The body size that one slot covers; a larger body takes up to 8 slots. */
const SLOT_BYTES = 32 * 1024;
export const MAX_SLOTS = 8;
export const slotsFor = (bodyBytes: number): number =>
  Math.min(MAX_SLOTS, Math.max(1, Math.ceil(bodyBytes / SLOT_BYTES)));

/**
 * The number of receivers and deliveries that one round reads. Reading a receiver's queue costs about the same for one delivery
 * and for eight, so a round reads fewer receivers that have a backlog: 100 of these drained 40 % faster on PostgreSQL.
 */
export const RECEIVERS_PER_ROUND = { most: 64, withBacklog: 16 };
export const DELIVERIES_PER_ROUND = 128;
/**
 * The loop of unhealthy receivers rests after each round. While requests are open, the loop of healthy receivers rests too,
 * except after a small round. So receivers that respond, and callers of the API, go first.
 */
export const UNHEALTHY_PER_ROUND = 8;
export const DELIVERIES_PER_BUSY_ROUND = 24;
export const SMALL_ROUND = 8;
export const REST_MS = 40;

/** The interval of the scan of the whole queue, which finds deliveries after a lost wake-up or the death of a process. */
export const SCAN_EVERY_MS = 5_000;

/** A dead process keeps its receivers for this long. A living process renews a lease that has less than 7 s left. */
export const LEASE_MS = 10_000;
export const RENEW_MS = 3_000;
/** A stopping process releases at this interval the leases of receivers whose last exchange has ended. */
export const RELEASE_EVERY_MS = 200;
/** A lease that ends later than this was written by a wrong clock, so it is free (ADR 0010). */
export const MAX_LEASE_MS = 2 * LEASE_MS;
/** The wait before a process asks again for a lease that another process holds. */
export const LEASE_RETRY_MS = 1_000;

/** A stop waits this long for exchanges. Those that hang are then aborted and do not count as attempts (ADR 0006). */
export const FINISH_WITHIN_MS = 3_000;
/** A stop then waits this long for each later phase: connections, then leases. */
export const STOP_PHASE_WITHIN_MS = 800;

// The functions below check the form of a webhook URL. address-guard.ts, which the CLI does not load, checks its address.

/** The pattern comes first because the parser silently skips line breaks and tabs and adds missing slashes. */
export const parseWebhookUrl = (value: string): URL | null =>
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/\\]\S*$/i.test(value) && URL.canParse(value) ? new URL(value) : null;

export const webhookUrlError = (url: URL | null, allowPlainHttp: boolean): string | null => {
  if (!url || url.port === '0' || /^\.|\.\./.test(url.hostname))
    return 'must be a complete URL such as https://example.com/hook';
  if (url.protocol !== 'https:' && !(allowPlainHttp && url.protocol === 'http:'))
    return 'must be an https address';
  return url.username || url.password ? 'must not contain a user name or password' : null;
};
