import { type Insertable, sql } from 'kysely';
import { SPECIFIED_EVENTS, type WebhookEventData } from '../../contract/webhook-event.ts';
import type { Db } from '../db/database.ts';
import { DELIVERY_COLUMNS, type Row, type Tables } from '../db/schema.ts';
import { statement } from '../db/statements.ts';
import { bodyOf, type LoggedEvent } from '../events/event.ts';
import { newId } from '../lib/ids.ts';
import type { SealedFor } from '../service/secrets.ts';
import { hasApi, type Shop } from '../shops/plans.ts';

export interface Reachable {
  id: string;
  shop_id: string;
  /** The creator that it replaced; null where it replaced none of those asked about. */
  replaces: string | null;
  /** As the column has them. */
  events: string | null;
}

/** The RMAs' creators are these clients, and those of these RMAs. */
type Asked = Record<'shopIds' | 'creatorIds' | 'repairIds' | 'tradeReturnIds', string[]>;

/**
 * The clients of some shops that are active and have a URL, oldest first. A client and the one that replaced it are together as old as
 * the first of them. Creators that were replaced are found once, not again for each of the shops.
 */
export const selectReachable = statement(
  ({ oneOf }, { shopIds, creatorIds, repairIds, tradeReturnIds }: Asked) => sql<Reachable>`
    with creator as materialized (
      select client.id, client.replaced_by from (
        select id from api_clients where id ${oneOf('id', creatorIds)}
        union select client_id from offline_repairs where id ${oneOf('id', repairIds)}
        union select client_id from trade_returns where id ${oneOf('id', tradeReturnIds)}
      ) as asked join api_clients as client on client.id = asked.id
      where client.replaced_by is not null
    )
    select client.id, client.shop_id, client.events, creator.id as replaces
    from (
      select coalesce(replaced_by, id) as id, shop_id, min(created_at) as since,
        max(case when replaced_by is null then events end) as events
      from api_clients where shop_id ${oneOf('id', shopIds)} group by shop_id, coalesce(replaced_by, id)
      having max(case when replaced_by is null and revoked_at is null and webhook_url is not null then 1 else 0 end) = 1
    ) as client
    left join creator on creator.replaced_by = client.id
    order by client.since, client.id`,
);

/** Which events a client is sent: what it chose, or those of the specification. */
export const chosenEvents = (events: string | null): readonly string[] =>
  events?.split(',') ?? SPECIFIED_EVENTS;

export type NewDelivery = Insertable<Tables['webhook_deliveries']>;

/**
 * The delivery of an event to the one client that receives it: the one that created the RMA, or the one that replaced it; where that is
 * not reachable, for a trade return only, the shop's oldest client that is. If that client did not choose the event, there is none.
 */
export const deliveryOf = (
  shop: Shop,
  creatorId: string,
  { id, rma_id, event, at }: LoggedEvent,
  reachable: Reachable[],
): NewDelivery | null => {
  if (!hasApi(shop)) return null;
  const own = reachable.filter(({ shop_id }) => shop_id === shop.id);
  const creator = own.find((client) => client.id === creatorId || client.replaces === creatorId);
  const receiver = creator ?? (event.startsWith('trade_return.') ? own[0] : undefined);
  if (!receiver || !chosenEvents(receiver.events).includes(event)) return null;
  // The event log has the body.
  return { ...unsent(at), id, client_id: receiver.id, rma_id, event, body: '' };
};

const unsent = (atMs: number) => ({
  status: 'PENDING' as const,
  attempts: 0,
  attempt_log: '[]',
  due_at: atMs,
  created_at: atMs,
});

/** What a `webhook.test` holds: it is about no RMA. */
export const testData = (nowMs: number): WebhookEventData<'webhook.test'> => ({
  id: newId(nowMs),
  rmaNumber: null,
  externalRef: null,
  externalSource: null,
  status: null,
  message: 'A test event: if you can read this and the signature holds, webhooks reach you.',
});

/** An event about nothing, for a client's own URL, so that an Admin can see whether deliveries arrive. It is not in the log. */
export const enqueueTest = (db: Db, clientId: string, nowMs: number): Promise<Row<'webhook_deliveries'>> => {
  const event = 'webhook.test';
  const body = bodyOf(event, nowMs, testData(nowMs));
  return db
    .insertInto('webhook_deliveries')
    .values({ ...unsent(nowMs), id: newId(nowMs), client_id: clientId, rma_id: null, event, body })
    .returning(DELIVERY_COLUMNS)
    .executeTakeFirstOrThrow();
};

/** What a client's webhook secret is sealed for: as another client's it does not open. */
export const webhookSecretPlace = (clientId: string): SealedFor => ({
  table: 'api_clients',
  column: 'webhook_secret',
  id: clientId,
});
