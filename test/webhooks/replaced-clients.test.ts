// engines: sqlite, postgres

import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { CreateOfflineRepair } from '../../contract/offline-repair.ts';
import { type NewApiClient, replaceClient, revokeClient } from '../../src/api-clients/actions.ts';
import { createAuthenticate } from '../../src/api-clients/authenticate.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { offlineRepairs } from '../../src/returns/actions.ts';
import { newTradeReturn, staffOf } from '../support/api.ts';
import { repairBody } from '../support/bodies.ts';
import { itWith } from '../support/fixtures.ts';
import { startReceiver, type TestReceiver } from '../support/receiver.ts';
import { moveThrough } from '../support/trade-moves.ts';
import { until, untilHolds } from '../support/until.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const it = itWith(() => webhookHarness({ sending: false }));

const NOWHERE = 'http://127.0.0.1:9/';

const replace = (t: WebhookHarness, client: NewApiClient, webhookUrl?: string | null) =>
  replaceClient(t.ctx, OPERATOR, client, webhookUrl === undefined ? {} : { webhookUrl });
const close = (t: WebhookHarness, id: string, { apiKey }: NewApiClient) =>
  t.post(`/offline-repairs/${id}/close`, undefined, { key: apiKey });
const eventsAt = ({ received }: TestReceiver) => received.map(({ body }) => body.event);
const expectSignedBy = ({ received }: TestReceiver, { webhookSecret }: NewApiClient) => {
  for (const { bytes, headers } of received)
    expect(headers['x-webhook-signature']).toBe(
      createHmac('sha256', webhookSecret).update(bytes).digest('hex'),
    );
};
/** A receiver whose answers wait for the test. */
const hangingReceiver = async () => {
  const open: ServerResponse[] = [];
  const receiver = await startReceiver((_n, response) => void open.push(response));
  return { ...receiver, response: (status: number) => open.shift()?.writeHead(status).end() };
};

describe('events of RMAs that a replaced client created', () => {
  it('go to the new client with its secret, also those that are waiting', async ({ sending: t }) => {
    const [old, next] = [await startReceiver(() => 500), await startReceiver()];
    t.clock.hold();
    const client = await t.addReceiver(old.url);
    const repair = await t.create(client);
    const before = await t.attempted(1);
    const replacement = await replace(t, client, next.url);
    expect(await t.deliveries()).toMatchObject([
      { id: before.id, receiver_id: client.id, attempts: 1, due_at: before.due_at, status: 'PENDING' },
    ]);
    expect(await close(t, repair.id, replacement)).toHaveStatus(200);
    await next.got(1);
    t.advance(1_000);
    await t.drained();
    expect(eventsAt(next)).toEqual(['offline_repair.closed', 'offline_repair.created']);
    expect(next.received[1]?.headers).toMatchObject({ 'x-webhook-id': before.id, 'x-webhook-attempt': '2' });
    expectSignedBy(next, replacement);
    expect(old.received).toHaveLength(1);
  });

  it('go to the last of several replacements, also for changes by others', async ({ sending: t }) => {
    const next = await startReceiver();
    const first = await t.addReceiver(NOWHERE);
    const made = [await newTradeReturn(t, {}, { key: first.apiKey }), await t.create(first)];
    const second = await replace(t, first);
    made.push(await t.create(second));
    const third = await replace(t, second, next.url);
    await moveThrough(t, made[0].id, ['approve'], staffOf(t));
    for (const { id } of made.slice(1)) await close(t, id, t.client);
    await t.drained();
    await next.got(6);
    expectSignedBy(next, third);
    expect(new Set(next.received.map(({ body }) => body.data.id))).toEqual(new Set(made.map(({ id }) => id)));
    expect((await t.deliveries()).map(({ receiver_id, status }) => [receiver_id, status])).toEqual(
      Array.from({ length: 6 }, () => [first.id, 'DELIVERED']),
    );
  });

  it('are not sent, or go to the oldest client, once the replacement has no URL', async ({ t }) => {
    const [client, silenced] = [await t.addReceiver(NOWHERE), await t.addReceiver(NOWHERE)];
    const oldest = await t.addReceiver(NOWHERE);
    const creators = [client, silenced];
    const repairs = await Promise.all(creators.map((each) => t.create(each)));
    const returns = await Promise.all(creators.map(({ apiKey: key }) => newTradeReturn(t, {}, { key })));
    await revokeClient(t.ctx, OPERATOR, await replace(t, client));
    await replace(t, silenced, null);
    await t.ctx.db.deleteFrom('webhook_deliveries').execute();
    for (const { id } of repairs) await close(t, id, t.client);
    for (const { id } of returns) await moveThrough(t, id, ['approve'], staffOf(t));
    const expected = [oldest.id, 'trade_return.status_changed'];
    expect((await t.deliveries()).map(({ receiver_id, event }) => [receiver_id, event])).toEqual([
      expected,
      expected,
    ]);
  });

  it('never go to another shop, and a replacement does not affect other clients', async ({ t }) => {
    const elsewhere = (await t.addShop()).shop;
    const [client, other] = [await t.addReceiver(NOWHERE), await t.addReceiver(NOWHERE)];
    const stranger = await t.addReceiver(NOWHERE, elsewhere.id);
    for (const each of [client, other, stranger]) await t.create(each);
    await replace(t, client);
    expect((await t.deliveries()).map(({ receiver_id }) => receiver_id).sort()).toEqual(
      [client.id, other.id, stranger.id].sort(),
    );
  });
});

