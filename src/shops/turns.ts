import { ServiceError } from '../errors.ts';

// Whoever finds a shop's counters held (counters.ts) waits here, in memory, and not on a connection that other shops need.
// Where somebody does not let go of them, only a few ever find that out in the database.

/** How many of one shop may wait in the database at once: one works while the next asks for the lock. */
const AT_ONCE = 2;
/** For so long after a wait was in vain nobody waits for that shop again. */
const GIVEN_UP_MS = 3_000;

interface Shop {
  running: number;
  waiting: (() => void)[];
}

export interface ShopTurns {
  /** Whether changes of the shop are waiting already: another one need not look. */
  areTaken(shopId: string): boolean;
  /** Runs work that waits for the shop's counters. `isHeld` tells whether it failed because somebody did not let go of them. */
  wait<Result>(
    shopId: string,
    work: () => Promise<Result>,
    isHeld: (error: unknown) => boolean,
  ): Promise<Result>;
}

export const openShopTurns = (): ShopTurns => {
  const shops = new Map<string, Shop>();
  const givenUpUntil = new Map<string, number>();

  const begin = async (shopId: string): Promise<void> => {
    const shop = shops.get(shopId) ?? { running: 0, waiting: [] };
    shops.set(shopId, shop);
    if (shop.running < AT_ONCE) shop.running += 1;
    // Whoever ends hands its place over.
    else await new Promise<void>((resolve) => shop.waiting.push(resolve));
  };
  const end = (shopId: string): void => {
    const shop = shops.get(shopId) as Shop;
    const next = shop.waiting.shift();
    if (next) next();
    else shop.running -= 1;
    if (shop.running === 0) shops.delete(shopId);
  };
  const mustNotBeGivenUp = (shopId: string): void => {
    if ((givenUpUntil.get(shopId) ?? 0) > performance.now()) throw new ServiceError('SERVICE_UNAVAILABLE');
    givenUpUntil.delete(shopId);
  };

  return {
    areTaken: (shopId) => shops.has(shopId),
    async wait(shopId, work, isHeld) {
      await begin(shopId);
      try {
        mustNotBeGivenUp(shopId);
        return await work();
      } catch (error) {
        if (isHeld(error)) givenUpUntil.set(shopId, performance.now() + GIVEN_UP_MS);
        throw error;
      } finally {
        end(shopId);
      }
    },
  };
};
