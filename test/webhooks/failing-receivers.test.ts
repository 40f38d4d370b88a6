// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import {
  changeClient,
  type NewApiClient,
  replaceClient,
  revokeClient,
} from '../../src/api-clients/actions.ts';
import { openContext } from '../../src/app/context.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { ReceiverFailures } from '../../src/webhooks/worker/failures.ts';
import { newPerson, newUser, type Person } from '../support/admin.ts';
import { itWith } from '../support/fixtures.ts';
import { ENGINE } from '../support/harness.ts';
import { type Behaviour, startReceiver } from '../support/receiver.ts';
import { mailServer } from '../support/smtp.ts';
import { until } from '../support/until.ts';
import { type WebhookHarness, webhookHarness } from '../support/webhooks.ts';

const it = itWith(() => webhookHarness({ sending: false }));

const MINUTE_MS = 60_000;
const PUBLIC_URL = 'https://returns.example.com';

const setUp = async (behaviour: Behaviour = () => 500) => {
  const mails = await mailServer();
  const t = await webhookHarness({ env: { ...mails.env, PUBLIC_URL } });
  const receiver = await startReceiver(behaviour);
  const client = await t.addReceiver(receiver.url);
  const admin = await newPerson(t);
  await newUser(t, { role: 'STAFF' });
  return { t, mails, receiver, client, admin };
};

const stateOf = async (t: WebhookHarness, { id }: { id: string }) =>
  (await t.ctx.db
    .selectFrom('webhook_failures')
    .selectAll()
    .where('receiver_id', '=', id)
    .executeTakeFirst()) ?? null;
/** A machine that is busy with other tests may refuse to count for a while. */
const noticesOf = async (admin: Person) => {
  const { body } = await until('the overview is there', async () => {
    const response = await admin.get('/overview');
    return response.status === 200 && response;
  });
  return body.failingReceivers;
};

/** Has so many deliveries fail four times each, by moving the clock; that takes a minute of its time. */
const drop = async (t: WebhookHarness, client: NewApiClient, count: number) => {
  const before = (await stateOf(t, client))?.failed_attempts ?? 0;
  for (let i = 0; i < count; i++) await t.create(client);
  for (let attempts = 1; attempts <= 4; attempts++) {
    await until(
      `attempt ${attempts} is counted`,
      async () => ((await stateOf(t, client))?.failed_attempts ?? 0) >= before + count * attempts,
    );
    t.advance(20_000);
  }
};
/** What any process may find out now. */
const check = (t: WebhookHarness) => new ReceiverFailures(t.ctx).check();

describe('a failing receiver', () => {
  it('causes one mail to each Admin and one notice after ten minutes, and another mail when it works again', async () => {
    const { t, mails, receiver, client, admin } = await setUp();
    await drop(t, client, 3);
    expect(await stateOf(t, client)).toMatchObject({
      failed_attempts: 12,
      dropped_deliveries: 3,
      last_error: 'status 500',
      notified_at: null,
    });
    await check(t);
    expect(await noticesOf(admin)).toEqual([]);
    t.advance(10 * MINUTE_MS);
    await until('the Admins are notified', async () => (await stateOf(t, client))?.notified_at);
    const [notice] = await noticesOf(admin);
    const { since } = (await stateOf(t, client)) ?? {};
    expect(notice).toEqual({
      clientId: client.id,
      name: 'Receiver',
      since: new Date(Number(since)).toISOString(),
      lastError: 'status 500',
    });
    const mail = await until('the mail comes', () => mails.received[0]);
    expect(mail.to).toEqual([admin.email]);
    const link = `${PUBLIC_URL}/admin/settings/external-api/${client.id}`;
    for (const words of ['webhooks of Receiver fail', 'status 500', link]) expect(mail.text).toContain(words);

    // It goes on failing: that is known.
    await drop(t, client, 1);
    t.advance(10 * MINUTE_MS);
    for (let i = 0; i < 3; i++) await check(t);
    expect(await noticesOf(admin)).toHaveLength(1);

    receiver.behave(() => 200);
    await t.create(client);
    await until('it works again', async () => (await stateOf(t, client)) === null);
    expect(await noticesOf(admin)).toEqual([]);
    const recovered = await until('the second mail comes', () => mails.received[1]);
    expect(recovered.text).toContain('webhooks of Receiver work again');
    await t.create(client);
    await t.drained();
    await check(t);
    expect(mails.received).toHaveLength(2);
    expect(await stateOf(t, client)).toBeNull();

    // From zero again.
    receiver.behave(() => 500);
    await drop(t, client, 1);
    expect(await stateOf(t, client)).toMatchObject({ failed_attempts: 4, dropped_deliveries: 1 });
  });

  it('starts without failures when its URL changes', async () => {
    const { t, receiver, client, admin } = await setUp();
    await drop(t, client, 3);
    t.advance(10 * MINUTE_MS);
    await until('it is failing', async () => (await noticesOf(admin)).length === 1);
    await admin.post('/session/proof', { password: admin.password });
    const patch = (body: object) => admin.patch(`/clients/${client.id}`, body);
    expect(await patch({ name: 'Renamed' })).toHaveStatus(200);
    expect(await stateOf(t, client)).not.toBeNull();
    expect(await patch({ webhookUrl: `${receiver.url}/other` })).toHaveStatus(200);
    expect(await stateOf(t, client)).toBeNull();
    expect(await noticesOf(admin)).toEqual([]);
  });

  it('is hidden from staff and from other shops', async () => {
    const { t, client, admin } = await setUp();
    await drop(t, client, 3);
    t.clock.advance(10 * MINUTE_MS);
    await check(t);
    expect(await noticesOf(admin)).toHaveLength(1);
    expect(await noticesOf(await newPerson(t, { role: 'STAFF' }))).toBeNull();
    expect(await noticesOf(await newPerson(t, { shop: (await t.addShop()).shop }))).toEqual([]);
  });

  it('causes one mail with two processes, and one when it works again', async () => {
    const { t, mails, receiver, client } = await setUp();
    await drop(t, client, 3);
    t.clock.advance(10 * MINUTE_MS);
    // Another process has a context, and so a mailer, of its own; on SQLite there is one.
    const other =
      ENGINE === 'postgres' ? await openContext(t.ctx.config, { clock: t.ctx.clock, log: t.ctx.log }) : t.ctx;
    const processes = [t.ctx, other, t.ctx, other].map((ctx) => new ReceiverFailures(ctx));
    await Promise.all(processes.map((each) => each.check()));
    await until('the mail comes', () => mails.received.length > 0);
    receiver.behave(() => 200);
    const stop = await t.startSending(other);
    await Promise.all([t.create(client), t.create(client), t.create(client)]);
    await t.drained();
    await until('it works again', async () => (await stateOf(t, client)) === null);
    await until('the second mail comes', () => mails.received.length > 1);
    await stop();
    if (other !== t.ctx) {
      await other.mail?.finish();
      await other.close();
    }
    await t.ctx.mail?.finish();
    expect(mails.received.map(({ text }) => /webhooks of Receiver (\w+)/.exec(text)?.[1])).toEqual([
      'fail',
      'work',
    ]);
  });
});

