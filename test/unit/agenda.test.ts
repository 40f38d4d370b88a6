import { describe, expect, it } from 'vitest';
import { createAgenda } from '../../src/webhooks/agenda.ts';
import { createFlights } from '../../src/webhooks/flights.ts';
import { MOST_IN_FLIGHT, MOST_IN_FLIGHT_PER_RECEIVER } from '../../src/webhooks/policy.ts';

const CAP = MOST_IN_FLIGHT_PER_RECEIVER;
const setUp = () => {
  const flights = createFlights();
  const agenda = createAgenda(flights);
  const fly = (clientId: string, count: number) => {
    for (let i = 0; i < count; i++) flights.start(clientId);
  };
  return { flights, agenda, fly };
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
    const { agenda, flights, fly } = setUp();
    fly('full', CAP);
    expect(agenda.call('full')).toBe(false);
    expect([agenda.isRelieved(), agenda.next(0, 10)]).toEqual([false, []]);
    flights.land('full', false);
    // One free place is not worth a claim yet.
    expect(agenda.landed('full')).toBe(false);
    for (let i = 1; i < CAP / 2; i++) flights.land('full', false);
    expect(agenda.landed('full')).toBe(true);
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'full', room: CAP / 2 }]);
    expect(agenda.landed('full')).toBe(false);
  });

  it('get one exchange at a time after they let one run out of time', () => {
    const { agenda, flights, fly } = setUp();
    fly('slow', 1);
    flights.land('slow', true);
    agenda.call('slow');
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'slow', room: 1 }]);
  });

  it('wait their turn while all together have no room', () => {
    const { agenda, flights, fly } = setUp();
    for (let i = 0; i < MOST_IN_FLIGHT / CAP; i++) fly(`busy-${i}`, CAP);
    expect(agenda.call('idle')).toBe(false);
    expect([agenda.isRelieved(), agenda.next(0, 10)]).toEqual([false, []]);
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < CAP; j++) {
        flights.land(`busy-${i}`, false);
        flights.settled();
      }
    }
    expect(agenda.isRelieved()).toBe(true);
    expect(agenda.next(0, 10)).toEqual([{ clientId: 'idle', room: CAP }]);
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
