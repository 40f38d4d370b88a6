import type { LaneName } from '../policy.ts';
import type { InFlight } from './in-flight.ts';
import type { Moment, Stopwatch } from './stopwatch.ts';

/** A receiver that is to be served now, and how many deliveries it may have. */
export interface Chosen {
  clientId: string;
  room: number;
}

interface Wait {
  since: Moment;
  waitMs: number;
}

/** Reading fewer of each receiver costs more than it spreads, unless there is no room for more. */
const SHARE_AT_LEAST = 4;

/**
 * Which receivers may have something to be sent. Each is in at most one of: `ready` (may be served), `full` (has as many
 * exchanges under way as it may; nobody looks at it before one of them ends). Beside that it may wait for a time in `later`,
 * and may be in `serving` while its deliveries are read: then nobody else reads them.
 */
export const createReadyReceivers = (inFlight: InFlight, stopwatch: Stopwatch) => {
  /** By lane when they were called; whoever has changed lanes since is moved when its turn comes. */
  const ready = { quick: new Set<string>(), slow: new Set<string>() };
  const full = new Set<string>();
  const later = new Map<string, Wait>();
  const serving = new Set<string>();

  const leftOf = ({ since, waitMs }: Wait): number => waitMs - stopwatch.passedSince(since);

  /** Returns whether there is room to serve somebody now. */
  const call = (clientId: string): boolean => {
    const lane = inFlight.laneOf(clientId);
    const isServable = inFlight.roomOf(clientId) > 0 || inFlight.underWayTo(clientId) === 0;
    for (const each of [full, ready.quick, ready.slow]) each.delete(clientId);
    (isServable ? ready[lane] : full).add(clientId);
    return isServable && inFlight.laneRoom(lane) > 0;
  };

  const callThoseWhoseTimeHasCome = (): void => {
    for (const [clientId, wait] of later) {
      if (leftOf(wait) > 0) continue;
      later.delete(clientId);
      call(clientId);
    }
  };

  /** Shares out what room a lane has, first among receivers that have nothing under way. */
  const chooseFrom = (lane: LaneName, most: number): Chosen[] => {
    for (const clientId of ready[lane]) if (inFlight.laneOf(clientId) !== lane) call(clientId);
    const candidates = [...ready[lane]].filter((each) => !serving.has(each));
    const idle = candidates.filter((each) => inFlight.underWayTo(each) === 0);
    const busy = candidates.filter((each) => inFlight.underWayTo(each) > 0);
    let left = inFlight.laneRoom(lane);
    const share = Math.max(SHARE_AT_LEAST, Math.floor(left / Math.min(most, candidates.length)));
    const chosen: Chosen[] = [];
    for (const clientId of [...idle, ...busy]) {
      if (left <= 0 || chosen.length === most) break;
      ready[lane].delete(clientId);
      const room = Math.min(inFlight.roomOf(clientId), share, left);
      if (room > 0) {
        chosen.push({ clientId, room });
        serving.add(clientId);
      } else call(clientId);
      left -= Math.max(0, room);
    }
    return chosen;
  };

  return {
    call,
    callAfter(clientId: string, waitMs: number): void {
      const known = later.get(clientId);
      if (!known || leftOf(known) > waitMs) later.set(clientId, { since: stopwatch.now(), waitMs });
    },
    /** One of the receiver's exchanges has ended. Returns whether somebody can be served now who could not before. */
    landed: (clientId: string): boolean =>
      full.has(clientId) && inFlight.receiverHasRoom(clientId) ? call(clientId) : false,
    /** Whether a receiver waits for room in this lane, and there is some now. */
    canGoOn: (lane: LaneName): boolean => ready[lane].size > 0 && inFlight.laneHasRoom(lane),
    /** Takes the next receivers of a lane, so many at most, each with the room it has. They are being served until `served`. */
    next(lane: LaneName, most: number): Chosen[] {
      callThoseWhoseTimeHasCome();
      return chooseFrom(lane, most);
    },
    /** Returns whether one of them was called again meanwhile. */
    served(chosen: Chosen[]): boolean {
      for (const { clientId } of chosen) serving.delete(clientId);
      return chosen.some(({ clientId }) => ready.quick.has(clientId) || ready.slow.has(clientId));
    },
    /** How long until the time of the next one has come; infinity where nobody waits. */
    soonestMs(): number {
      let soonest = Number.POSITIVE_INFINITY;
      for (const wait of later.values()) soonest = Math.min(soonest, leftOf(wait));
      return soonest;
    },
  };
};
export type ReadyReceivers = ReturnType<typeof createReadyReceivers>;
