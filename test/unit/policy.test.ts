import { describe, expect, it } from 'vitest';
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

describe('the schedule of attempts', () => {
  it('is 1, 4 and 16 s after the end of the one before, and none after the fourth', () => {
    const endedAt = 1_000_000;
    expect([1, 2, 3, 4].map((made) => nextAttemptAt(made, endedAt))).toEqual([
      1_001_000,
      1_004_000,
      1_016_000,
      null,
    ]);
    expect(MOST_ATTEMPTS).toBe(4);
  });

  it('takes a due time for a mistake only beyond the longest wait', () => {
    expect(LONGEST_WAIT_MS).toBeGreaterThan(16_000);
    expect(LONGEST_WAIT_MS).toBeLessThanOrEqual(20_000);
  });

  it('gives an exchange 10 s and a delivery a day', () => {
    expect(EXCHANGE_TIMEOUT_MS).toBe(10_000);
    expect(GIVE_UP_AFTER_MS).toBe(86_400_000);
  });
});

describe('the room for exchanges', () => {
  it('is 8 for a receiver, 1,024 places for healthy ones and 2,048 for the others', () => {
    expect(LIMITS).toEqual({ perReceiver: 8, healthy: 1_024, unhealthy: 2_048 });
  });

  it('counts a place for each 32 KiB of a body, 8 at most, and 64 KiB of an answer', () => {
    const sizes = [0, 1, 32_768, 32_769, 65_536, 262_144, 1_000_000];
    expect(sizes.map(placesFor)).toEqual([1, 1, 1, 2, 2, 8, 8]);
    expect(ANSWER_LIMIT_BYTES).toBe(65_536);
  });

  it('leaves a receiver to a silent process for 10 s, and takes a lease of over 20 s for a mistake', () => {
    expect([LEASE_MS, LONGEST_LEASE_MS]).toEqual([10_000, 20_000]);
  });
});
