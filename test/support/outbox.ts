import { createClient, type NewApiClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import type { Row } from '../../src/db/schema.ts';
import { deliveryBody } from '../../src/webhooks/queue.ts';
import type { Harness } from './harness.ts';

// Deliveries as they are written, for tests in which none is sent: they need no app of their own.

/** A client with a webhook URL, younger than those before it. */
export const addReceiver = (t: Harness, shopId = t.shop.id): Promise<NewApiClient> => {
  t.clock.advance(1000);
  return createClient(t.ctx, OPERATOR, { shopId, name: 'Receiver', webhookUrl: 'https://1.1.1.1/hook' });
};

/** All of them, oldest first. */
export const deliveriesIn = ({ ctx }: Harness) =>
  ctx.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .select(deliveryBody('webhook_deliveries').$castTo<string>().as('body'))
    .orderBy('created_at');

/** What waits for the clients of the test's shop, oldest first. */
export const deliveriesOf = (t: Harness): Promise<Row<'webhook_deliveries'>[]> =>
  deliveriesIn(t)
    .where('receiver_id', 'in', (of) =>
      of.selectFrom('api_clients').select('id').where('shop_id', '=', t.shop.id),
    )
    .execute();
