import { expect, it } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { sealWebhookSecret } from '../../src/webhooks/secret.ts';
import { addDeliveries, waitingDelivery } from '../support/delivery-rows.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { webhookHarness } from '../support/webhooks.ts';

const RECEIVERS = 3_000;
const AT_ONCE = 200;

it('an event of another receiver goes ahead of a backlog of thousands of receivers', async () => {
  const [many, other] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness({ sending: false });
  // Before the others: a shop may add no client beyond a hundred.
  const client = await t.addReceiver(other.url);
  const first = await t.addReceiver(many.url);
  const { db, secrets } = t.ctx;
  const row = await db
    .selectFrom('api_clients')
    .selectAll()
    .where('id', '=', first.id)
    .executeTakeFirstOrThrow();
  const now = t.ctx.clock.now();
  for (let i = 0; i < RECEIVERS; i += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, () => newId(now));
    const clients = ids.map((id) => ({
      ...row,
      id,
      key_hash: id,
      webhook_secret: sealWebhookSecret(secrets, id, 'whsec_of_a_test'),
    }));
    await db.insertInto('api_clients').values(clients).execute();
    await addDeliveries(
      t,
      ids.map((id) => waitingDelivery(id, now)),
    );
  }
  await t.startSending();
  await many.got(1);
  await t.create(client);
  await other.got(1);
  expect(many.received.length).toBeLessThan(RECEIVERS / 2);
  // And the backlog does not stand still: each receiver gets its own event, once.
  await until('all have come', () => many.received.length >= RECEIVERS, 60_000);
  await t.drained();
  expect(new Set(many.received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(RECEIVERS);
});
