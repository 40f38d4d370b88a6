import { expect, it } from 'vitest';
import { newPerson } from '../support/admin.ts';
import { startReceiver } from '../support/receiver.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

// One bad row is one failed row: the others are sent, the process lives, and a stop works.

const droppedLines = (t: WebhookHarness) =>
  t.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'webhook dropped');

it.each([
  ['sealed with another key', Buffer.alloc(64, 7).toString('base64')],
  ['cut short', 'AAAA'],
  ['empty', ''],
])('a webhook secret that is %s fails its own deliveries alone', async (_how, sealed) => {
  const [healthy, other] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness({ sending: false });
  const broken = await t.addReceiver(other.url);
  const sound = await t.addReceiver(healthy.url);
  await t.ctx.db
    .updateTable('api_clients')
    .set({ webhook_secret: sealed } as never)
    .where('id', '=', broken.id)
    .execute();
  for (let i = 0; i < 3; i++) await t.create(broken);
  await t.create(sound);
  const stop = await t.startSending();
  await healthy.got(1);
  await t.drained();
  const rows = (await t.deliveries()).filter(({ client_id }) => client_id === broken.id);
  expect(rows).toMatchObject(
    Array(3).fill({ status: 'DROPPED', attempts: 0, reason: 'the webhook secret cannot be opened' }),
  );
  expect(other.received).toEqual([]);
  expect(droppedLines(t)).toHaveLength(3);
  expect(t.logs.join('')).not.toContain(broken.webhookSecret);
  await stop();
});

it('a delivery whose log of attempts cannot be read is dropped alone, and can still be looked at', async () => {
  const receiver = await startReceiver((n) => (n <= 2 ? 500 : 200));
  const t = await webhookHarness();
  const client = await t.addReceiver(receiver.url);
  await t.create(client);
  await t.create(client);
  await receiver.got(2);
  await t.attempted(1);
  const [bad] = await t.deliveries();
  await t.ctx.db
    .updateTable('webhook_deliveries')
    .set({ attempt_log: '[{"at":', body: '{"event":' } as never)
    .where('id', '=', bad?.id as string)
    .execute();
  t.advance(2_000);
  await t.drained();
  const rows = new Map((await t.deliveries()).map((row) => [row.id, row]));
  expect(rows.get(bad?.id as string)).toMatchObject({
    status: 'DROPPED',
    reason: 'its earlier attempts cannot be read',
  });
  expect([...rows.values()].filter(({ status }) => status === 'DELIVERED')).toHaveLength(1);
  const shown = await (await newPerson(t)).get(`/clients/${client.id}/deliveries`);
  expect([shown.status, shown.body.items.length]).toEqual([200, 2]);
});

it('a webhook URL that is none fails its attempts, not the process', async () => {
  const receiver = await startReceiver();
  const t = await webhookHarness();
  const client = await t.addReceiver('http://127.0.0.1:9/');
  await t.ctx.db
    .updateTable('api_clients')
    .set({ webhook_url: 'no address' })
    .where('id', '=', client.id)
    .execute();
  await t.create(client);
  const tried = await t.attempted(1);
  expect(JSON.parse(tried.attempt_log)).toMatchObject([{ statusCode: null, error: expect.any(String) }]);
  await t.create(await t.addReceiver(receiver.url));
  await receiver.got(1);
});