describe('the state of a receiver', () => {
  const row = (t: WebhookHarness, client: { id: string }, more = {}) =>
    t.ctx.db
      .insertInto('webhook_failures')
      .values({
        receiver_id: client.id,
        since: t.ctx.clock.now() - 10 * MINUTE_MS,
        failed_attempts: 10,
        dropped_deliveries: 0,
        last_error: 'connection refused (ECONNREFUSED)',
        notified_at: null,
        ...more,
      })
      .execute();
  const isFailing = async (t: WebhookHarness, client: { id: string }) => {
    await check(t);
    return (await stateOf(t, client))?.notified_at !== null;
  };

  it.for([
    [{}, true],
    [{ failed_attempts: 9 }, false],
    [{ failed_attempts: 3, dropped_deliveries: 3 }, true],
    [{ failed_attempts: 9, dropped_deliveries: 2 }, false],
  ] as const)('with %j is failing: %s', async ([more, expected], { t }) => {
    const client = await t.addReceiver('http://127.0.0.1:9/');
    await row(t, client, more);
    expect(await isFailing(t, client)).toBe(expected);
    expect(t.logs.filter((line) => line.includes('keeps failing'))).toHaveLength(expected ? 1 : 0);
  });

  it('is only kept while the client is active and has a URL', async ({ t, admin }) => {
    const figure = () => t.ctx.metrics.registry.getSingleMetricAsString('handback_webhook_receivers_failing');
    const before = await figure();
    const [revoked, without] = [
      await t.addReceiver('http://127.0.0.1:9/'),
      await t.addReceiver('http://127.0.0.1:9/'),
    ];
    await revokeClient(t.ctx, OPERATOR, revoked);
    await changeClient(t.ctx, OPERATOR, without.id, { webhookUrl: null });
    for (const client of [revoked, without]) {
      await row(t, client);
      expect(await isFailing(t, client)).toBe(false);
    }
    expect(await noticesOf(admin)).toEqual([]);
    expect(await figure()).toBe(before);
  });

  it('is taken over by the client that replaces it, without a second mail', async ({ t, admin }) => {
    const client = await t.addReceiver('http://127.0.0.1:9/');
    await row(t, client);
    expect(await isFailing(t, client)).toBe(true);
    const next = await replaceClient(t.ctx, OPERATOR, client, {});
    expect(await noticesOf(admin)).toMatchObject([{ clientId: next.id }]);
    await check(t);
    expect(t.logs.filter((line) => line.includes('keeps failing'))).toHaveLength(1);
  });
});

it('no failure state is read or written while deliveries succeed', async ({ sending: t }) => {
  const receiver = await startReceiver();
  const client = await t.addReceiver(receiver.url);
  const seen: string[] = [];
  const { executeQuery } = t.ctx.webhooks;
  t.ctx.webhooks.executeQuery = (query, ...more) => {
    seen.push('sql' in query ? String(query.sql) : '');
    return executeQuery.call(t.ctx.webhooks, query, ...more) as never;
  };
  for (let i = 0; i < 5; i++) await t.create(client);
  await t.drained();
  expect(seen.some((sql) => /update webhook_deliveries/.test(sql))).toBe(true);
  expect(seen.filter((sql) => /(insert into|delete from|update) "?webhook_failures/.test(sql))).toEqual([]);
});
