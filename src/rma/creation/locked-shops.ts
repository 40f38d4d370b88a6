import { batched } from '../../db/batch.ts';
import { isLockTimeout } from '../../db/errors.ts';
import { ServiceError } from '../../errors.ts';
import type { ShopTurns } from '../../shops/turns.ts';
import type { Creation, Done } from './creation.ts';
import { HELD } from './decide.ts';

type CreateBatch = (batch: Creation[]) => Promise<(Done | Error | typeof HELD)[]>;

interface Shop {
  create: (creation: Creation) => Promise<Done>;
  waiting: number;
}

/** For shops whose rows somebody else holds: each shop's creations wait by themselves, and hold nobody up. */
export const createWaitingRoom = (batchSize: number, turns: ShopTurns, createBatch: CreateBatch) => {
  const shops = new Map<string, Shop>();

  const createFor = (shopId: string) =>
    batched<Creation, Done>(
      async (batch) => {
        const results = await turns.wait(shopId, () => createBatch(batch), isLockTimeout);
        return results.map((result) => (result === HELD ? new ServiceError('SERVICE_UNAVAILABLE') : result));
      },
      { most: batchSize, atOnce: 1 },
    );

  return {
    async wait(creation: Creation): Promise<Done> {
      const { id } = creation.caller.shop;
      const shop = shops.get(id) ?? { create: createFor(id), waiting: 0 };
      shops.set(id, shop);
      shop.waiting += 1;
      try {
        return await shop.create(creation);
      } finally {
        shop.waiting -= 1;
        if (shop.waiting === 0) shops.delete(id);
      }
    },
  };
};
