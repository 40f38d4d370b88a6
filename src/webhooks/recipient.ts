import { sql } from 'kysely';
import type { WebhookEventName } from '../../contract/webhook-event.ts';
import type { Base } from '../base.ts';
import type { Trx } from '../db/database.ts';

/** A client that events can be sent to. */
export interface Reachable {
  id: string;
  shop_id: string;
}

/** The clients of these shops that are active and have a URL, oldest first. */
export const reachableClients = (
  { oneOf }: Pick<Base, 'oneOf'>,
  trx: Trx,
  shopIds: string[],
): Promise<Reachable[]> =>
  trx
    .selectFrom('api_clients')
    .select(['id', 'shop_id'])
    .where(sql<boolean>`shop_id ${oneOf('id', shopIds)}`)
    .where('revoked_at', 'is', null)
    .where('webhook_url', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

/**
 * Who receives an event: the client that created the RMA; where that cannot be reached, for a trade return only, the shop's
 * oldest client that can.
 */
export const recipientOf = (
  shopId: string,
  creatorId: string,
  event: WebhookEventName,
  reachable: Reachable[],
): string | null => {
  const own = reachable.filter(({ shop_id }) => shop_id === shopId);
  if (own.some(({ id }) => id === creatorId)) return creatorId;
  return event.startsWith('trade_return.') ? (own[0]?.id ?? null) : null;
};
