import { pino } from 'pino';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/caller.ts';
import { readConfig } from '../../src/config.ts';
import { openContext } from '../../src/context.ts';
import { createShop } from '../../src/shops/actions.ts';
import type { Shop } from '../../src/shops/plans.ts';
import type { Env } from './process.ts';

/** Shops with a client each, made in this process: the command line would take a second for each. */
export const addShops = async (
  env: Env,
  count: number,
  webhookUrl: (i: number) => string | null = () => null,
): Promise<{ shop: Shop; client: NewApiClient }[]> => {
  const ctx = await openContext(readConfig({ ...env, PORT: '0' }), { log: pino({ level: 'silent' }) });
  try {
    const made: { shop: Shop; client: NewApiClient }[] = [];
    for (let i = 0; i < count; i++) {
      const shop = await createShop(ctx, OPERATOR, { name: `Shop ${i}`, plan: 'ENTERPRISE' });
      const client = await createClient(ctx, OPERATOR, {
        shopId: shop.id,
        name: `Till ${i}`,
        webhookUrl: webhookUrl(i),
      });
      made.push({ shop, client });
    }
    return made;
  } finally {
    await ctx.close();
  }
};
