import type { PoolName } from '../policy.ts';
import type { ReceiverLoad } from './receiver-load.ts';
import { type Move, RECEIVER_MOVES, type ReceiverState } from './states.ts';

export interface KnownReceiver {
  readonly clientId: string;
  state: ReceiverState;
  /** Where it waits while it is ready: its pool when it was called. */
  pool: PoolName;
}

/** The state of each receiver. Those that are not in the book are idle. */
export const createReceiverBook = (load: ReceiverLoad, move: Move) => {
  const known = new Map<string, KnownReceiver>();
  /** An index of those that are ready, in the order of their coming; only `put` changes it. */
  const ready = { quick: new Set<KnownReceiver>(), slow: new Set<KnownReceiver>() };

  const of = (clientId: string): KnownReceiver =>
    known.get(clientId) ?? { clientId, state: 'idle', pool: 'quick' };

  /** To stay where one is, is no move: whoever is ready keeps its place. */
  const put = (receiver: KnownReceiver, state: ReceiverState): void => {
    if (receiver.state === state) return;
    move(RECEIVER_MOVES, receiver, state);
    ready[receiver.pool].delete(receiver);
    if (state === 'ready') {
      receiver.pool = load.poolOf(receiver.clientId);
      ready[receiver.pool].add(receiver);
    }
    if (state === 'idle') known.delete(receiver.clientId);
    else known.set(receiver.clientId, receiver);
  };

  /** Whoever became slow or quick while it was ready waits in the other pool from now on. */
  const changePool = (receiver: KnownReceiver, pool: PoolName): void => {
    ready[receiver.pool].delete(receiver);
    receiver.pool = pool;
    ready[pool].add(receiver);
  };

  return {
    of,
    put,
    hasReadyIn: (pool: PoolName): boolean => ready[pool].size > 0,
    readyIn(pool: PoolName): KnownReceiver[] {
      for (const receiver of ready[pool]) {
        const now = load.poolOf(receiver.clientId);
        if (now !== pool) changePool(receiver, now);
      }
      return [...ready[pool]];
    },
  };
};
