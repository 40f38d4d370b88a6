import {
  LARGEST_BODY_BYTES,
  type Limits,
  MOST_FRESH_BESIDE_REQUESTS,
  POOL_NAMES,
  type PoolName,
  SHARES,
} from '../policy.ts';

/** What of a pool is in use. */
type Use = Limits['pools'][PoolName];
const NOTHING: Use = { exchanges: 0, bytes: 0, fresh: 0 };
type What = keyof Limits['inAll'];

const reserve = (reserved: Record<PoolName, number>, pool: PoolName, places: number) => {
  let kept = places;
  const free = (count: number): void => {
    kept -= count;
    reserved[pool] -= count;
  };
  reserved[pool] += places;
  return { useOne: () => free(1), giveBack: () => free(kept) };
};
export type Places = ReturnType<typeof reserve>;

/** How much room the pools have (decisions 83 and 221). */
export const createPools = (requestsUnderWay: () => number, limits: Limits) => {
  const used: Record<PoolName, Use> = {
    quick: { ...NOTHING },
    slow: { ...NOTHING },
    failing: { ...NOTHING },
  };
  /** Places that a round has been promised and not used yet. */
  const reserved: Record<PoolName, number> = { quick: 0, slow: 0, failing: 0 };
  const sum = (of: (pool: PoolName) => number): number =>
    POOL_NAMES.reduce((total, pool) => total + of(pool), 0);
  const inAll = (what: What): number => sum((pool) => used[pool][what]);
  const left = (pool: PoolName, what: What): number => {
    const perPlace = what === 'bytes' ? LARGEST_BODY_BYTES : 1;
    return Math.min(
      limits.pools[pool][what] - used[pool][what] - reserved[pool] * perPlace,
      limits.inAll[what] - inAll(what) - sum((each) => reserved[each]) * perPlace,
    );
  };
  const fullness = (pool: PoolName, what: What): number =>
    Math.max(used[pool][what] / limits.pools[pool][what], inAll(what) / limits.inAll[what]);
  const mostFresh = (pool: PoolName): number =>
    Math.min(
      limits.pools[pool].fresh,
      requestsUnderWay() > 0 ? MOST_FRESH_BESIDE_REQUESTS : Number.POSITIVE_INFINITY,
    );
  /** How many more all receivers of a pool may have together. */
  const poolRoom = (pool: PoolName): number =>
    Math.min(
      left(pool, 'exchanges'),
      Math.floor(left(pool, 'bytes') / LARGEST_BODY_BYTES),
      mostFresh(pool) - used[pool].fresh - reserved[pool],
    );

  return {
    limits,
    poolRoom,
    /** Whether a pool has room for a round: few large rounds. */
    poolHasRoom: (pool: PoolName): boolean => poolRoom(pool) >= mostFresh(pool) / 2,
    /** How many exchanges each receiver may have, as full as the pool is now. */
    shareOf: (pool: PoolName): number => {
      const fullest = Math.max(fullness(pool, 'exchanges'), fullness(pool, 'bytes'));
      const each = SHARES.find(({ whileBelow }) => fullest < whileBelow)?.each ?? 0;
      return Math.min(each, limits.perReceiver);
    },
    /** Keeps places for a round, so that another pool's round does not take them too. */
    reserve: (pool: PoolName, places: number) => reserve(reserved, pool, places),
    /** Takes room in a pool, or gives it back where the numbers are below zero. */
    use(pool: PoolName, change: Partial<Use>): void {
      used[pool].exchanges += change.exchanges ?? 0;
      used[pool].bytes += change.bytes ?? 0;
      used[pool].fresh += change.fresh ?? 0;
    },
    /** What is in use now; the model compares it with what receivers see. */
    used: (pool: PoolName): Readonly<Use> => used[pool],
  };
};
export type Pools = ReturnType<typeof createPools>;
