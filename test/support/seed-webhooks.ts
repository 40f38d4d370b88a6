import { createClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { newId } from '../../src/lib/ids.ts';
import { readConfig } from '../../src/service/config.ts';
import { openContext } from '../../src/service/context.ts';
import { createShop } from '../../src/shops/actions.ts';
import type { Env } from './process.ts';

export interface SeededReceiver {
  id: string;
  apiKey: string;
}

/** As many as a shop may have. */
const CLIENTS_OF_A_SHOP = 100;

/** Clients with these webhook URLs, each with events that wait, in as many shops as that takes; written before any server runs. */
export const seedReceivers = async (
  env: Env,
  receivers: { url: string; events: number; bodyBytes?: number }[],
): Promise<SeededReceiver[]> => {
  const ctx = await openContext(readConfig({ ...env, LOG_LEVEL: 'error' }));
  try {
    const newShop = () => createShop(ctx, OPERATOR, { name: 'Shop', plan: 'ENTERPRISE' });
    let shop = await newShop();
    const clients: SeededReceiver[] = [];
    for (const { url, events, bodyBytes = 100 } of receivers) {
      if (clients.length > 0 && clients.length % CLIENTS_OF_A_SHOP === 0) shop = await newShop();
      const client = await createClient(ctx, OPERATOR, { shopId: shop.id, name: 'R', webhookUrl: url });
      clients.push(client);
      const now = ctx.clock.now();
      const body = JSON.stringify({ event: 'offline_repair.closed', data: { text: 'x'.repeat(bodyBytes) } });
      const rows = Array.from({ length: events }, () => ({
        id: newId(now),
        client_id: client.id,
        rma_id: null,
        event: 'offline_repair.closed' as const,
        body,
        status: 'PENDING' as const,
        attempts: 0,
        attempt_log: '[]',
        due_at: now,
        created_at: now,
      }));
      if (rows.length > 0) await ctx.db.insertInto('webhook_deliveries').values(rows).execute();
    }
    return clients;
  } finally {
    await ctx.close();
  }
};
