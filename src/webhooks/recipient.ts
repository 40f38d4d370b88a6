import type { WebhookEventName } from '../../contract/webhook-event.ts';
import type { Trx } from '../db/database.ts';

/**
 * Who receives an event, as a query of one client or none: the client that created the RMA, if it is active and has a URL;
 * otherwise, for a trade return only, the shop's oldest active client that has one.
 */
export const recipientOf = (trx: Trx, shopId: string, creatorId: string, event: WebhookEventName) => {
  const reachable = trx
    .selectFrom('api_clients as client')
    .where('client.shop_id', '=', shopId)
    .where('client.revoked_at', 'is', null)
    .where('client.webhook_url', 'is not', null);
  if (!event.startsWith('trade_return.')) return reachable.where('client.id', '=', creatorId);
  return reachable
    .orderBy((client) =>
      client.case().when('client.id', '=', creatorId).then(client.lit(0)).else(client.lit(1)).end(),
    )
    .orderBy('client.created_at')
    .orderBy('client.id')
    .limit(1);
};
