import type { Insertable } from 'kysely';
import type { WebhookEventData } from '../../contract/webhook-event.ts';
import type { Db } from '../db/database.ts';
import type { Row, Tables } from '../db/schema.ts';
import { DELIVERY_COLUMNS } from '../db/schema.ts';
import { bodyOf, type LoggedEvent } from '../events/event.ts';
import { newId } from '../ids.ts';
import { hasApi, type Shop } from '../shops/plans.ts';
import { type Reachable, recipientOf } from './recipient.ts';

type NewDelivery = Insertable<Tables['webhook_deliveries']>;

/** An event on its way to the one client that is to receive it, if there is one. */
export const deliveryOf = (
  shop: Shop,
  creatorId: string,
  { id, rma_id, event, at }: LoggedEvent,
  reachable: Reachable[],
): NewDelivery | null => {
  if (!hasApi(shop)) return null;
  const clientId = recipientOf(shop.id, creatorId, event, reachable);
  return clientId === null
    ? null
    : { ...unsent(at), id, client_id: clientId, rma_id, event, body: IN_EVENT_LOG };
};

/** In place of a body. */
const IN_EVENT_LOG = '';

const unsent = (atMs: number) => ({
  status: 'PENDING' as const,
  attempts: 0,
  attempt_log: '[]',
  due_at: atMs,
  created_at: atMs,
});

const TEST_MESSAGE =
  'A test from the admin app: if you can read this and the signature holds, webhooks reach you.';

/** What a `webhook.test` holds: it is about no RMA. */
export const testData = (nowMs: number): WebhookEventData<'webhook.test'> => ({
  id: newId(nowMs),
  rmaNumber: null,
  externalRef: null,
  externalSource: null,
  status: null,
  message: TEST_MESSAGE,
});

/** An event about nothing, for a client's own URL, so that an Admin can see whether deliveries arrive. It is not in the log. */
export const enqueueTest = (db: Db, clientId: string, nowMs: number): Promise<Row<'webhook_deliveries'>> => {
  const event = 'webhook.test';
  return db
    .insertInto('webhook_deliveries')
    .values({
      ...unsent(nowMs),
      id: newId(nowMs),
      client_id: clientId,
      rma_id: null,
      event,
      body: bodyOf(event, nowMs, testData(nowMs)),
    })
    .returning(DELIVERY_COLUMNS)
    .executeTakeFirstOrThrow();
};
