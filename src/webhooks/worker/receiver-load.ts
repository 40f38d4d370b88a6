import type { PoolName } from '../policy.ts';
import type { Pools } from './pools.ts';

/** How many exchanges each receiver has under way, which receivers are slow or fail, and how many more each may have. */
export const createReceiverLoad = (pools: Pools) => {
  const slow = new Set<string>();
  const failing = new Set<string>();
  const underWay = new Map<string, number>();

  const underWayTo = (clientId: string): number => underWay.get(clientId) ?? 0;
  const poolOf = (clientId: string): PoolName => {
    if (slow.has(clientId)) return 'slow';
    return failing.has(clientId) ? 'failing' : 'quick';
  };
  const roomOf = (clientId: string): number => pools.shareOf(poolOf(clientId)) - underWayTo(clientId);

  return {
    poolOf,
    underWayTo,
    roomOf,
    /** Whether a receiver can be served as soon as its pool has room. */
    isServable: (clientId: string): boolean => underWayTo(clientId) === 0 || roomOf(clientId) > 0,
    /** Whether so much of a receiver's room is free that filling it up is worth a look at its queue. */
    receiverHasRoom: (clientId: string): boolean =>
      underWayTo(clientId) === 0 ||
      (underWayTo(clientId) <= pools.limits.perReceiver / 2 && roomOf(clientId) > 0),
    started: (clientId: string): void => void underWay.set(clientId, underWayTo(clientId) + 1),
    landed(clientId: string): void {
      const left = underWayTo(clientId) - 1;
      if (left > 0) underWay.set(clientId, left);
      else underWay.delete(clientId);
    },
    becameSlow: (clientId: string): void => void slow.add(clientId),
    becameQuick: (clientId: string): void => void slow.delete(clientId),
    failed: (clientId: string): void => void failing.add(clientId),
    acknowledged: (clientId: string): void => void failing.delete(clientId),
  };
};
export type ReceiverLoad = ReturnType<typeof createReceiverLoad>;
