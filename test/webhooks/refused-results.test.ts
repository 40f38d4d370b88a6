import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ENGINE } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

/** From now on the database refuses every change of this delivery. */
const refuseChangesOf = async ({ ctx: { db } }: WebhookHarness, deliveryId: string): Promise<void> => {
  const id = sql.lit(deliveryId);
  if (ENGINE === 'sqlite') {
    await sql`create trigger refused before update on webhook_deliveries when old.id = ${id}
      begin select raise(abort, 'refused'); end`.execute(db);
    return;
  }
  await sql`create function refuse() returns trigger language plpgsql as
    'begin raise exception ''refused''; end'`.execute(db);
  await sql`create trigger refused before update on webhook_deliveries for each row
    when (old.id = ${id}) execute function refuse()`.execute(db);
};

it('a result that the database refuses is given up alone, logged and counted; its receiver and all others go on', async () => {
  const [refused, other] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness({ sending: false });
  const [client, healthy] = [await t.addReceiver(refused.url), await t.addReceiver(other.url)];
  await t.create(client);
  const id = (await t.deliveries())[0]?.id as string;
  await refuseChangesOf(t, id);
  for (let i = 0; i < 5; i++) await t.create(healthy);
  const stop = await t.startSending();
  const waiting = async () => (await t.deliveries()).filter(({ status }) => status === 'PENDING');
  await until('all others are written down', async () => (await waiting()).length === 1);

  for (const each of [client, healthy]) for (let i = 0; i < 10; i++) await t.create(each);
  await until('those after it too', async () => (await waiting()).length === 1);
  expect(await waiting()).toMatchObject([{ id, attempts: 0 }]);
  // Sent once: what cannot be written down is not sent again and again.
  const sentIds = refused.received.map(({ headers }) => headers['x-webhook-id']);
  expect(sentIds.filter((each) => each === id)).toHaveLength(1);
  expect(sentIds).toHaveLength(11);
  const lines = t.logs.map((line) => JSON.parse(line)).filter(({ deliveryId }) => deliveryId === id);
  expect(lines).toMatchObject([{ level: 50, status: 'DELIVERED' }]);
  expect(await t.ctx.metrics.registry.metrics()).toMatch(/^handback_webhook_results_refused_total 1$/m);
  await stop();
  expect(await t.ctx.db.selectFrom('webhook_leases').select('client_id').execute()).toEqual([]);
});
