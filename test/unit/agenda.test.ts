import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAgenda } from '../../src/webhooks/agenda.ts';
import { createFlights, type Flight } from '../../src/webhooks/flights.ts';
import {
  FRESH_MS,
  MOST_FRESH,
  MOST_IN_FLIGHT,
  MOST_IN_FLIGHT_PER_RECEIVER,
} from '../../src/webhooks/policy.ts';

const CAP = MOST_IN_FLIGHT_PER_RECEIVER;
const HALF = MOST_FRESH / 2;
const setUp = () => {
  const flights = createFlights(() => 0);
  const agenda = createAgenda(flights);
  const inTheAir: Flight[] = [];
  onTestFinished(() => inTheAir.forEach((flight) => void flights.land(flight, false)));
  const fly = (clientId: string, count: number): Flight[] => {
    const some = Array.from({ length: count }, () => flights.start(clientId, randomUUID(), () => {}));
    inTheAir.push(...some);
    return some;
  };
  const end = (some: Flight[], timedOut = false) => {
    for (const flight of some) {
      flights.land(flight, timedOut);
      flights.settled(flight);
    }
  };
  return { agenda, fly, end };
};

describe('receivers with something due', () => {
  it('are served once a call, each with the room it has', () => {
    const { agenda, fly } = setUp();
    fly('busy', CAP - 3);
    for (const clientId of ['busy', 'idle', 'idle']) expect(agenda.call(clientId)).toBe(true);
    expect(agenda.next(0, 10)).toEqual([
      { clientId: 'busy', room: 3 },
      { clientId: 'idle', room: CAP },
    ]);
    expect(agenda.next(0, 10)).toEqual([]);
  });

  it('wait at their cap without being looked at, until half of their exchanges have ended', () => {
    const { agenda, end, fly } = setUp();
    const [first, ...others] = fly('full', CAP) as [Flight, ...Flight[]];
    expect(agenda.call('full')).toBe(false);
    expect([agenda.isRelieved(), agenda.next(0, 10)]).toEqual([false, []]);
    end([first]);
    // One free place is not worth a claim yet.
    expect(agenda.landed('full')).toBe(false);
    end(others.slice(0, CAP / 2 - 1));
    expect(agenda.landed('full')).toBe(true);
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'full', room: CAP / 2 }]);
    expect(agenda.landed('full')).toBe(false);
  });

  it('get one exchange at a time after they let one run out of time', () => {
    const { agenda, end, fly } = setUp();
    end(fly('slow', 1), true);
    agenda.call('slow');
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'slow', room: 1 }]);
  });

  it('wait their turn while all together have no room, for fresh exchanges or for any', () => {
    const { agenda, end, fly } = setUp();
    const busy = Array.from({ length: MOST_FRESH / CAP }, (_, i) => fly(`busy-${i}`, CAP)).flat();
    expect(agenda.call('idle')).toBe(false);
    expect([agenda.isRelieved(), agenda.next(0, 10)]).toEqual([false, []]);
    end(busy.slice(0, HALF - 1));
    expect(agenda.isRelieved()).toBe(false);
    end(busy.slice(HALF - 1, HALF));
    expect(agenda.isRelieved()).toBe(true);
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'idle', room: CAP }]);
  });

  it('get the places of exchanges that are no longer fresh', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { agenda, fly } = setUp();
    for (let i = 0; i < MOST_IN_FLIGHT / CAP; i++) {
      fly(`hanging-${i}`, CAP);
      if (i % (MOST_FRESH / CAP) === MOST_FRESH / CAP - 1) {
        expect(agenda.call('idle')).toBe(false);
        vi.advanceTimersByTime(FRESH_MS);
        expect(agenda.call('idle')).toBe(i < MOST_IN_FLIGHT / CAP - 1);
      }
    }
  });

  it('are taken in their order, so many at once', () => {
    const { agenda } = setUp();
    for (const clientId of ['a', 'b', 'c']) agenda.call(clientId);
    expect(agenda.next(0, 2).map(({ clientId }) => clientId)).toEqual(['a', 'b']);
    expect(agenda.next(0, 2).map(({ clientId }) => clientId)).toEqual(['c']);
  });
});

describe('receivers that will have something due', () => {
  it('come up at the earliest of their times, not before', () => {
    const { agenda } = setUp();
    expect(agenda.soonest()).toBe(Number.POSITIVE_INFINITY);
    agenda.callAt('late', 5000);
    agenda.callAt('soon', 2000);
    agenda.callAt('soon', 9000);
    expect(agenda.soonest()).toBe(2000);
    expect(agenda.next(1999, 10)).toEqual([]);
    expect(agenda.next(2000, 10).map(({ clientId }) => clientId)).toEqual(['soon']);
    expect(agenda.soonest()).toBe(5000);
  });
});
