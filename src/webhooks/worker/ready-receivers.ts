import type { PoolName } from '../policy.ts';
import { createAlarms } from './alarms.ts';
import { createCalling } from './calling.ts';
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

/** Shares out the places of a pool, first among receivers that have nothing under way. */
const shareOut = (
  candidates: KnownReceiver[],
  { load, most, places }: { load: ReceiverLoad; most: number; places: number },
): { receiver: KnownReceiver; room: number }[] => {
  const isIdle = ({ clientId }: KnownReceiver) => load.underWayTo(clientId) === 0;
  const inOrder = [...candidates.filter(isIdle), ...candidates.filter((each) => !isIdle(each))];
  const share = Math.max(SHARE_AT_LEAST, Math.floor(places / Math.min(most, candidates.length)));
  const shares: { receiver: KnownReceiver; room: number }[] = [];
  let left = places;
  let served = 0;
  for (const receiver of inOrder) {
    if (left <= 0 || served === most) break;
    const room = Math.max(0, Math.min(load.roomOf(receiver.clientId), share, left));
    shares.push({ receiver, room });
    left -= room;
    if (room > 0) served += 1;
  }
  return shares;
};

/** Which receivers may have something to be sent, and who comes first. */
export const createReadyReceivers = ({ pools, load, stopwatch, move }: Parts) => {
  const book = createReceiverBook(load, move);
  const alarms = createAlarms(stopwatch);
  const { call, putReadyOrFull, callThoseWithRoomAgain } = createCalling(book, load, pools);

  /** Whoever finds no place stays ready, or is full. */
  const choose = (pool: PoolName, most: number): Chosen[] => {
    const candidates = book.all('ready', pool);
    const shares = shareOut(candidates, { load, most, places: pools.poolRoom(pool) });
    for (const { receiver, room } of shares) {
      if (room > 0) book.put(receiver, 'being served');
      else putReadyOrFull(receiver);
    }
    return shares.flatMap(({ receiver, room }) => (room > 0 ? [{ clientId: receiver.clientId, room }] : []));
  };

  return {
    call,
    /** An exchange has ended: its receiver may wait in another pool from now on. */
    landed: book.changePool,
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
