import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  DELIVERIES_PER_ROUND,
  EXCHANGE_TIMEOUT_MS,
  GIVE_UP_AFTER_MS,
  POOL_LIMITS,
  type PoolLimits,
  RECEIVERS_PER_ROUND,
  SLOW_AFTER_MS,
} from '../../src/webhooks/policy.ts';
import { DeadlineClock, systemMonotonicClock } from '../../src/webhooks/worker/monotonic-clock.ts';
import {
  type ChosenReceiver,
  type Exchange,
  type Health,
  Receivers,
} from '../../src/webhooks/worker/receivers.ts';

const CAP = POOL_LIMITS.perReceiver;
const KILOBYTE = 1024;
const MANY = 1_000;

const setUp = (limits: PoolLimits = POOL_LIMITS) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const clock = { ms: 0, now: () => clock.ms };
  const woken: Health[] = [];
  const receivers = new Receivers({
    limits,
    time: systemMonotonicClock,
    deadlines: new DeadlineClock(clock, systemMonotonicClock),
    onForbidden: (message) => {
      throw new Error(message);
    },
    onReady: (pool) => void woken.push(pool),
    onTimer: () => {},
  });
  const start = (receiverId: string, count: number, bytes = KILOBYTE): Exchange[] =>
    Array.from({ length: count }, () => receivers.start(receiverId, randomUUID(), bytes));
  const end = (exchanges: Exchange[], isAcknowledged: boolean | null = true) => {
    for (const exchange of exchanges) {
      receivers.finish(exchange, isAcknowledged);
      receivers.end(exchange, 'settled');
    }
  };
  const wake = (receiverId: string, isUrgent = true) => receivers.wake(receiverId, { isUrgent });
  const done = (chosen: ChosenReceiver[]) => {
    for (const { receiver } of chosen) receivers.afterRead(receiver, { isOurs: true });
    return chosen.map(({ receiverId, room }) => ({ receiverId, room }));
  };
  /** Chooses the next of a pool and reports their read as finished. */
  const next = (pool: Health = 'healthy', most = MANY) => done(receivers.choose(pool, most));
  const names = (pool: Health = 'healthy', most = MANY) =>
    next(pool, most).map(({ receiverId }) => receiverId);
  return { clock, receivers, woken, start, end, wake, next, names };
};

describe('receivers with due deliveries', () => {
  it('are read once for each wake-up, with as many deliveries as they have free slots', () => {
    const { wake, next, start, woken } = setUp();
    start('busy', CAP - 3);
    for (const receiverId of ['busy', 'idle', 'idle']) wake(receiverId);
    expect(woken).toContain('healthy');
    expect(next()).toEqual([
      { receiverId: 'busy', room: 3 },
      { receiverId: 'idle', room: CAP },
    ]);
    expect(next()).toEqual([]);
  });

  it('with all slots in use are read again once half of their attempts have ended', () => {
    const { wake, next, end, start } = setUp();
    const [first, ...others] = start('full', CAP) as [Exchange, ...Exchange[]];
    wake('full');
    end([first]);
    expect(next()).toEqual([]);
    end(others.slice(0, CAP / 2 - 1));
    expect(next()).toEqual([{ receiverId: 'full', room: CAP / 2 }]);
  });

  it('share a round if there are many', () => {
    const { wake, next } = setUp();
    for (let i = 0; i < 10; i++) wake(`r${i}`);
    expect(next('healthy', 20).map(({ room }) => room)).toEqual(Array(10).fill(2));
  });

  it('are fewer in a round, with more slots each, if the last read left something behind', () => {
    const { receivers, wake, next } = setUp();
    const { most, withBacklog } = RECEIVERS_PER_ROUND;
    for (let i = 0; i < most; i++) wake(`r${i}`, false);
    const read = receivers.choose('healthy', MANY);
    expect(read.map(({ room }) => room)).toEqual(Array(most).fill(DELIVERIES_PER_ROUND / most));
    for (const { receiver, receiverId } of read) {
      receiver.hasBacklog = true;
      wake(receiverId, false);
      receivers.afterRead(receiver, { isOurs: true });
    }
    expect(next().map(({ room }) => room)).toEqual(Array(withBacklog).fill(CAP));
  });

  it('precede the backlog, which still gets a quarter of each round', () => {
    const { wake, names } = setUp();
    for (let i = 0; i < MANY; i++) wake(`old-${i}`, false);
    wake('new');
    const round = names();
    expect(round).toHaveLength(RECEIVERS_PER_ROUND.most);
    expect(round.slice(0, 2)).toEqual(['new', 'old-0']);
    for (let i = 0; i < MANY; i++) wake(`new-${i}`);
    expect(names().filter((name) => name.startsWith('old-'))).toHaveLength(RECEIVERS_PER_ROUND.most / 4);
  });

  it('precede the backlog even if they belonged to it, and a scan that finds them again does not move them', () => {
    const { wake, names } = setUp();
    for (const receiverId of ['a', 'b', 'c']) wake(receiverId, false);
    wake('c');
    wake('a', false);
    expect(names()).toEqual(['c', 'a', 'b']);
  });
});

