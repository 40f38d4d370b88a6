import { instant, rmaNumber } from '../../contract/common.ts';
import type { WebhookEventData, WebhookEventName } from '../../contract/webhook-event.ts';
import type { Db, Trx } from '../db/database.ts';
import type { Row } from '../db/tables.ts';
import { newId } from '../ids.ts';
import { hasApi, type Shop } from '../shops/plans.ts';
import { recipientOf } from './recipient.ts';

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

/**
 * Writes the event down in the transaction of the change it tells of, for the one client that is to receive it, if there is
 * one. The bytes are fixed here. Gives back which client that is.
 */
export const enqueue = async (
  trx: Trx,
  shop: Shop,
  rma: EventSubject,
  atMs: number,
  event: Event,
): Promise<string | null> => {
  if (rma.client_id === null || !hasApi(shop)) return null;
  const body = JSON.stringify({
    event: event.name,
    timestamp: instant(atMs),
    data: {
      id: rma.id,
      rmaNumber: rmaNumber(rma.number),
      externalRef: rma.external_ref,
      externalSource: rma.external_source,
      status: rma.status,
      ...event.data,
    },
  });
  const queued = await trx
    .insertInto('webhook_deliveries')
    .columns([
      'id',
      'client_id',
      'rma_id',
      'event',
      'body',
      'status',
      'attempts',
      'attempt_log',
      'due_at',
      'created_at',
    ])
    .expression(
      recipientOf(trx, shop.id, rma.client_id, event.name).select((to) => [
        to.val(newId(atMs)).as('id'),
        'client.id as client_id',
        to.val(rma.id).as('rma_id'),
        to.val(event.name).as('event'),
        to.val(body).as('body'),
        to.val('PENDING' as const).as('status'),
        to.lit(0).as('attempts'),
        to.val('[]').as('attempt_log'),
        to.val(atMs).as('due_at'),
        to.val(atMs).as('created_at'),
      ]),
    )
    .returning('client_id')
    .executeTakeFirst();
  return queued?.client_id ?? null;
};

const TEST_MESSAGE =
  'A test from the admin app: if you can read this and the signature holds, webhooks reach you.';

/** An event about nothing, for a client's own URL, so that an Admin can see whether deliveries arrive. */
export const enqueueTest = (db: Db, clientId: string, nowMs: number): Promise<Row<'webhook_deliveries'>> => {
  const id = newId(nowMs);
  const data = { id, rmaNumber: null, externalRef: null, externalSource: null, message: TEST_MESSAGE };
  return db
    .insertInto('webhook_deliveries')
    .values({
      id,
      client_id: clientId,
      rma_id: null,
      event: 'webhook.test',
      body: JSON.stringify({ event: 'webhook.test', timestamp: instant(nowMs), data }),
      status: 'PENDING',
      attempts: 0,
      attempt_log: '[]',
      due_at: nowMs,
      created_at: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
};
