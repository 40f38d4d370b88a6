import { isAcknowledged, MOST_ATTEMPTS } from '../../../src/webhooks/policy.ts';
import type { Attempt } from '../../../src/webhooks/queue.ts';
import type { Receipt } from './history.ts';
import type { Kept, KeptDelivery } from './kept.ts';
import { byId, groupBy, type Rule } from './rule.ts';

// Every event for which somebody waits is delivered, or dropped after four attempts; and always the same bytes.

const isDone = ({ statusCode }: Attempt): boolean => statusCode !== null && isAcknowledged(statusCode);

const faultInLog = ({ status, attempts, log }: KeptDelivery): string | null => {
  if (status === 'PENDING') return 'is still waiting';
  if (log === null || log.length !== attempts) return `counts ${attempts} attempts and lists ${log?.length}`;
  if (log.slice(0, -1).some(isDone)) return 'went on after it was acknowledged';
  if (status === 'DELIVERED') {
    const last = log.at(-1);
    return last && isDone(last) ? null : 'is delivered, and nobody acknowledged it';
  }
  return log.length === MOST_ATTEMPTS && !log.some(isDone)
    ? null
    : `was dropped after ${log.filter((each) => !isDone(each)).length} failed attempts`;
};

/** Attempts that were counted came to the receiver, and no others but those whose process died before it could count them. */
const faultInReceipts = ({ status, attempts }: KeptDelivery, receipts: Receipt[]): string | null => {
  const tried = [...new Set(receipts.map(({ attempt }) => attempt))].sort((one, other) => one - other);
  if (tried.join() !== Array.from({ length: attempts }, (_, i) => i + 1).join())
    return `counts ${attempts} attempts, and its receiver saw attempts ${tried.join(', ') || 'none'}`;
  const wasTaken = receipts.some((each) => each.status !== null && isAcknowledged(each.status));
  return status === 'DELIVERED' && !wasTaken ? 'is delivered, and its receiver never took it' : null;
};

const unsent = ({ rmas, receivingClients, events, deliveries }: Kept): string[] => {
  const clientOf = new Map(rmas.map(({ id, clientId }) => [id, clientId]));
  const receiving = new Set<string | null | undefined>(receivingClients);
  const sent = new Set(deliveries.map(({ id }) => id));
  return events
    .filter(({ id, rmaId }) => receiving.has(clientOf.get(rmaId)) && !sent.has(id))
    .map(({ id }) => `the event ${id} has a receiver and no delivery`);
};

const deliveredOrDropped: Rule = ({ receipts }, kept) => {
  const cameIn = groupBy(receipts, ({ id }) => id);
  return [
    ...unsent(kept),
    ...kept.deliveries.flatMap((delivery) => {
      const fault = faultInLog(delivery) ?? faultInReceipts(delivery, cameIn.get(delivery.id) ?? []);
      return fault ? [`the delivery ${delivery.id} ${fault}`] : [];
    }),
  ];
};

const sameBytes: Rule = ({ receipts }, { events }) => {
  const written = byId(events);
  return receipts
    .filter(({ id, bytes }) => written.get(id)?.body !== bytes)
    .map(({ id, attempt }) =>
      written.has(id)
        ? `attempt ${attempt} of ${id} brought other bytes than the event has`
        : `attempt ${attempt} of ${id} brought an event that is not there`,
    );
};

export const DELIVERY_RULES = {
  'each event is delivered, or dropped after four attempts': deliveredOrDropped,
  'every attempt brings the same bytes': sameBytes,
};
