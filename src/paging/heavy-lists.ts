import { QueueTimeout } from '../lib/batch.ts';
import { BoundedQueue } from '../lib/bounded-queue.ts';

/** This is more than can be served to a shop within 4.5 s, when waiting requests fail. */
const WAITING_PER_SHOP = 50;
const LIST_WAIT_MS = 3_500;

/**
 * Runs lists that may read many rows, one at a time for each shop. So a shop whose API clients page through a million returns holds
 * one of the connections or threads for such reads, and the others stay free.
 */
export class HeavyLists {
  readonly #shops = new Map<string, { queue: BoundedQueue; lists: number }>();

  async run<Result>(shopId: string, work: () => Promise<Result>): Promise<Result> {
    const shop = this.#shops.get(shopId) ?? { queue: newShopQueue(), lists: 0 };
    this.#shops.set(shopId, shop);
    shop.lists += 1;
    try {
      return await shop.queue.run(work);
    } finally {
      shop.lists -= 1;
      if (shop.lists === 0) this.#shops.delete(shopId);
    }
  }
}

const newShopQueue = () =>
  new BoundedQueue({
    atOnce: 1,
    waiting: WAITING_PER_SHOP,
    withinMs: LIST_WAIT_MS,
    refusal: () => new QueueTimeout('too many lists of one shop read many rows'),
  });
