import { type Insertable, sql } from 'kysely';
import { kindOfEvent, RETURN_KINDS } from '../../contract/kinds.ts';
import { SPECIFIED_EVENTS, type WebhookEventData } from '../../contract/webhook-event.ts';
import { DELIVERY_COLUMNS, type Row, type Tables } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import type { Db } from '../db/types.ts';
import { bodyOf, type LoggedEvent } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import type { SealedFor } from '../platform/secrets.ts';
import { hasApi, type Receiver, type Shop } from '../shops/plans.ts';

/**
 * Selects the receivers of some shops whose client is active and has a URL, oldest first: a receiver has the id of its first
 * client, and ids rise with time.
 */
export const selectReceivers = statement(
  ({ oneOf }, { shopIds }: { shopIds: string[] }) => sql<Receiver>`
    select receiver_id as id, shop_id, events from api_clients
    where shop_id ${oneOf('id', shopIds)} and replaced_by is null and revoked_at is null and webhook_url is not null
    order by receiver_id`,
);

/** Returns the events that a client is sent: its own choice, or else the events of the specification. */
export const chosenEvents = (events: string | null): readonly string[] =>
  events?.split(',') ?? SPECIFIED_EVENTS;

export type NewDelivery = Insertable<Tables['webhook_deliveries']>;

const hasFallback = (event: string): boolean => {
  const kind = kindOfEvent(event);
  return kind !== undefined && RETURN_KINDS[kind].hasFallbackReceiver;
};

/**
 * Builds the delivery of an event to its only receiver, that of the client that created the return. If a trade return's own
 * receiver is unusable, the shop's oldest receiver gets it. It returns null if the receiver's client did not choose the event.
 */
export const deliveryOf = (
  shop: Shop,
  receiverId: string,
  { id, rma_id, event, at }: LoggedEvent,
  receivers: Receiver[],
): NewDelivery | null => {
  if (!hasApi(shop)) return null;
  const ofShop = receivers.filter(({ shop_id }) => shop_id === shop.id);
  const creator = ofShop.find((each) => each.id === receiverId);
  const receiver = creator ?? (hasFallback(event) ? ofShop[0] : undefined);
  if (!receiver || !chosenEvents(receiver.events).includes(event)) return null;
  // The body is empty because the event log has it.
  return { ...newDeliveryFields(at), id, receiver_id: receiver.id, rma_id, event, body: '' };
};

const newDeliveryFields = (atMs: number) => ({
  status: 'PENDING' as const,
  attempts: 0,
  attempt_log: '[]',
  due_at: atMs,
  created_at: atMs,
});

/** The data of a `webhook.test`, which is about no return. */
export const testEventData = (nowMs: number): WebhookEventData<'webhook.test'> => ({
  id: newId(nowMs),
  rmaNumber: null,
  externalRef: null,
  externalSource: null,
  status: null,
  message: 'A test event: if you can read this and the signature holds, webhooks reach you.',
});

/** Enqueues a test event, with which an Admin can check that deliveries arrive. It is not in the event log. */
export const enqueueTest = (
  db: Db,
  receiverId: string,
  nowMs: number,
): Promise<Row<'webhook_deliveries'>> => {
  const event = 'webhook.test';
  const body = bodyOf(event, nowMs, testEventData(nowMs));
  return db
    .insertInto('webhook_deliveries')
    .values({
      ...newDeliveryFields(nowMs),
      id: newId(nowMs),
      receiver_id: receiverId,
      rma_id: null,
      event,
      body,
    })
    .returning(DELIVERY_COLUMNS)
    .executeTakeFirstOrThrow();
};

/** The context that a client's webhook secret is sealed for: it cannot be opened as the secret of another client. */
export const webhookSecretColumn = (clientId: string): SealedFor => ({
  table: 'api_clients',
  column: 'webhook_secret',
  id: clientId,
});
