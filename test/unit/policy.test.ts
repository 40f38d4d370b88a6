import { describe, expect, it } from 'vitest';
import {
  ANSWER_LIMIT_BYTES,
  EXCHANGE_TIMEOUT_MS,
  GIVE_UP_AFTER_MS,
  isAcknowledged,
  LARGEST_BODY_BYTES,
  LEASE_MS,
  LIMITS,
  LONGEST_LEASE_MS,
  LONGEST_WAIT_MS,
  MOST_ATTEMPTS,
  nextAttemptAt,
  SHARES,
} from '../../src/webhooks/policy.ts';

const MIB = 1_048_576;

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

  it('is over with a 2xx, and with nothing else', () => {
    const statuses = [100, 199, 200, 204, 299, 300, 301, 404, 500];
    expect(statuses.filter(isAcknowledged)).toEqual([200, 204, 299]);
  });
});

describe('the room for exchanges', () => {
  it('is 8 for a receiver, 1,024 for quick ones, 2,048 for slow ones and 4,096 in all', () => {
    const { perReceiver, pools, inAll } = LIMITS;
    expect(perReceiver).toBe(8);
    expect([pools.quick.exchanges, pools.slow.exchanges, inAll.exchanges]).toEqual([1_024, 2_048, 4_096]);
    expect([pools.quick.bytes, pools.slow.bytes, inAll.bytes]).toEqual([32 * MIB, 48 * MIB, 128 * MIB]);
    expect([pools.quick.fresh, pools.slow.fresh, pools.failing.fresh]).toEqual([128, 8, 8]);
  });

  it('leaves each receiver less the fuller it is, and always something', () => {
    const below = SHARES.map(({ whileBelow }) => whileBelow);
    const each = SHARES.map((share) => share.each);
    expect(below).toEqual([0.5, 0.75, 1]);
    expect(each).toEqual([8, 2, 1]);
  });

  it('counts 64 KiB of an answer and 256 KiB for a body that is not read yet', () => {
    expect([ANSWER_LIMIT_BYTES, LARGEST_BODY_BYTES]).toEqual([65_536, 262_144]);
  });

  it('leaves a receiver to a silent process for 10 s, and takes a lease of over 20 s for a mistake', () => {
    expect([LEASE_MS, LONGEST_LEASE_MS]).toEqual([10_000, 20_000]);
  });
});
