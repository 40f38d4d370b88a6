import type { PoolName } from '../policy.ts';
import { createAlarms } from './alarms.ts';
import type { Pools } from './pools.ts';
import { createReceiverBook, type KnownReceiver } from './receiver-book.ts';
import type { ReceiverLoad } from './receiver-load.ts';
import type { Move } from './states.ts';
import type { Stopwatch } from './stopwatch.ts';

/** A receiver that is to be served now, and how many deliveries it may have. */
export interface Chosen {
  clientId: string;
  room: number;
}

interface Parts {
  pools: Pools;
  load: ReceiverLoad;
  stopwatch: Stopwatch;
  move: Move;
}

/** Reading fewer of each receiver costs more than it spreads, unless there is no room for more. */
const SHARE_AT_LEAST = 4;

/** Which receivers may have something to be sent, and who comes first. */
export const createReadyReceivers = ({ pools, load, stopwatch, move }: Parts) => {
  const book = createReceiverBook(load, move);
  const alarms = createAlarms(stopwatch);

  /** The smallest share at which somebody became full: when there is more, that one may have room. */
  const fullAtShare: Record<PoolName, number> = {
    quick: Number.POSITIVE_INFINITY,
    slow: Number.POSITIVE_INFINITY,
  };

  const putReadyOrFull = (receiver: KnownReceiver): void => {
    book.put(receiver, load.isServable(receiver.clientId) ? 'ready' : 'full');
    const { state, pool } = receiver;
    if (state === 'full') fullAtShare[pool] = Math.min(fullAtShare[pool], pools.shareOf(pool));
  };

  /** Returns whether it can be served now. */
  const call = (clientId: string): boolean => {
    const receiver = book.of(clientId);
    const isBeingServed = receiver.state === 'being served' || receiver.state === 'called while served';
    if (isBeingServed) book.put(receiver, 'called while served');
    else putReadyOrFull(receiver);
    return receiver.state === 'ready' && pools.poolRoom(receiver.pool) > 0;
  };

  /** The emptier a pool, the more each of its receivers may have: those that were full may have room now. */
  const callThoseWithRoomAgain = (pool: PoolName): void => {
    if (pools.shareOf(pool) <= fullAtShare[pool]) return;
    fullAtShare[pool] = Number.POSITIVE_INFINITY;
    for (const receiver of book.all('full', pool)) putReadyOrFull(receiver);
  };

  /** Shares out what room a pool has, first among receivers that have nothing under way. */
  const choose = (pool: PoolName, most: number): Chosen[] => {
    const candidates = book.all('ready', pool);
    const isIdle = ({ clientId }: KnownReceiver) => load.underWayTo(clientId) === 0;
    const inOrder = [...candidates.filter(isIdle), ...candidates.filter((each) => !isIdle(each))];
    let left = pools.poolRoom(pool);
    const share = Math.max(SHARE_AT_LEAST, Math.floor(left / Math.min(most, candidates.length)));
    const chosen: Chosen[] = [];
    for (const receiver of inOrder) {
      if (left <= 0 || chosen.length === most) break;
      const room = Math.min(load.roomOf(receiver.clientId), share, left);
      if (room > 0) chosen.push({ clientId: receiver.clientId, room });
      if (room > 0) book.put(receiver, 'being served');
      else call(receiver.clientId);
      left -= Math.max(0, room);
    }
    return chosen;
  };

  return {
    call,
    callAfter: alarms.set,
    soonestMs: alarms.soonestMs,
    /**
     * One of the receiver's exchanges has ended, or its result was written: only then its place in the pool is free too.
     * Returns whether the receiver can be served now and could not before.
     */
    gotRoom: (clientId: string): boolean =>
      book.of(clientId).state === 'full' && load.receiverHasRoom(clientId) ? call(clientId) : false,
    /** Whether a receiver waits for room in this pool, and there is some now. */
    canGoOn(pool: PoolName): boolean {
      callThoseWithRoomAgain(pool);
      return book.hasAny('ready', pool) && pools.poolHasRoom(pool);
    },
    /** Calls those whose time has come. Returns the pools in which somebody can be served now because of that. */
    callDue(): Set<PoolName> {
      const servable = alarms.takeDue().filter(call);
      return new Set(servable.map(load.poolOf));
    },
    /** Takes the next receivers of a pool, so many at most, each with the room it has. They are being served until `served`. */
    next: choose,
    /** Returns the pools in which one of them is ready again, because it was called meanwhile. */
    served(chosen: Chosen[]): Set<PoolName> {
      const receivers = chosen.map(({ clientId }) => book.of(clientId));
      for (const receiver of receivers)
        if (receiver.state === 'called while served') putReadyOrFull(receiver);
        else book.put(receiver, 'idle');
      return new Set(receivers.flatMap(({ state, pool }) => (state === 'ready' ? [pool] : [])));
    },
    /** Another process sends to these, which were to be served: they are no longer. */
    leasedElsewhere(chosen: Chosen[]): void {
      for (const { clientId } of chosen) book.put(book.of(clientId), 'leased elsewhere');
    },
  };
};
export type ReadyReceivers = ReturnType<typeof createReadyReceivers>;
