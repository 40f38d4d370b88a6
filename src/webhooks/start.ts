import type { Context } from '../context.ts';
import { createSender } from './deliver.ts';
import { startDispatcher } from './dispatcher.ts';
import { countWaiting, oldestWaiting } from './queue.ts';

/** Begins to send; the returned function finishes what is under way and ends it. */
export const startWebhooks = async (ctx: Context): Promise<() => Promise<void>> => {
  const sender = createSender(ctx.addressGuard);
  ctx.metrics.watch('handback_webhook_waiting', 'Deliveries that wait to be sent.', () =>
    countWaiting(ctx.db),
  );
  ctx.metrics.watch(
    'handback_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    async () => {
      const oldestAt = await oldestWaiting(ctx.db);
      return oldestAt === null ? 0 : (ctx.clock.now() - oldestAt) / 1000;
    },
  );
  const dispatcher = await startDispatcher(ctx, sender);
  return async () => {
    await dispatcher.stop();
    await sender.close();
  };
};
