import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  FRESH_MS,
  LARGEST_BODY_BYTES,
  LIMITS,
  MOST_FRESH_BESIDE_REQUESTS,
  type PoolName,
  SLOW_MS,
} from '../../src/webhooks/policy.ts';
import { createInFlight, type Flight } from '../../src/webhooks/worker/in-flight.ts';
import { createPools } from '../../src/webhooks/worker/pools.ts';
import { createReadyReceivers } from '../../src/webhooks/worker/ready-receivers.ts';
import { createReceiverLoad } from '../../src/webhooks/worker/receiver-load.ts';
import { createMove } from '../../src/webhooks/worker/states.ts';
import { createStopwatch } from '../../src/webhooks/worker/stopwatch.ts';
import { systemTime } from '../../src/webhooks/worker/time.ts';

const CAP = LIMITS.perReceiver;
const FRESH = LIMITS.pools.quick.fresh;
const KILOBYTE = 1024;

const setUp = ({ requests = 0 } = {}) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const clock = { ms: 0, now: () => clock.ms };
  const move = createMove((message) => {
    throw new Error(message);
  });
  const pools = createPools(() => requests, LIMITS);
  const load = createReceiverLoad(pools);
  const inFlight = createInFlight({ pools, load, move, time: systemTime });
  const ready = createReadyReceivers({ pools, load, move, stopwatch: createStopwatch(clock) });
  const fly = (clientId: string, count: number, bytes = KILOBYTE): Flight[] =>
    Array.from({ length: count }, () =>
      inFlight.start({ clientId, deliveryId: randomUUID(), bytes, pool: load.poolOf(clientId) }, () => {}),
    );
  const end = (some: Flight[]) => {
    for (const flight of some) {
      inFlight.land(flight);
      inFlight.settled(flight);
    }
  };
  /** So many receivers that hang, each with as many exchanges as it may have. */
  const hang = (receivers: number, bytes = KILOBYTE) => {
    for (let i = 0; i < receivers; i++) {
      const clientId = `hanging-${i}`;
      const room = Math.min(load.roomOf(clientId), pools.poolRoom(load.poolOf(clientId)));
      fly(clientId, Math.max(0, room), bytes);
      vi.advanceTimersByTime(FRESH_MS);
    }
    vi.advanceTimersByTime(SLOW_MS);
  };
  /** Takes the next of a pool, and is done with them. */
  const next = (most: number, pool: PoolName = 'quick') => {
    ready.callDue();
    const chosen = ready.next(pool, most);
    ready.served(chosen);
    return chosen;
  };
  const namesOf = (chosen: { clientId: string }[]) => chosen.map(({ clientId }) => clientId);
  return { clock, pools, load, inFlight, ready, next, fly, end, hang, namesOf };
};

describe('receivers with something due', () => {
  it('are served once a call, each with the room it has', () => {
    const { ready, next, fly } = setUp();
    fly('busy', CAP - 3);
    for (const clientId of ['busy', 'idle', 'idle']) expect(ready.call(clientId)).toBe(true);
    // Whoever has nothing under way comes first.
    expect(next(10)).toEqual([
      { clientId: 'idle', room: CAP },
      { clientId: 'busy', room: 3 },
    ]);
    expect(next(10)).toEqual([]);
  });

  it('wait at their cap without being looked at, until half of their exchanges have ended', () => {
    const { ready, next, end, fly } = setUp();
    const [first, ...others] = fly('full', CAP) as [Flight, ...Flight[]];
    expect(ready.call('full')).toBe(false);
    expect([ready.canGoOn('quick'), next(10)]).toEqual([false, []]);
    end([first]);
    // One free place is not worth a look at the queue yet.
    expect(ready.gotRoom('full')).toBe(false);
    end(others.slice(0, CAP / 2 - 1));
    expect(ready.gotRoom('full')).toBe(true);
    expect(next(10)).toEqual([{ clientId: 'full', room: CAP / 2 }]);
    expect(ready.gotRoom('full')).toBe(false);
  });

  it('keep all their room after they let exchanges run out of time', () => {
    const { ready, next, end, fly } = setUp();
    const flights = fly('hanging', CAP);
    vi.advanceTimersByTime(10_000);
    end(flights);
    ready.call('hanging');
    expect(next(10, 'slow')).toEqual([{ clientId: 'hanging', room: CAP }]);
  });

  it.each([
    { requests: 0, most: FRESH },
    { requests: 1, most: MOST_FRESH_BESIDE_REQUESTS },
  ])('wait while $most exchanges are fresh ($requests requests under way)', ({ requests, most }) => {
    const { ready, next, end, fly } = setUp({ requests });
    const busy = Array.from({ length: most / CAP }, (_, i) => fly(`busy-${i}`, CAP)).flat();
    expect(ready.call('idle')).toBe(false);
    expect([ready.canGoOn('quick'), next(10)]).toEqual([false, []]);
    end(busy.slice(0, most / 2 - 1));
    expect(ready.canGoOn('quick')).toBe(false);
    end(busy.slice(most / 2 - 1, most / 2));
    expect(ready.canGoOn('quick')).toBe(true);
    expect(next(10)).toEqual([{ clientId: 'idle', room: CAP }]);
  });

  it('share a round when many want one, those with nothing under way first', () => {
    const { ready, next, fly, namesOf } = setUp();
    fly('busy', 1);
    for (const clientId of ['busy', 'a', 'b', 'c']) ready.call(clientId);
    expect(namesOf(next(3))).toEqual(['a', 'b', 'c']);
    expect(namesOf(next(3))).toEqual(['busy']);
  });
});

