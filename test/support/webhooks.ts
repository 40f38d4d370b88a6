import { onTestFinished } from 'vitest';
import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { Row } from '../../src/db/schema.ts';
import type { Context } from '../../src/service/context.ts';
import { wholeBody } from '../../src/webhooks/queue.ts';
import { startWebhooks } from '../../src/webhooks/worker/dispatcher.ts';
import { repairBody } from './bodies.ts';
import { type Harness, harness } from './harness.ts';
import { until } from './until.ts';

export interface WebhookHarness extends Harness {
  /** A client of the first shop with a webhook URL. */
  addReceiver(webhookUrl: string, shopId?: string): Promise<NewApiClient>;
  /** Creates a repair as that client. */
  create(client: NewApiClient, more?: Record<string, unknown>): Promise<{ id: string }>;
  deliveries(): Promise<Row<'webhook_deliveries'>[]>;
  /** Resolves when no delivery is waiting any more. */
  drained(withinMs?: number): Promise<void>;
  /** Resolves, with the delivery, when the first one of the client (or of all) has so many attempts written down. */
  attempted(count: number, clientId?: string): Promise<Row<'webhook_deliveries'>>;
  /** Starts another dispatcher, with a context of its own if one is given. */
  startSending(ctx?: Context): Promise<() => Promise<void>>;
  /** Moves the clock and has the dispatcher look at it. */
  advance(ms: number): void;
}

/** The harness with a dispatcher that may call this machine. */
export const webhookHarness = async ({
  sending = true,
}: {
  sending?: boolean;
} = {}): Promise<WebhookHarness> => {
  const t = await harness({ env: { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' } });
  const startSending = async (ctx: Context = t.ctx) => {
    const stop = await startWebhooks(ctx);
    let stopped = false;
    const once = async () => {
      if (stopped) return;
      stopped = true;
      await stop();
    };
    onTestFinished(once);
    return once;
  };
  if (sending) await startSending();
  return {
    ...t,
    startSending,
    addReceiver: (webhookUrl, shopId = t.shop.id) =>
      createClient(t.ctx, OPERATOR, { shopId, name: 'Receiver', webhookUrl }),
    async create(client, more = {}) {
      const { status, body } = await t.post('/offline-repairs', repairBody(more), { key: client.apiKey });
      if (status !== 201) throw new Error(`creating answered ${status}`);
      return body;
    },
    deliveries: () =>
      t.ctx.db
        .selectFrom('webhook_deliveries')
        .selectAll()
        .select(wholeBody('webhook_deliveries').$castTo<string>().as('body'))
        .orderBy('created_at')
        .execute(),
    drained: async (withinMs) => {
      await until(
        'nothing waits any more',
        async () => {
          const waiting = await t.ctx.db
            .selectFrom('webhook_deliveries')
            .select('id')
            .where('status', '=', 'PENDING')
            .execute();
          return waiting.length === 0;
        },
        withinMs,
      );
    },
    attempted: (count, clientId) =>
      until(`${count} attempts are written down`, async () => {
        const all = await t.ctx.db
          .selectFrom('webhook_deliveries')
          .selectAll()
          .orderBy('created_at')
          .execute();
        const one = all.find((row) => !clientId || row.client_id === clientId);
        return one && one.attempts >= count ? one : null;
      }),
    advance(ms) {
      t.clock.advance(ms);
      t.ctx.wake('deliveries', t.client.id);
    },
  };
};
