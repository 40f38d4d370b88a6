import { eventBody } from '../../events/event.ts';
import { addressGuard } from '../../webhooks/address-guard.ts';
import { isAcknowledged, MOST_ATTEMPTS } from '../../webhooks/policy.ts';
import { createSender } from '../../webhooks/worker/send.ts';
import { backOff, type Say } from './back-off.ts';
import type { FeedEvent } from './feed.ts';

export interface Forwarded {
  statusCode: number;
  attempts: number;
}

export interface Forwarder {
  /** Sends until the receiver takes it; null where the command was stopped before. */
  send(event: FeedEvent): Promise<Forwarded | null>;
  close(): Promise<void>;
}

/** How long a stop waits for the answer to what was sent already, so that it need not be sent again. */
const FINISH_WITHIN_MS = 2_000;

/** Sends events to a receiver as the dispatcher would, but in order, one at a time, and until each is taken (decision 132). */
export const createForwarder = (
  url: string,
  secret: string,
  { say, stop }: { say: Say; stop: AbortSignal },
): Forwarder => {
  const sender = createSender(addressGuard({ allowPrivate: true }));
  const { failed, worked } = backOff(say, stop, 'the receiver takes events again');
  let breakOff: NodeJS.Timeout | undefined;
  stop.addEventListener('abort', () => {
    breakOff = setTimeout(() => sender.close(), FINISH_WITHIN_MS);
  });

  return {
    async send({ id, event, timestamp, data }) {
      const body = Buffer.from(eventBody(event, timestamp, data));
      for (let attempts = 1; !stop.aborted; attempts++) {
        const attempt = Math.min(attempts, MOST_ATTEMPTS);
        const outcome = await sender.send({ url, secret, id, event, attempt, body });
        const statusCode = outcome?.statusCode ?? null;
        if (statusCode !== null && isAcknowledged(statusCode)) {
          worked();
          return { statusCode, attempts };
        }
        if (outcome)
          await failed(
            `the receiver does not take ${event} ${id}: ${outcome.error ?? `status ${statusCode}`}`,
          );
      }
      return null;
    },
    close() {
      clearTimeout(breakOff);
      return sender.close();
    },
  };
};
