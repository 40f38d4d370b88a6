import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import { afterAttempts, DROPPED_BECAUSE } from '../drop-reasons.ts';
import { isAcknowledged, nextAttemptAt } from '../policy.ts';
import { openWebhookSecret } from '../secret.ts';
import type { Due } from './queue.ts';
import type { Receiver } from './receivers.ts';
import type { Sender } from './send.ts';
import type { Settlement } from './settle.ts';

type Needed = Pick<Context, 'clock' | 'log' | 'metrics' | 'secrets'>;

/** Makes one attempt at a delivery, or drops it where there is nowhere to send it. Never rejects. */
export const createAttempts = (ctx: Needed, sender: Sender) => {
  const secrets = secretCache(ctx);

  /** Why a delivery cannot even be tried, or what is needed to try it. */
  const prepare = ({ attempts, clientId }: Due, receiver: Receiver | undefined) => {
    if (!receiver) return DROPPED_BECAUSE.gone;
    if (receiver.unreachable !== null) return receiver.unreachable;
    if (!attempts) return DROPPED_BECAUSE.unreadable;
    const secret = secrets.open(clientId, receiver.sealedSecret);
    return secret === null ? DROPPED_BECAUSE.sealed : { url: receiver.url, secret, attempts };
  };

  const dropped = (delivery: Due, receiver: Receiver | undefined, settlement: Partial<Settlement>) => {
    const { id, clientId, event, before } = delivery;
    const nowMs = ctx.clock.now();
    const whole: Settlement = {
      id,
      before,
      status: 'DROPPED',
      attempts: delivery.attempts ?? [],
      dueAt: nowMs,
      finishedAt: nowMs,
      reason: null,
      ...settlement,
    };
    const { attempts, reason } = whole;
    const shopId = receiver?.shopId ?? null;
    ctx.log.warn(
      { deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason },
      'webhook dropped',
    );
    return whole;
  };

  const attempt = async (delivery: Due, receiver: Receiver | undefined): Promise<Settlement | null> => {
    const prepared = prepare(delivery, receiver);
    if (typeof prepared === 'string') return dropped(delivery, receiver, { reason: prepared });
    const { id, event, body, before } = delivery;
    const startedAt = ctx.clock.now();
    const started = performance.now();
    const outcome = await sender.send({
      url: prepared.url,
      secret: prepared.secret,
      id,
      event,
      attempt: before + 1,
      body,
    });
    if (!outcome) return null;
    const endedAt = ctx.clock.now();
    const last = { at: startedAt, durationMs: Math.round(performance.now() - started), ...outcome };
    const attempts = [...prepared.attempts, last];
    const done = last.statusCode !== null && isAcknowledged(last.statusCode);
    ctx.metrics.observeAttempt(done ? 'acknowledged' : last.statusCode === null ? 'failed' : 'refused');
    if (done) ctx.metrics.observeDelivery((endedAt - delivery.createdAt) / 1000);
    const again = done ? null : nextAttemptAt(before + 1, endedAt);
    if (!done && again === null)
      return dropped(delivery, receiver, { attempts, reason: afterAttempts(attempts.length, last) });
    return {
      id,
      before,
      status: done ? 'DELIVERED' : 'PENDING',
      attempts,
      dueAt: again ?? endedAt,
      finishedAt: again === null ? endedAt : null,
      reason: null,
    };
  };

  /** What is to be written down of it; null where a stop cut the attempt short, which then does not count. */
  return async (delivery: Due, receiver: Receiver | undefined): Promise<Settlement | null> => {
    try {
      return await attempt(delivery, receiver);
    } catch (error) {
      ctx.log.error(
        { deliveryId: delivery.id, fault: describeError(error) },
        'a webhook attempt failed badly',
      );
      return dropped(delivery, receiver, { reason: DROPPED_BECAUSE.fault });
    }
  };
};

/** Opening a sealed secret costs more than signing with it. */
const secretCache = ({ secrets }: Pick<Context, 'secrets'>) => {
  const opened = new Map<string, string>();
  return {
    /** null: it was sealed with another key, or is damaged. */
    open(clientId: string, sealed: string): string | null {
      const name = `${clientId} ${sealed}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      if (opened.size >= 10_000) opened.clear();
      try {
        const secret = openWebhookSecret(secrets, clientId, sealed);
        opened.set(name, secret);
        return secret;
      } catch {
        // Told to the shop as the reason of the drop, and logged with it.
        return null;
      }
    },
  };
};