describe('the two pools', () => {
  it('a receiver is unhealthy once an attempt takes 2 s, and its slots are free for others', () => {
    const { receivers, wake, names, start } = setUp();
    start('hangs', CAP);
    expect([receivers.slotsTaken('healthy'), receivers.slotsTaken('unhealthy')]).toEqual([CAP, 0]);
    vi.advanceTimersByTime(SLOW_AFTER_MS);
    expect([receivers.slotsTaken('healthy'), receivers.slotsTaken('unhealthy')]).toEqual([0, CAP]);
    start('hangs', 1);
    wake('healthy');
    expect(names('healthy')).toEqual(['healthy']);
  });

  it('a receiver is unhealthy after a failure until a fast acknowledgement', () => {
    const { wake, names, start, end } = setUp();
    const [stopped, failing, cutShort, slow, quick] = start('a', 5) as [
      ...[Exchange, Exchange, Exchange, Exchange, Exchange],
    ];
    end([stopped], null);
    wake('a');
    expect(names('unhealthy')).toEqual([]);
    end([failing], false);
    expect(names('healthy')).toEqual([]);
    expect(names('unhealthy')).toEqual(['a']);
    wake('a');
    end([cutShort], null);
    expect(names('healthy')).toEqual([]);
    vi.advanceTimersByTime(SLOW_AFTER_MS);
    const [afterwards] = start('a', 1) as [Exchange];
    end([slow, quick]);
    expect(names('healthy')).toEqual([]);
    end([afterwards]);
    wake('a');
    expect(names('healthy')).toEqual(['a']);
  });

  it('a full pool wakes its loop when a slot is free again', () => {
    const { wake, next, start, end, woken } = setUp({ perReceiver: 2, healthy: 2, unhealthy: 2 });
    const exchanges = start('busy', 2);
    wake('waiting');
    expect([woken, next()]).toEqual([[], []]);
    end(exchanges.slice(0, 1));
    expect(woken).toEqual(['healthy']);
    expect(next()).toEqual([{ receiverId: 'waiting', room: 1 }]);
  });

  it('bodies stay within limits: a large one takes several slots', () => {
    const sizes = [0, 32_768, 32_769, 65_536, 262_144, 1_000_000];
    const slotsOf = (bytes: number) => {
      const { receivers, start } = setUp();
      start('a', 1, bytes);
      return receivers.slotsTaken('healthy');
    };
    expect(sizes.map(slotsOf)).toEqual([1, 1, 2, 2, 8, 8]);
    const { receivers, wake, next, start } = setUp();
    for (let i = 0; i < MANY; i++) wake(`r${i}`, false);
    let bytes = 0;
    for (let chosen = next(); chosen.length > 0; chosen = next())
      for (const { receiverId, room } of chosen) bytes += start(receiverId, room, 262_144).length * 262_144;
    expect(receivers.slotsTaken('healthy')).toBeGreaterThanOrEqual(POOL_LIMITS.healthy);
    expect(bytes).toBeLessThanOrEqual(33 * 1024 ** 2);
  });
});

it('a receiver is served when the earliest of its retries is due, and not before', () => {
  const { clock, receivers, names } = setUp();
  receivers.wakeAfter('late', 5000);
  receivers.wakeAfter('soon', 2000);
  receivers.wakeAfter('soon', 9000);
  expect(receivers.msToNextTimer()).toBe(2000);
  clock.ms = 1999;
  receivers.fireTimers();
  expect(names()).toEqual([]);
  clock.ms = 2000;
  receivers.fireTimers();
  expect(names()).toEqual(['soon']);
  expect(receivers.msToNextTimer()).toBe(3000);
});

// test/webhooks/model.test.ts tests that it is forgotten afterwards.
it('a receiver is kept while a result is unwritten or set aside', () => {
  const { receivers, start } = setUp();
  const [exchange] = start('a', 1) as [Exchange];
  receivers.finish(exchange, true);
  expect(receivers.size).toBe(1);
  receivers.end(exchange, 'set aside');
  expect(receivers.unsettledOf('a')).toEqual([exchange.deliveryId]);
  expect(receivers.unsettled()).toEqual([]);
});

// To wait for them would take as long.
it('the guide on webhooks has the figures of the dispatcher', () => {
  expect([CAP, EXCHANGE_TIMEOUT_MS, GIVE_UP_AFTER_MS]).toEqual([8, 10_000, 86_400_000]);
});

it('an attempt that ends twice is reported as an error', () => {
  const { receivers, start, end } = setUp();
  const [exchange] = start('a', 1) as [Exchange];
  end([exchange]);
  expect(() => receivers.finish(exchange, true)).toThrow('settled must not become finished');
});
