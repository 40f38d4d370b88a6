import type { PoolName } from '../policy.ts';
import type { Pools } from './pools.ts';
import type { KnownReceiver, ReceiverBook } from './receiver-book.ts';
import type { ReceiverLoad } from './receiver-load.ts';

/** Makes receivers ready that may have something due, or full where they have no room for it. */
export const createCalling = (book: ReceiverBook, load: ReceiverLoad, pools: Pools) => {
  /** The smallest share at which somebody became full: when there is more, that one may have room. */
  const fullAtShare: Record<PoolName, number> = {
    quick: Number.POSITIVE_INFINITY,
    slow: Number.POSITIVE_INFINITY,
    failing: Number.POSITIVE_INFINITY,
  };

  const putReadyOrFull = (receiver: KnownReceiver): void => {
    book.put(receiver, load.isServable(receiver.clientId) ? 'ready' : 'full');
    const { state, pool } = receiver;
    if (state === 'full') fullAtShare[pool] = Math.min(fullAtShare[pool], pools.shareOf(pool));
  };

  return {
    putReadyOrFull,
    /** Returns whether it can be served now. */
    call(clientId: string): boolean {
      const receiver = book.of(clientId);
      const isBeingServed = receiver.state === 'being served' || receiver.state === 'called while served';
      if (isBeingServed) book.put(receiver, 'called while served');
      else putReadyOrFull(receiver);
      return receiver.state === 'ready' && pools.poolRoom(receiver.pool) > 0;
    },
    /** The emptier a pool, the more each of its receivers may have: those that were full may have room now. */
    callThoseWithRoomAgain(pool: PoolName): void {
      if (pools.shareOf(pool) <= fullAtShare[pool]) return;
      fullAtShare[pool] = Number.POSITIVE_INFINITY;
      for (const receiver of book.all('full', pool)) putReadyOrFull(receiver);
    },
  };
};