describe('a receiver that is being served', () => {
  it('is served by nobody else, also when it changes pools, and is not forgotten', () => {
    const { ready, next, fly, namesOf } = setUp();
    ready.call('a');
    const chosen = ready.next('quick', 10);
    fly('a', 1);
    vi.advanceTimersByTime(SLOW_MS);
    ready.call('a');
    expect([...next(10), ...next(10, 'slow')]).toEqual([]);
    expect([...ready.served(chosen)]).toEqual(['slow']);
    expect(namesOf(next(10, 'slow'))).toEqual(['a']);
  });
});

describe('receivers that hang', () => {
  it.each([
    [80, CAP],
    [250, CAP],
    [1_000, 1],
  ])('leave places to others: %i of them, never heard of before', (receivers, room) => {
    const { ready, next, hang, pools } = setUp({ requests: 1 });
    hang(receivers);
    expect(pools.poolRoom('quick')).toBe(MOST_FRESH_BESIDE_REQUESTS);
    expect(ready.call('healthy')).toBe(true);
    expect(next(10)).toEqual([{ clientId: 'healthy', room }]);
  });

  it('have fewer exchanges each, the more of them there are, and their bodies stay within bounds', () => {
    const { hang, load } = setUp();
    hang(1_000, LARGEST_BODY_BYTES);
    const underWay = Array.from({ length: 1_000 }, (_, i) => load.underWayTo(`hanging-${i}`));
    const bytes = underWay.reduce((sum, count) => sum + count * LARGEST_BODY_BYTES, 0);
    expect(bytes).toBeGreaterThan(LIMITS.pools.slow.bytes);
    expect(bytes).toBeLessThanOrEqual(LIMITS.inAll.bytes);
  });

  it('are quick again after an answer', () => {
    const { hang, load, end, fly } = setUp();
    hang(1);
    expect(load.poolOf('hanging-0')).toBe('slow');
    end(fly('hanging-0', 1));
    expect(load.poolOf('hanging-0')).toBe('quick');
  });
});

describe('receivers that fail', () => {
  it('are served apart from the others, until one attempt is acknowledged', () => {
    const { ready, next, inFlight, fly, namesOf } = setUp();
    const [failed, acknowledged] = [fly('failing', 1), fly('failing', 1)].flat() as [Flight, Flight];
    ready.call('failing');
    ready.call('healthy');
    inFlight.land(failed, false);
    ready.landed('failing');
    expect(ready.canGoOn('failing')).toBe(true);
    expect(namesOf(next(10))).toEqual(['healthy']);
    inFlight.land(acknowledged, true);
    ready.landed('failing');
    expect([ready.canGoOn('failing'), ready.canGoOn('quick')]).toEqual([false, true]);
    expect(namesOf(next(10))).toEqual(['failing']);
  });

  it('stay where they are after an attempt that a stop cut short', () => {
    const { load, inFlight, fly } = setUp();
    for (const flight of fly('healthy', 2)) inFlight.land(flight);
    expect(load.poolOf('healthy')).toBe('quick');
  });

  it.each(['slow', 'failing'] as const)('get few at once, with or without requests (%s)', (pool) => {
    for (const requests of [0, 1])
      expect(setUp({ requests }).pools.poolRoom(pool)).toBeLessThan(MOST_FRESH_BESIDE_REQUESTS);
  });
});

describe('receivers that will have something due', () => {
  it('come up at the earliest of their times, not before', () => {
    const { clock, ready, next, namesOf } = setUp();
    expect(ready.soonestMs()).toBe(Number.POSITIVE_INFINITY);
    ready.callAfter('late', 5000);
    ready.callAfter('soon', 2000);
    ready.callAfter('soon', 9000);
    expect(ready.soonestMs()).toBe(2000);
    clock.ms = 1999;
    expect(next(10)).toEqual([]);
    clock.ms = 2000;
    expect(namesOf(next(10))).toEqual(['soon']);
    expect(ready.soonestMs()).toBe(3000);
  });

  it('come up in time though the shared clock steps back', () => {
    const { clock, ready, next, namesOf } = setUp();
    ready.callAfter('soon', 2000);
    clock.ms = -3_600_000;
    expect(next(10)).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(namesOf(next(10))).toEqual(['soon']);
  });

  it('may be more than a function takes arguments', () => {
    const { ready } = setUp();
    for (let i = 0; i < 200_000; i++) ready.callAfter(`receiver-${i}`, 1000 + i);
    expect(ready.soonestMs()).toBe(1000);
  });
});

it('an exchange that ends twice is a mistake that is noticed', () => {
  const { inFlight, fly, end } = setUp();
  const [flight] = fly('a', 1) as [Flight];
  end([flight]);
  expect(() => inFlight.land(flight)).toThrow('settled must not become landed');
});
