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

const emptyIndex = (): Record<PoolName, Set<KnownReceiver>> => ({
  quick: new Set(),
  slow: new Set(),
  failing: new Set(),
});

/** The state of each receiver. Those that are not in the book are idle. */
export const createReceiverBook = (load: ReceiverLoad, move: Move) => {
  const known = new Map<string, KnownReceiver>();
  /** An index by state and pool, in the order of their coming; only `enter` and `leave` change it. */
  const index = {
    ready: emptyIndex(),
    full: emptyIndex(),
  };
  const leave = (receiver: KnownReceiver): void => {
    if (isIndexed(receiver.state)) index[receiver.state][receiver.pool].delete(receiver);
  };
  const enter = (receiver: KnownReceiver): void => {
    receiver.pool = load.poolOf(receiver.clientId);
    if (isIndexed(receiver.state)) index[receiver.state][receiver.pool].add(receiver);
  };

  /** Whoever became slow, quick or failing meanwhile waits in that pool from now on. */
  const changePool = (receiver: KnownReceiver): void => {
    if (load.poolOf(receiver.clientId) === receiver.pool) return;
    leave(receiver);
    enter(receiver);
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
    changePool(clientId: string): void {
      const receiver = known.get(clientId);
      if (receiver) changePool(receiver);
    },
    all(state: Indexed, pool: PoolName): KnownReceiver[] {
      for (const receiver of index[state][pool]) changePool(receiver);
      return [...index[state][pool]];
    },
  };
};
export type ReceiverBook = ReturnType<typeof createReceiverBook>;
