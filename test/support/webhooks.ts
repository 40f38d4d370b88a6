import { expect, onTestFinished } from 'vitest';
import type { Context } from '../../src/api/context.ts';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { Row } from '../../src/db/schema.ts';
import { startWebhooks } from '../../src/webhooks/worker/dispatcher.ts';
import { repairBody } from './bodies.ts';
import { harness } from './harness.ts';
import { nothingWaits } from './history/history.ts';
import { deliveriesIn } from './outbox.ts';
import { untilHolds } from './until.ts';

/** The harness with a dispatcher that may call this machine. */
export const webhookHarness = async ({ sending = true, env = {} } = {}) => {
  const t = await harness({ env: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true', ...env } });
  /** Starts another dispatcher, with a context of its own if one is given. */
  const startSending = async (ctx: Context = t.ctx): Promise<() => Promise<void>> => {
    const stop = startWebhooks(ctx);
    let stopped = false;
    const once = async () => {
      if (stopped) return;
      stopped = true;
      await stop();
    };
    onTestFinished(once);
    return once;
  };
  const deliveries = (): Promise<Row<'webhook_deliveries'>[]> => deliveriesIn(t).execute();
  if (sending) await startSending();
  return {
    ...t,
    startSending,
    deliveries,
    addReceiver: (webhookUrl: string, shopId = t.shop.id): Promise<NewApiClient> =>
      createClient(t.ctx, OPERATOR, { shopId, name: 'Receiver', webhookUrl }),
    async create(client: NewApiClient, more: Record<string, unknown> = {}): Promise<{ id: string }> {
      const response = await t.post('/offline-repairs', repairBody(more), { key: client.apiKey });
      expect(response).toHaveStatus(201);
      return response.body;
    },
    drained: (withinMs?: number): Promise<void> => nothingWaits(t.ctx.db, withinMs),
    /** Resolves, with the delivery, when the first one of the client (or of all) has so many attempts recorded. */
    attempted: (count: number, clientId?: string): Promise<Row<'webhook_deliveries'>> =>
      untilHolds(
        `${count} attempts are recorded`,
        async () =>
          (await deliveries()).find(
            (row) => !clientId || row.receiver_id === clientId,
          ) as Row<'webhook_deliveries'>,
        (row) => row?.attempts >= count,
      ),
    /** Moves the clock and has the dispatcher look at it. */
    advance(ms: number) {
      t.clock.advance(ms);
      t.ctx.wake('deliveries', t.client.id);
    },
  };
};

export type WebhookHarness = Awaited<ReturnType<typeof webhookHarness>>;
