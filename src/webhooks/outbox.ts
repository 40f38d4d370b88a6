import type { Insertable } from 'kysely';
import { rmaNumber } from '../../contract/common.ts';
import type { WebhookEventData, WebhookEventName } from '../../contract/webhook-event.ts';
import { DELIVERY_COLUMNS } from '../db/columns.ts';
import type { Db } from '../db/database.ts';
import type { Row, Tables } from '../db/tables.ts';
import { newId } from '../ids.ts';
import { instant } from '../instant.ts';
import { hasApi, type Shop } from '../shops/plans.ts';
import { type Reachable, recipientOf } from './recipient.ts';

/** What the outbox must know of an RMA, of either kind. */
export interface EventSubject {
  id: string;
  client_id: string | null;
  number: number;
  external_ref: string | null;
  external_source: string | null;
  status: string;
}

type Common = 'id' | 'rmaNumber' | 'externalRef' | 'externalSource' | 'status';
/** What an event's data holds beyond the fields that every event has. */
export type EventExtra<Name extends WebhookEventName> = Omit<WebhookEventData<Name>, Common>;
type RmaEventName = Exclude<WebhookEventName, 'webhook.test'>;
export type Event = { [Name in RmaEventName]: { name: Name; data: EventExtra<Name> } }[RmaEventName];

/** The event as it waits in the outbox for the one client that is to receive it, if there is one. The bytes are fixed here. */
export const deliveryOf = (
  shop: Shop,
  rma: EventSubject,
  atMs: number,
  event: Event,
  reachable: Reachable[],
): Insertable<Tables['webhook_deliveries']> | null => {
  if (rma.client_id === null || !hasApi(shop)) return null;
  const recipient = recipientOf(shop.id, rma.client_id, event.name, reachable);
  if (recipient === null) return null;
  const data = {
    id: rma.id,
    rmaNumber: rmaNumber(rma.number),
    externalRef: rma.external_ref,
    externalSource: rma.external_source,
    status: rma.status,
    ...event.data,
  };
  return newDelivery(recipient, rma.id, event.name, data, atMs);
};

const newDelivery = (
  clientId: string,
  rmaId: string | null,
  event: WebhookEventName,
  data: object,
  atMs: number,
) => ({
  id: newId(atMs),
  client_id: clientId,
  rma_id: rmaId,
  event,
  body: JSON.stringify({ event, timestamp: instant(atMs), data }),
  status: 'PENDING' as const,
  attempts: 0,
  attempt_log: '[]',
  due_at: atMs,
  created_at: atMs,
});

const TEST_MESSAGE =
  'A test from the admin app: if you can read this and the signature holds, webhooks reach you.';

/** An event about nothing, for a client's own URL, so that an Admin can see whether deliveries arrive. */
export const enqueueTest = (db: Db, clientId: string, nowMs: number): Promise<Row<'webhook_deliveries'>> => {
  const about = { id: newId(nowMs), rmaNumber: null, externalRef: null, externalSource: null, status: null };
  return db
    .insertInto('webhook_deliveries')
    .values(newDelivery(clientId, null, 'webhook.test', { ...about, message: TEST_MESSAGE }, nowMs))
    .returning(DELIVERY_COLUMNS)
    .executeTakeFirstOrThrow();
};
