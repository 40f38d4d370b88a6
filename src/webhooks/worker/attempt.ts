import { cached } from '../../lib/cached.ts';
import type { Core } from '../../platform/core.ts';
import { describeError } from '../../platform/log.ts';
import { openOrNull } from '../../platform/secrets.ts';
import { hasApi } from '../../shops/plans.ts';
import { webhookSecretColumn } from '../outbox.ts';
import { isAcknowledged, nextAttemptAt } from '../policy.ts';
import { attemptsFailedReason, DROP_REASONS, readAttempts } from '../queue.ts';
import type { Destination, DueDelivery } from './delivery-queue.ts';
import { type MonotonicClock, systemMonotonicClock } from './monotonic-clock.ts';
import type { Sender } from './send.ts';
import type { Settlement } from './settle.ts';

/** Makes one attempt at a delivery, or drops a delivery that cannot be sent. It never rejects. */
export const createAttempts = (ctx: Core, sender: Sender, time: MonotonicClock = systemMonotonicClock) => {
  const secrets = new Map<string, string | null>();
  /** Caches secrets: opening one takes five times as long as signing with it (48 and 10 µs on a busy machine). */
  const secretOf = (id: string, sealed: string): string | null =>
    cached(
      secrets,
      `${id} ${sealed}`,
      () => openOrNull(ctx.secrets, sealed, webhookSecretColumn(id)),
      10_000,
    );

  /** Returns the result to write, or null if a stop aborted the attempt, which then does not count. */
  return async (delivery: DueDelivery, destination: Destination | undefined): Promise<Settlement | null> => {
    const { clock, log, metrics } = ctx;
    const { id, event, body, attemptsBefore } = delivery;
    const earlier = readAttempts(delivery.log);
    const drop = (reason: string, attempts = earlier ?? []): Settlement => {
      const { shopId = null, clientId = null } = destination ?? {};
      log.warn(
        { deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason },
        'webhook dropped',
      );
      metrics.droppedDeliveries.inc();
      const nowMs = clock.now();
      return { id, attemptsBefore, status: 'DROPPED', attempts, dueAt: nowMs, finishedAt: nowMs, reason };
    };
    try {
      if (!destination) return drop(DROP_REASONS.gone);
      const { url, sealedSecret } = destination;
      if (destination.revokedAt !== null) return drop(DROP_REASONS.revoked);
      if (url === null) return drop(DROP_REASONS.noUrl);
      if (!hasApi(destination)) return drop(DROP_REASONS.noApi);
      if (!earlier) return drop(DROP_REASONS.unreadable);
      if (!body) return drop(DROP_REASONS.noBody);
      const secret = secretOf(destination.clientId, sealedSecret);
      if (secret === null) return drop(DROP_REASONS.sealed);

      const at = clock.now();
      const startedAt = time.now();
      const outcome = await sender.send({ url, secret, id, event, attempt: attemptsBefore + 1, body });
      if (!outcome) return null;
      const last = { at, durationMs: Math.round(time.now() - startedAt), ...outcome };
      const endedAt = clock.now();
      const attempts = [...earlier, last];
      const result = { id, attemptsBefore, attempts, reason: null };
      if (outcome.statusCode !== null && isAcknowledged(outcome.statusCode)) {
        metrics.attempts.inc({ result: 'acknowledged' });
        metrics.deliveries.observe((endedAt - delivery.createdAt) / 1000);
        return { ...result, status: 'DELIVERED', dueAt: endedAt, finishedAt: endedAt };
      }
      metrics.attempts.inc({ result: outcome.statusCode === null ? 'failed' : 'refused' });
      const dueAt = nextAttemptAt(attemptsBefore + 1, endedAt);
      return dueAt === null
        ? drop(attemptsFailedReason(attempts.length, last), attempts)
        : { ...result, status: 'PENDING', dueAt, finishedAt: null };
    } catch (error) {
      log.error({ deliveryId: id, error: describeError(error) }, 'unexpected error in webhook delivery');
      return drop(DROP_REASONS.serviceError);
    }
  };
};
