import { expect, it } from 'vitest';
import {
  ANSWER_LIMIT_BYTES,
  EXCHANGE_TIMEOUT_MS,
  GIVE_UP_AFTER_MS,
  LEASE_MS,
  LIMITS,
  LONGEST_LEASE_MS,
  LONGEST_WAIT_MS,
  MOST_ATTEMPTS,
  nextAttemptAt,
  placesFor,
} from '../../src/webhooks/policy.ts';

// What the guide and the dispatcher's page promise.

it('retries follow 1, 4 and 16 s after the end of the attempt before, and stop after the fourth attempt', () => {
  const endedAt = 1_000_000;
  const next = [1, 2, 3, 4].map((made) => nextAttemptAt(made, endedAt));
  expect(next).toEqual([1_001_000, 1_004_000, 1_016_000, null]);
  expect(MOST_ATTEMPTS).toBe(4);
  // A due time is a mistake only beyond the longest wait.
  expect(LONGEST_WAIT_MS).toBeGreaterThan(16_000);
  expect(LONGEST_WAIT_MS).toBeLessThanOrEqual(20_000);
});

it('an attempt has 10 s, a delivery a day, and a lease 10 s; one of over 20 s is an error', () => {
  expect([EXCHANGE_TIMEOUT_MS, GIVE_UP_AFTER_MS]).toEqual([10_000, 86_400_000]);
  expect([LEASE_MS, LONGEST_LEASE_MS]).toEqual([10_000, 20_000]);
});

it('a receiver has 8 slots, a body takes one for each 32 KiB, at most 8, and 64 KiB of a response are read', () => {
  expect(LIMITS).toEqual({ perReceiver: 8, healthy: 1_024, unhealthy: 2_048 });
  const sizes = [0, 1, 32_768, 32_769, 65_536, 262_144, 1_000_000];
  expect(sizes.map(placesFor)).toEqual([1, 1, 1, 2, 2, 8, 8]);
  expect(ANSWER_LIMIT_BYTES).toBe(65_536);
});
