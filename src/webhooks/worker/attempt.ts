import type { Context } from '../../context.ts';
import { describeError } from '../../describe-error.ts';
import type { Attempt } from '../attempts.ts';
import { afterAttempts, DROPPED_BECAUSE } from '../drop-reasons.ts';
import { isAcknowledged, nextAttemptAt } from '../policy.ts';
import { openWebhookSecret } from '../secret.ts';
import type { Destination, Due } from './delivery-queue.ts';
import type { Sender } from './send.ts';
import type { Settlement } from './settle.ts';
import { STATUS_AFTER } from './states.ts';
import { type OwnTime, systemTime } from './time.ts';

type Needed = Pick<Context, 'clock' | 'log' | 'metrics' | 'secrets'>;

/** Makes one attempt at a delivery, or drops it where it cannot be sent. Never rejects. */
export const createAttempts = (ctx: Needed, sender: Sender, time: OwnTime = systemTime) => {
  const prepare = createPreparation(ctx);

  /** null where a stop cut it short. */
  const send = async ({ id, event, before }: Due, { to, body }: Prepared) => {
    const at = ctx.clock.now();
    const startedAt = time.now();
    const outcome = await sender.send({ ...to, id, event, attempt: before + 1, body });
    return outcome && { at, durationMs: Math.round(time.now() - startedAt), ...outcome };
  };

  const attempt = async (delivery: Due, destination: Destination | undefined): Promise<Settlement | null> => {
    const prepared = prepare(delivery, destination);
    if (typeof prepared === 'string') return dropped(ctx, delivery, destination, { reason: prepared });
    const last = await send(delivery, prepared);
    if (!last) return null;
    const endedAt = ctx.clock.now();
    const attempts = [...prepared.attempts, last];
    const dueAt = nextAttemptAt(delivery.before + 1, endedAt);
    const state = stateAfter(last, dueAt);
    observe(ctx, delivery, last, endedAt);
    if (state === 'dropped')
      return dropped(ctx, delivery, destination, { attempts, reason: afterAttempts(attempts.length, last) });
    const { id, before } = delivery;
    const status = STATUS_AFTER[state];
    return state === 'delivered'
      ? { id, before, status, attempts, dueAt: endedAt, finishedAt: endedAt, reason: null }
      : { id, before, status, attempts, dueAt: dueAt ?? endedAt, finishedAt: null, reason: null };
  };

  /** What is to be written down of it; null where a stop cut the attempt short, which then does not count. */
  return async (delivery: Due, destination: Destination | undefined): Promise<Settlement | null> => {
    try {
      return await attempt(delivery, destination);
    } catch (error) {
      ctx.log.error(
        { deliveryId: delivery.id, fault: describeError(error) },
        'unexpected error in webhook delivery',
      );
      return dropped(ctx, delivery, destination, { reason: DROPPED_BECAUSE.fault });
    }
  };
};

const isDone = ({ statusCode }: Attempt): boolean => statusCode !== null && isAcknowledged(statusCode);

const stateAfter = (last: Attempt, nextAt: number | null): keyof typeof STATUS_AFTER => {
  if (isDone(last)) return 'delivered';
  return nextAt === null ? 'dropped' : 'waiting for a retry';
};

const observe = ({ metrics }: Needed, { createdAt }: Due, last: Attempt, endedAt: number): void => {
  const done = isDone(last);
  metrics.observeAttempt(done ? 'acknowledged' : last.statusCode === null ? 'failed' : 'refused');
  if (done) metrics.observeDelivery((endedAt - createdAt) / 1000);
};

const dropped = (
  { clock, log, metrics }: Needed,
  { id, clientId, event, before, ...delivery }: Due,
  destination: Destination | undefined,
  { attempts = delivery.attempts ?? [], reason }: { attempts?: Attempt[]; reason: string },
): Settlement => {
  const nowMs = clock.now();
  const shopId = destination?.shopId ?? null;
  log.warn({ deliveryId: id, clientId, shopId, event, attempts: attempts.length, reason }, 'webhook dropped');
  metrics.observeDroppedDeliveries(1);
  return { id, before, status: STATUS_AFTER.dropped, attempts, dueAt: nowMs, finishedAt: nowMs, reason };
};

interface Prepared {
  to: { url: string; secret: string };
  body: Buffer;
  attempts: Attempt[];
}

/** Why a delivery cannot even be tried, or what is needed to try it. */
const createPreparation = (ctx: Needed) => {
  const secrets = secretCache(ctx);
  return ({ attempts, body, clientId }: Due, destination: Destination | undefined): Prepared | string => {
    if (!destination) return DROPPED_BECAUSE.gone;
    if (destination.unreachable !== null) return destination.unreachable;
    if (!attempts) return DROPPED_BECAUSE.unreadable;
    if (!body) return DROPPED_BECAUSE.noBody;
    const secret = secrets.open(clientId, destination.sealedSecret);
    return secret === null
      ? DROPPED_BECAUSE.sealed
      : { to: { url: destination.url, secret }, body, attempts };
  };
};

/** Opening a sealed secret takes five times as long as signing with it (48 and 10 µs on a busy machine). */
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
        // The reason of the drop says it, to the shop and in the log.
        return null;
      }
    },
  };
};
