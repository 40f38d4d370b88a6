import { type Insertable, sql } from 'kysely';
import {
  SPECIFIED_EVENTS,
  type WebhookEventData,
  type WebhookEventName,
} from '../../contract/webhook-event.ts';
import type { Db } from '../db/database.ts';
import type { Row, Tables } from '../db/schema.ts';
import { DELIVERY_COLUMNS } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import { bodyOf, type LoggedEvent } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import type { SealedFor, SecretBox } from '../service/secrets.ts';
import { hasApi, type Shop } from '../shops/plans.ts';

export interface Reachable {
  id: string;
  shop_id: string;
  /** The creator that it replaced; null where it replaced none of those asked about. */
  replaces: string | null;
  /** As the column has them. */
  events: string | null;
}

/** A client, or the one that replaced it: together they are as old as the first of them. */
const NOW = sql<string>`coalesce(replaced_by, id)`;
const IS_REACHABLE = sql`
  case when replaced_by is null and revoked_at is null and webhook_url is not null then 1 else 0 end`;

const EVENTS = sql<string | null>`max(case when replaced_by is null then events end)`;

/** Whose events are asked about: those of these shops. The RMAs' creators are these clients, and those of these RMAs. */
interface Asked {
  shopIds: string[];
  creatorIds: string[];
  repairIds: string[];
  tradeReturnIds: string[];
}

/** The clients of some shops that are active and have a URL, oldest first. */
export const selectReachable = statement(
  ({ db, oneOf }, { shopIds, creatorIds, repairIds, tradeReturnIds }: Asked) => {
    const creators = sql<string>`
      select id from api_clients where id ${oneOf('id', creatorIds)}
      union select client_id from offline_repairs where id ${oneOf('id', repairIds)}
      union select client_id from trade_returns where id ${oneOf('id', tradeReturnIds)}`;
    return (
      db
        // Once, not again for each of the shops.
        .with(
          (cte) => cte('creator').materialized(),
          (eb) =>
            eb
              .selectFrom(sql<{ id: string }>`(${creators})`.as('asked'))
              .innerJoin('api_clients as client', 'client.id', 'asked.id')
              .where('client.replaced_by', 'is not', null)
              .select(['client.id', 'client.replaced_by']),
        )
        .selectFrom((eb) =>
          eb
            .selectFrom('api_clients')
            .select((of) => [
              NOW.as('id'),
              'shop_id',
              of.fn.min('created_at').as('since'),
              EVENTS.as('events'),
            ])
            .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
            .groupBy(['shop_id', NOW])
            .having(sql<number>`max(${IS_REACHABLE})`, '=', sql<number>`1`)
            .as('client'),
        )
        .leftJoin('creator', 'creator.replaced_by', 'client.id')
        .select(['client.id', 'client.shop_id', 'client.events', 'creator.id as replaces'])
        .orderBy('client.since')
        .orderBy('client.id')
    );
  },
);

/** Which events a client is sent: what it chose, or those of the specification. */
export const chosenEvents = (events: string | null): readonly string[] =>
  events?.split(',') ?? SPECIFIED_EVENTS;

/**
 * Which client receives an event: the one that created the RMA, or the one that replaced it; where that is not reachable, for a
 * trade return only, the shop's oldest client that is. If that client did not choose the event, no client receives it.
 */
const recipientOf = (
  shopId: string,
  creatorId: string,
  event: WebhookEventName,
  reachable: Reachable[],
): string | null => {
  const own = reachable.filter(({ shop_id }) => shop_id === shopId);
  const creator = own.find(({ id, replaces }) => id === creatorId || replaces === creatorId);
  const receiver = creator ?? (event.startsWith('trade_return.') ? own[0] : undefined);
  return receiver && chosenEvents(receiver.events).includes(event) ? receiver.id : null;
};

export type NewDelivery = Insertable<Tables['webhook_deliveries']>;

/** The delivery of an event to the one client that receives it, if there is one. */
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

export const webhookSecretPlace = (clientId: string): SealedFor => ({
  table: 'api_clients',
  column: 'webhook_secret',
  id: clientId,
});

export const sealWebhookSecret = (secrets: SecretBox, clientId: string, secret: string): string =>
  secrets.seal(secret, webhookSecretPlace(clientId));

/** Throws when no key of the installation opens the secret, or when it belongs to another client. */
export const openWebhookSecret = (secrets: SecretBox, clientId: string, sealed: string): string =>
  secrets.open(sealed, webhookSecretPlace(clientId));
