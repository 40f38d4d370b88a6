import { cached } from '../../lib/cached.ts';
import type { Core } from '../../platform/core.ts';
import { describeError } from '../../platform/log.ts';
import { opened } from '../../platform/secrets.ts';
import { hasApi } from '../../shops/plans.ts';
import { webhookSecretColumn } from '../outbox.ts';
import { isAcknowledged, nextAttemptAt } from '../policy.ts';
import { afterAttempts, DROPPED_BECAUSE, readAttempts } from '../queue.ts';
import type { Destination, Due } from './delivery-queue.ts';
import { type OwnTime, systemTime } from './own-time.ts';
import type { Sender } from './send.ts';
import type { Settlement } from './settle.ts';

/** Makes one attempt at a delivery, or drops it where it cannot be sent. Never rejects. */
export const createAttempts = (ctx: Core, sender: Sender, time: OwnTime = systemTime) => {
  const secrets = new Map<string, string | null>();
  /** Opening a sealed secret takes five times as long as signing with it (48 and 10 µs on a busy machine). */
  const secretOf = (id: string, sealed: string): string | null =>
    cached(secrets, `${id} ${sealed}`, () => opened(ctx.secrets, sealed, webhookSecretColumn(id)), 10_000);

  /** What is to be written down of it; null where a stop cut the attempt short, which then does not count. */
  return async (delivery: Due, destination: Destination | undefined): Promise<Settlement | null> => {
    const { clock, log, metrics } = ctx;
    const { id, event, body, before } = delivery;
    const earlier = readAttempts(delivery.log);
    const drop = (reason: string, attempts = earlier ?? []): Settlement => {
      const { shopId = null, clientId = null } = destination ?? {};
      log.warn(
        { deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason },
        'webhook dropped',
      );
      metrics.droppedDeliveries.inc();
      const nowMs = clock.now();
      return { id, before, status: 'DROPPED', attempts, dueAt: nowMs, finishedAt: nowMs, reason };
    };
    try {
      if (!destination) return drop(DROPPED_BECAUSE.gone);
      const { url, sealedSecret } = destination;
      if (destination.revokedAt !== null) return drop(DROPPED_BECAUSE.revoked);
      if (url === null) return drop(DROPPED_BECAUSE.noUrl);
      if (!hasApi(destination)) return drop(DROPPED_BECAUSE.noApi);
      if (!earlier) return drop(DROPPED_BECAUSE.unreadable);
      if (!body) return drop(DROPPED_BECAUSE.noBody);
      const secret = secretOf(destination.clientId, sealedSecret);
      if (secret === null) return drop(DROPPED_BECAUSE.sealed);

      const at = clock.now();
      const startedAt = time.now();
      const outcome = await sender.send({ url, secret, id, event, attempt: before + 1, body });
      if (!outcome) return null;
      const last = { at, durationMs: Math.round(time.now() - startedAt), ...outcome };
      const endedAt = clock.now();
      const attempts = [...earlier, last];
      const result = { id, before, attempts, reason: null };
      if (outcome.statusCode !== null && isAcknowledged(outcome.statusCode)) {
        metrics.attempts.inc({ result: 'acknowledged' });
        metrics.deliveries.observe((endedAt - delivery.createdAt) / 1000);
        return { ...result, status: 'DELIVERED', dueAt: endedAt, finishedAt: endedAt };
      }
      metrics.attempts.inc({ result: outcome.statusCode === null ? 'failed' : 'refused' });
      const dueAt = nextAttemptAt(before + 1, endedAt);
      return dueAt === null
        ? drop(afterAttempts(attempts.length, last), attempts)
        : { ...result, status: 'PENDING', dueAt, finishedAt: null };
    } catch (error) {
      log.error({ deliveryId: id, error: describeError(error) }, 'unexpected error in webhook delivery');
      return drop(DROPPED_BECAUSE.serviceError);
    }
  };
};
