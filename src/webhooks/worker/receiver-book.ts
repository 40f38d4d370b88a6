import type { PoolName } from '../policy.ts';
import type { ReceiverLoad } from './receiver-load.ts';
import { type Move, RECEIVER_MOVES, type ReceiverState } from './states.ts';

export interface KnownReceiver {
  readonly clientId: string;
  state: ReceiverState;
  /** Where it waits while it is ready or full: its pool when it became so. */
  pool: PoolName;
}

const INDEXED = ['ready', 'full'] as const;
type Indexed = (typeof INDEXED)[number];
const isIndexed = (state: ReceiverState): state is Indexed => INDEXED.some((each) => each === state);

/** The state of each receiver. Those that are not in the book are idle. */
export const createReceiverBook = (load: ReceiverLoad, move: Move) => {
  const known = new Map<string, KnownReceiver>();
  /** An index by state and pool, in the order of their coming; only `enter` and `leave` change it. */
  const index = {
    ready: { quick: new Set<KnownReceiver>(), slow: new Set<KnownReceiver>() },
    full: { quick: new Set<KnownReceiver>(), slow: new Set<KnownReceiver>() },
  };
  const leave = (receiver: KnownReceiver): void => {
    if (isIndexed(receiver.state)) index[receiver.state][receiver.pool].delete(receiver);
  };
  const enter = (receiver: KnownReceiver): void => {
    receiver.pool = load.poolOf(receiver.clientId);
    if (isIndexed(receiver.state)) index[receiver.state][receiver.pool].add(receiver);
  };

  return {
    of: (clientId: string): KnownReceiver =>
      known.get(clientId) ?? { clientId, state: 'idle', pool: load.poolOf(clientId) },
    /** To stay where one is, is no move: whoever is ready keeps its place. */
    put(receiver: KnownReceiver, state: ReceiverState): void {
      if (receiver.state === state) return;
      leave(receiver);
      move(RECEIVER_MOVES, receiver, state);
      enter(receiver);
      if (state === 'idle') known.delete(receiver.clientId);
      else known.set(receiver.clientId, receiver);
    },
    hasAny: (state: Indexed, pool: PoolName): boolean => index[state][pool].size > 0,
    /** Whoever became slow or quick meanwhile waits in the other pool from now on. */
    all(state: Indexed, pool: PoolName): KnownReceiver[] {
      for (const receiver of index[state][pool]) {
        if (load.poolOf(receiver.clientId) === pool) continue;
        leave(receiver);
        enter(receiver);
      }
      return [...index[state][pool]];
    },
  };
};
export type ReceiverBook = ReturnType<typeof createReceiverBook>;
