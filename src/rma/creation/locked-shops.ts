import { batched } from '../../db/batch.ts';
import { isLockTimeout } from '../../db/errors.ts';
import { ServiceError } from '../../errors.ts';
import type { Creation, Done } from './creation.ts';
import { HELD } from './decide.ts';

/** For so long after a wait was in vain nobody waits for that shop again. */
const GIVEN_UP_MS = 3_000;

type CreateBatch = (batch: Creation[]) => Promise<(Done | Error | typeof HELD)[]>;

interface Shop {
  create: (creation: Creation) => Promise<Done>;
  waiting: number;
}

/** For shops whose rows somebody else holds: each shop's creations wait by themselves, and hold nobody up. */
export const createWaitingRoom = (batchSize: number, createBatch: CreateBatch) => {
  const shops = new Map<string, Shop>();
  const givenUpUntil = new Map<string, number>();

  const createFor = (shopId: string) =>
    batched<Creation, Done>(
      async (batch) => {
        try {
          const results = await createBatch(batch);
          givenUpUntil.delete(shopId);
          return results.map((result) => (result === HELD ? new ServiceError('UNAVAILABLE') : result));
        } catch (error) {
          if (isLockTimeout(error)) givenUpUntil.set(shopId, performance.now() + GIVEN_UP_MS);
          throw error;
        }
      },
      { most: batchSize, atOnce: 1 },
    );

  return {
    async wait(creation: Creation): Promise<Done> {
      const { id } = creation.caller.shop;
      // The connections to wait on are few: a shop that is stuck leaves them to shops that will get their turn.
      if ((givenUpUntil.get(id) ?? 0) > performance.now()) throw new ServiceError('UNAVAILABLE');
      givenUpUntil.delete(id);
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
