import type { Context } from '../service/context.ts';
import { describeError } from '../service/log.ts';
import { countWaiting, oldestWaiting } from './queue.ts';
import { Dispatcher } from './worker/dispatcher.ts';
import { createSender } from './worker/send.ts';

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

/** For a process that knows it is the only one: the holder of each lease is dead (ADR 0006). */
export const freeLeases = async ({ webhooks, log }: Context): Promise<void> => {
  try {
    await webhooks.deleteFrom('webhook_leases').execute();
  } catch (error) {
    log.warn(
      { error: describeError(error) },
      'old webhook leases could not be freed; they run out by themselves',
    );
  }
};

/**
 * Begins to send. The returned function stops that within 5 s, whatever receivers and the database do, and never throws:
 * it may run beside the end of requests, but before the database is closed.
 */
export const startWebhooks = async (ctx: Context): Promise<() => Promise<void>> => {
  const dispatcher = await Dispatcher.start(ctx, createSender(ctx.addressGuard));
  return () => dispatcher.stop();
};
