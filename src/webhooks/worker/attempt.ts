import type { Context } from '../../service/context.ts';
import { describeError } from '../../service/log.ts';
import { openWebhookSecret } from '../outbox.ts';
import { isAcknowledged, nextAttemptAt } from '../policy.ts';
import { afterAttempts, DROPPED_BECAUSE } from '../queue.ts';
import type { Destination, Due } from './delivery-queue.ts';
import { type OwnTime, systemTime } from './own-time.ts';
import type { Sender } from './send.ts';
import type { Settlement } from './settle.ts';

/** Makes one attempt at a delivery, or drops it where it cannot be sent. Never rejects. */
export const createAttempts = (ctx: Context, sender: Sender, time: OwnTime = systemTime) => {
  const secretOf = cachedSecrets(ctx);

  /** What is to be written down of it; null where a stop cut the attempt short, which then does not count. */
  return async (delivery: Due, destination: Destination | undefined): Promise<Settlement | null> => {
    const { id, clientId, event, body, before } = delivery;
    const drop = (reason: string) => dropped(ctx, delivery, destination, reason);
    try {
      if (!destination) return drop(DROPPED_BECAUSE.gone);
      if (destination.unreachable !== null) return drop(destination.unreachable);
      if (!delivery.attempts) return drop(DROPPED_BECAUSE.unreadable);
      if (!body) return drop(DROPPED_BECAUSE.noBody);
      const { url, sealedSecret } = destination;
      const secret = secretOf(clientId, sealedSecret);
      if (secret === null) return drop(DROPPED_BECAUSE.sealed);

      const at = ctx.clock.now();
      const startedAt = time.now();
      const outcome = await sender.send({ url, secret, id, event, attempt: before + 1, body });
      if (!outcome) return null;
      const last = { at, durationMs: Math.round(time.now() - startedAt), ...outcome };
      const endedAt = ctx.clock.now();
      const attempts = [...delivery.attempts, last];
      if (outcome.statusCode !== null && isAcknowledged(outcome.statusCode)) {
        ctx.metrics.attempts.inc({ result: 'acknowledged' });
        ctx.metrics.deliveries.observe((endedAt - delivery.createdAt) / 1000);
        return {
          id,
          before,
          status: 'DELIVERED',
          attempts,
          dueAt: endedAt,
          finishedAt: endedAt,
          reason: null,
        };
      }
      ctx.metrics.attempts.inc({ result: outcome.statusCode === null ? 'failed' : 'refused' });
      const dueAt = nextAttemptAt(before + 1, endedAt);
      return dueAt === null
        ? dropped(ctx, { ...delivery, attempts }, destination, afterAttempts(attempts.length, last))
        : { id, before, status: 'PENDING', attempts, dueAt, finishedAt: null, reason: null };
    } catch (error) {
      ctx.log.error({ deliveryId: id, error: describeError(error) }, 'unexpected error in webhook delivery');
      return drop(DROPPED_BECAUSE.serviceError);
    }
  };
};

const dropped = (
  { clock, log, metrics }: Context,
  { id, clientId, event, before, ...delivery }: Due,
  destination: Destination | undefined,
  reason: string,
): Settlement => {
  const nowMs = clock.now();
  const shopId = destination?.shopId ?? null;
  const attempts = delivery.attempts ?? [];
  log.warn({ deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason }, 'webhook dropped');
  metrics.droppedDeliveries.inc();
  return { id, before, status: 'DROPPED', attempts, dueAt: nowMs, finishedAt: nowMs, reason };
};

/** Opening a sealed secret takes five times as long as signing with it (48 and 10 µs on a busy machine). */
const cachedSecrets = ({ secrets }: Context) => {
  const opened = new Map<string, string>();
  /** null: it was sealed with another key, or is damaged. */
  return (clientId: string, sealed: string): string | null => {
    const name = `${clientId} ${sealed}`;
    const known = opened.get(name);
    if (known !== undefined) return known;
    if (opened.size >= 10_000) opened.clear();
    try {
      const secret = openWebhookSecret(secrets, clientId, sealed);
      opened.set(name, secret);
      return secret;
    } catch {
      // The reason of the drop says it, to the shop and in the log.
      return null;
    }
  };
};
