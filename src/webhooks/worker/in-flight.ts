import {
  FRESH_MS,
  LANES,
  LARGEST_BODY_BYTES,
  type LaneName,
  MOST_FRESH_BESIDE_REQUESTS,
  MOST_IN_FLIGHT,
  MOST_PER_RECEIVER,
  SHARES,
  SLOW_MS,
} from '../policy.ts';

/**
 * One exchange under way. It is fresh → aged → slow as time passes, lands when the exchange is over, and is settled when
 * its result is written down or given up.
 */
export interface Flight {
  readonly clientId: string;
  readonly deliveryId: string;
  readonly bytes: number;
  readonly startedAt: number;
  lane: LaneName;
  /** Rings when it stops being fresh, then when it becomes slow; null once it has landed. */
  timer: NodeJS.Timeout | null;
  isFresh: boolean;
  state: 'under way' | 'landed' | 'settled';
}

const assertState = ({ state }: Flight, expected: Flight['state']): void => {
  if (state !== expected) throw new Error(`a webhook exchange is ${state}, not ${expected}`);
};

/** What is under way, by lane and by receiver: who may have how many more (decision 83). */
export const createInFlight = (requestsUnderWay: () => number) => {
  const lanes = {
    quick: { exchanges: 0, bytes: 0, fresh: 0 },
    slow: { exchanges: 0, bytes: 0, fresh: 0 },
  };
  const slowReceivers = new Set<string>();
  const underWay = new Map<string, number>();
  /** Deliveries whose attempt is not yet written down, by receiver. */
  const unsettled = new Map<string, Set<string>>();
  let whenEmpty: (() => void) | null = null;

  const laneOf = (clientId: string): LaneName => (slowReceivers.has(clientId) ? 'slow' : 'quick');
  const underWayTo = (clientId: string): number => underWay.get(clientId) ?? 0;

  /** To a receiver that hangs there is nothing to do but to send: that need not wait for requests. */
  const mostFresh = (lane: LaneName): number =>
    lane === 'quick' && requestsUnderWay() > 0 ? MOST_FRESH_BESIDE_REQUESTS : LANES[lane].fresh;
  const total = (what: 'exchanges' | 'bytes'): number => lanes.quick[what] + lanes.slow[what];
  const left = (lane: LaneName, what: 'exchanges' | 'bytes'): number =>
    Math.min(LANES[lane][what] - lanes[lane][what], MOST_IN_FLIGHT[what] - total(what));
  /** How many more all receivers of a lane may have together. */
  const laneRoom = (lane: LaneName): number =>
    Math.min(
      left(lane, 'exchanges'),
      Math.floor(left(lane, 'bytes') / LARGEST_BODY_BYTES),
      mostFresh(lane) - lanes[lane].fresh,
    );
  /** How many each receiver may have, as full as it is now. */
  const shareIn = (lane: LaneName): number => {
    const fullness = (what: 'exchanges' | 'bytes') =>
      Math.max(lanes[lane][what] / LANES[lane][what], total(what) / MOST_IN_FLIGHT[what]);
    const fullest = Math.max(fullness('exchanges'), fullness('bytes'));
    return SHARES.find(({ whileBelow }) => fullest < whileBelow)?.each ?? 0;
  };
  const roomOf = (clientId: string): number => shareIn(laneOf(clientId)) - underWayTo(clientId);

  const stopBeingFresh = (flight: Flight): void => {
    if (!flight.isFresh) return;
    flight.isFresh = false;
    lanes[flight.lane].fresh -= 1;
  };
  const moveToSlow = (flight: Flight): void => {
    slowReceivers.add(flight.clientId);
    if (flight.lane === 'slow') return;
    lanes.quick.exchanges -= 1;
    lanes.quick.bytes -= flight.bytes;
    lanes.slow.exchanges += 1;
    lanes.slow.bytes += flight.bytes;
    flight.lane = 'slow';
  };

  return {
    laneOf,
    laneRoom,
    roomOf,
    underWayTo,
    /** Whether so much of a receiver's room is free that filling it up is worth a look at its queue. */
    receiverHasRoom: (clientId: string): boolean =>
      underWayTo(clientId) <= MOST_PER_RECEIVER / 2 && roomOf(clientId) > 0,
    /** The same of a lane. For quick receivers few large rounds, not many small ones; slow ones need no throughput. */
    laneHasRoom: (lane: LaneName): boolean =>
      laneRoom(lane) >= (lane === 'quick' ? mostFresh(lane) / 2 : MOST_PER_RECEIVER),

    /** `madeRoom` is called when the exchange, still under way, leaves its place to another. */
    start(clientId: string, deliveryId: string, bytes: number, madeRoom: () => void): Flight {
      const lane = laneOf(clientId);
      const flight: Flight = {
        clientId,
        deliveryId,
        bytes,
        startedAt: performance.now(),
        lane,
        timer: null,
        isFresh: true,
        state: 'under way',
      };
      lanes[lane].exchanges += 1;
      lanes[lane].bytes += bytes;
      lanes[lane].fresh += 1;
      underWay.set(clientId, underWayTo(clientId) + 1);
      const ids = unsettled.get(clientId);
      if (ids) ids.add(deliveryId);
      else unsettled.set(clientId, new Set([deliveryId]));
      flight.timer = setTimeout(() => {
        stopBeingFresh(flight);
        flight.timer = setTimeout(() => {
          moveToSlow(flight);
          madeRoom();
        }, SLOW_MS - FRESH_MS);
        madeRoom();
      }, FRESH_MS);
      return flight;
    },
    /** The exchange is over. */
    land(flight: Flight): void {
      assertState(flight, 'under way');
      flight.state = 'landed';
      const { clientId } = flight;
      if (flight.timer) clearTimeout(flight.timer);
      flight.timer = null;
      stopBeingFresh(flight);
      lanes[flight.lane].bytes -= flight.bytes;
      const left = underWayTo(clientId) - 1;
      if (left > 0) underWay.set(clientId, left);
      else underWay.delete(clientId);
      if (performance.now() - flight.startedAt < SLOW_MS) slowReceivers.delete(clientId);
    },
    /** Its result is written down, or given up. */
    settled(flight: Flight): void {
      assertState(flight, 'landed');
      flight.state = 'settled';
      const { clientId, deliveryId } = flight;
      lanes[flight.lane].exchanges -= 1;
      const ids = unsettled.get(clientId);
      ids?.delete(deliveryId);
      if (ids?.size === 0) unsettled.delete(clientId);
      if (unsettled.size === 0) whenEmpty?.();
    },

    unsettledOf: (clientId: string): string[] => [...(unsettled.get(clientId) ?? [])],
    /** Who is waited for, or whose attempts are still to be written down. */
    receivers: (): string[] => [...unsettled.keys()],
    allSettled: (): Promise<void> =>
      unsettled.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty = resolve;
          }),
  };
};
export type InFlight = ReturnType<typeof createInFlight>;
