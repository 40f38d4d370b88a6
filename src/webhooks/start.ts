import type { Context } from '../context.ts';
import { createSender } from './deliver.ts';
import { startDispatcher } from './dispatcher.ts';
import { countWaiting, oldestWaiting } from './queue.ts';

/** The queue's figures, the same in whichever process they are asked for. */
export const watchQueue = ({ db, clock, metrics }: Context): void => {
  metrics.watch('handback_webhook_waiting', 'Deliveries that wait to be sent.', () => countWaiting(db));
  metrics.watch(
    'handback_webhook_oldest_waiting_seconds',
    'Age of the oldest of them; 0 when none waits.',
    async () => {
      const oldestAt = await oldestWaiting(db);
      return oldestAt === null ? 0 : (clock.now() - oldestAt) / 1000;
    },
  );
};

/** Begins to send; the returned function finishes what is under way and ends it. */
export const startWebhooks = async (ctx: Context): Promise<() => Promise<void>> => {
  const sender = createSender(ctx.addressGuard);
  const dispatcher = await startDispatcher(ctx, sender);
  return async () => {
    await dispatcher.stop();
    await sender.close();
  };
};
