import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { WEBHOOK_EVENT_DATA, type WebhookEventName } from '../../contract/webhook-event.ts';
import { changeClient, revokeClient } from '../../src/api-clients/actions.ts';
import type { Caller } from '../../src/caller.ts';
import { OPERATOR } from '../../src/caller.ts';
import { createOfflineRepair, moveOfflineRepair } from '../../src/offline-repairs/actions.ts';
import { repairBody } from '../support/bodies.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookHarness } from '../support/webhooks.ts';

const COMMON = ['id', 'rmaNumber', 'externalRef', 'externalSource', 'status'];

describe('the events of a repair', () => {
  it('are fired once per call, with the data the contract names', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    const repair = await t.create(client, { externalRef: 'POS-1', externalSource: 'till-4' });
    const key = { key: client.apiKey };
    await t.post(`/offline-repairs/${repair.id}/tracking`, { trackingNumber: 'T1', carrierName: 'DHL' }, key);
    await t.post(`/offline-repairs/${repair.id}/begin-diagnostics`, { notes: 'n' }, key);
    await t.post(`/offline-repairs/${repair.id}/begin-repair`, { assignedToId: 'tech-1' }, key);
    await t.post(`/offline-repairs/${repair.id}/resolve`, { offlineDisposition: 'WRITE_OFF' }, key);
    await t.post(`/offline-repairs/${repair.id}/close`, undefined, key);
    await receiver.got(6);
    await t.drained();

    const inOrder = [...receiver.received].sort((a, b) => a.body.timestamp.localeCompare(b.body.timestamp));
    const common = {
      id: repair.id,
      rmaNumber: '#RMA-000001',
      externalRef: 'POS-1',
      externalSource: 'till-4',
    };
    expect(inOrder.map(({ body }) => body.event)).toEqual([
      'offline_repair.created',
      'offline_repair.tracking_uploaded',
      'offline_repair.status_changed',
      'offline_repair.status_changed',
      'offline_repair.disposition_set',
      'offline_repair.closed',
    ]);
    expect(inOrder.map(({ body }) => body.data)).toEqual([
      repair,
      { ...common, status: 'OFFLINE_DIAGNOSTICS', trackingNumber: 'T1', carrierName: 'DHL' },
      { ...common, status: 'OFFLINE_DIAGNOSTICS', previousStatus: 'OFFLINE_DIAGNOSTICS' },
      { ...common, status: 'OFFLINE_REPAIR', previousStatus: 'OFFLINE_DIAGNOSTICS', assignedToId: 'tech-1' },
      {
        ...common,
        status: 'OFFLINE_RESOLVED',
        previousStatus: 'OFFLINE_REPAIR',
        offlineDisposition: 'WRITE_OFF',
      },
      {
        ...common,
        status: 'OFFLINE_CLOSED',
        previousStatus: 'OFFLINE_RESOLVED',
        offlineDisposition: 'WRITE_OFF',
      },
    ]);
    for (const { body } of inOrder) {
      expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
      WEBHOOK_EVENT_DATA[body.event as WebhookEventName].parse(body.data);
      expect(Object.keys(body.data)).toEqual(expect.arrayContaining(COMMON));
    }
    const timestamps = inOrder.map(({ body }) => body.timestamp);
    expect(new Set(timestamps).size).toBe(6);
    expect(receiver.received).toHaveLength(6);
  });

  it('carry a signature of the exact bytes and the headers of the contract', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await t.create(client, { customerName: 'Zoë Ångström 👩‍🔧', faultDescription: 'défaut\n"cité" \u2028' });
    const [one] = await receiver.got(1);
    expect(one?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Handback\/\d+\.\d+\.\d+$/),
      'x-webhook-signature': createHmac('sha256', client.webhookSecret)
        .update(one?.bytes ?? '')
        .digest('hex'),
      'x-webhook-event': 'offline_repair.created',
      'x-webhook-attempt': '1',
      'x-webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('tell of tracking given at creation within `created` alone', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    await t.create(client, { tracking: { trackingNumber: 'T1', carrierName: 'DHL' } });
    await receiver.got(1);
    expect(await t.deliveries()).toHaveLength(1);
    expect(receiver.received[0]?.body.data).toMatchObject({ trackingNumber: 'T1', carrierName: 'DHL' });
  });

  it('have strictly rising timestamps also when moves run side by side', async () => {
    const receiver = await startReceiver();
    const t = await webhookHarness();
    const client = await t.addReceiver(receiver.url);
    const { id } = await t.create(client);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        t.post(`/offline-repairs/${id}/close`, undefined, { key: client.apiKey }),
      ),
    );
    await receiver.got(21);
    expect(new Set(receiver.received.map(({ body }) => body.timestamp)).size).toBe(21);
  });
});

describe('no event is written', () => {
  const asStaff = (shop: Caller['shop']): Caller => ({
    shop,
    actor: { type: 'USER', id: null, name: 'Sam' },
  });

  it('for a repair that staff made', async () => {
    const t = await webhookHarness({ sending: false });
    await t.addReceiver('http://127.0.0.1:9/');
    const staff = asStaff(t.shop);
    const { answer } = await createOfflineRepair(t.ctx, staff, CreateOfflineRepair.parse(repairBody()));
    await moveOfflineRepair(t.ctx, staff, answer.id, 'close', {});
    expect(await t.deliveries()).toEqual([]);
  });

  it('while the plan lacks the API', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver('http://127.0.0.1:9/');
    const { id } = await t.create(client);
    await moveOfflineRepair(t.ctx, asStaff({ ...t.shop, plan: 'GROWTH' }), id, 'close', {});
    expect((await t.deliveries()).map(({ event }) => event)).toEqual(['offline_repair.created']);
  });

  it('when the client that made the repair has no URL, though others have', async () => {
    const t = await webhookHarness({ sending: false });
    await t.addReceiver('http://127.0.0.1:9/');
    await t.create(t.client);
    expect(await t.deliveries()).toEqual([]);
  });

  it('when the client that made the repair is revoked, or its URL is gone', async () => {
    const t = await webhookHarness({ sending: false });
    const [revoked, silent] = [
      await t.addReceiver('http://127.0.0.1:9/'),
      await t.addReceiver('http://127.0.0.1:9/'),
    ];
    const [one, other] = [await t.create(revoked), await t.create(silent)];
    await revokeClient(t.ctx, OPERATOR, revoked);
    await changeClient(t.ctx, OPERATOR, silent.id, { webhookUrl: null });
    await t.post(`/offline-repairs/${one.id}/close`);
    await t.post(`/offline-repairs/${other.id}/close`);
    expect((await t.deliveries()).map(({ event }) => event)).toEqual([
      'offline_repair.created',
      'offline_repair.created',
    ]);
  });

  it('when the change itself is refused', async () => {
    const t = await webhookHarness({ sending: false });
    const client = await t.addReceiver('http://127.0.0.1:9/');
    const { id } = await t.create(client);
    expect((await t.post(`/offline-repairs/${id}/resolve`, {}, { key: client.apiKey })).status).toBe(400);
    expect(await t.deliveries()).toHaveLength(1);
  });
});

it('goes to the client that made the repair, also when another one moves it', async () => {
  const [mine, theirs] = [await startReceiver(), await startReceiver()];
  const t = await webhookHarness();
  const [maker, mover] = [await t.addReceiver(mine.url), await t.addReceiver(theirs.url)];
  const { id } = await t.create(maker);
  await t.post(`/offline-repairs/${id}/close`, undefined, { key: mover.apiKey });
  await mine.got(2);
  expect(theirs.received).toEqual([]);
});