describe('while a client is being replaced', () => {
  it('a creation that started with the old key and commits later is handed over', async ({ sending: t }) => {
    const [old, next] = [await startReceiver(), await startReceiver()];
    const client = await t.addReceiver(old.url);
    const caller = await createAuthenticate(t.ctx)({ 'x-api-key': client.apiKey });
    const replacement = await replace(t, client, next.url);
    const body = CreateOfflineRepair.parse(repairBody());
    const { body: repair } = await offlineRepairs.create(t.ctx, caller, body);
    await next.got(1);
    await t.drained();
    expect(next.received[0]?.body.data.id).toBe(repair.id);
    expectSignedBy(next, replacement);
    expect(old.received).toEqual([]);
    expect(await t.deliveries()).toMatchObject([{ status: 'DELIVERED', attempts: 1 }]);
  });

  it.each([
    ['fails, and the next one goes to the new client', 500, 2],
    ['is acknowledged, and the new client gets nothing', 200, 1],
  ])('an attempt in flight counts once: it %s', async (_, status, attempts) => {
    const [old, next] = [await hangingReceiver(), await startReceiver()];
    const t = await webhookHarness();
    // Another dispatcher, which would send to the new client.
    await t.startSending();
    const client = await t.addReceiver(old.url);
    await t.create(client);
    await old.got(1);
    const replacement = await replace(t, client, next.url);
    // Something else for the new client goes through, so its queue was looked at.
    await t.create(replacement);
    await next.got(1);
    old.response(status);
    await until('the result is written down', async () =>
      (await t.deliveries()).every((row) => row.attempts === 1),
    );
    t.advance(1_000);
    await t.drained();
    expect((await t.deliveries()).map((row) => [row.receiver_id, row.status, row.attempts])).toEqual([
      [client.id, 'DELIVERED', attempts],
      [client.id, 'DELIVERED', 1],
    ]);
    expect(old.received).toHaveLength(1);
    expect(next.received).toHaveLength(attempts);
  });
});

describe('the deliveries of a client', () => {
  const shown = async (t: WebhookHarness, { apiKey }: NewApiClient) =>
    (await t.get('/deliveries', { key: apiKey })).body.items.map(
      ({ id, status }: { id: string; status: string }) => [id, status],
    );

  it('are those that ended while it was the current one, and what is pending', async ({ sending: t }) => {
    const receiver = await startReceiver((n) => (n === 2 ? 500 : 200));
    t.clock.hold();
    const client = await t.addReceiver(receiver.url);
    await t.create(client);
    await t.drained();
    const [ended] = await t.deliveries();
    t.clock.advance(10);
    await t.create(client);
    const pending = await untilHolds(
      'the second one was tried',
      async () => (await t.deliveries()).find(({ id }) => id !== ended?.id),
      (row) => row?.attempts === 1,
    );
    t.clock.advance(10);
    const overlap = { oldKeyUntil: t.ctx.clock.now() + DAY_MS };
    const replacement = await replaceClient(t.ctx, OPERATOR, client, overlap);
    expect(await shown(t, client)).toEqual([[ended?.id, 'DELIVERED']]);
    expect(await shown(t, replacement)).toEqual([[pending?.id, 'PENDING']]);
    for (const [id, status] of [
      [ended?.id, 200],
      [pending?.id, 404],
    ] as const)
      expect(await t.get(`/deliveries/${id}`, { key: client.apiKey })).toHaveStatus(status);
    t.advance(1_000);
    await t.drained();
    expect(await shown(t, client)).toEqual([[ended?.id, 'DELIVERED']]);
    expect(await shown(t, replacement)).toEqual([[pending?.id, 'DELIVERED']]);
  });
});

it('two clients cannot both be the current one of a receiver', async ({ t }) => {
  const client = await t.addReceiver(NOWHERE);
  const replacement = await replace(t, client);
  const damage = t.ctx.db.updateTable('api_clients').set({ replaced_by: null }).where('id', '=', client.id);
  await expect(damage.execute()).rejects.toThrow(/unique/i);
  expect(replacement.receiverId).toBe(client.receiverId);
});

const WRITERS = 8;
const REPAIRS_EACH = 12;
const REPLACEMENTS = 6;

it('concurrent writers lose no event while both clients are replaced, and no event has two ids', async ({
  sending: t,
}) => {
  const receivers = [await startReceiver(), await startReceiver()];
  const current: NewApiClient[] = [];
  for (const { url } of receivers) current.push(await t.addReceiver(url));
  const changed = new Set<string>();

  /** Tries again with the key of the day, as a program does that is given a new one. */
  const insist = async (which: number, path: string, body?: unknown) => {
    for (;;) {
      const response = await t.post(path, body, { key: (current[which] as NewApiClient).apiKey });
      if (response.status === 200 || response.status === 201) return response.body;
      expect(response).toHaveStatus(401);
    }
  };
  const write = async (writer: number) => {
    for (let i = 0; i < REPAIRS_EACH; i++) {
      const { id } = await insist((writer + i) % 2, '/offline-repairs', repairBody());
      changed.add(`offline_repair.created ${id}`);
      await insist(writer % 2, `/offline-repairs/${id}/close`);
      changed.add(`offline_repair.closed ${id}`);
    }
  };
  const replaceAll = async () => {
    for (let i = 0; i < REPLACEMENTS; i++) {
      const progress = ((i + 1) * WRITERS * REPAIRS_EACH * 2) / (REPLACEMENTS + 1);
      await until('the writers have come so far', () => changed.size >= progress);
      current[i % 2] = await replaceClient(t.ctx, OPERATOR, current[i % 2] as NewApiClient, {});
    }
  };
  await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), replaceAll()]);
  await t.drained(30_000);

  const received = receivers.flatMap((receiver) => receiver.received);
  const idsOf = new Map<string, Set<unknown>>();
  for (const { body, headers } of received) {
    const name = `${body.event} ${body.data.id}`;
    idsOf.set(name, (idsOf.get(name) ?? new Set()).add(headers['x-webhook-id']));
  }
  expect(new Set(idsOf.keys())).toEqual(changed);
  expect([...idsOf.values()].every(({ size }) => size === 1)).toBe(true);
  const rows = await t.deliveries();
  expect(rows).toHaveLength(changed.size);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['DELIVERED']));
  // Each went to the program whose client made the repair: its replacements have its URL.
  for (const [i, { received: own }] of receivers.entries())
    expect(own.length, `receiver ${i}`).toBeGreaterThanOrEqual(changed.size / 2);
});
