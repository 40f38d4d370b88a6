import { describe, expect } from 'vitest';
import { changeClient, createClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeDangerousGoods, changeShop } from '../../src/shops/actions.ts';
import { newPerson, PASSWORD, type Person, signInAs } from '../support/admin.ts';
import { expectError, ISO, rulesOf, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { cli, lookInto, migratedDatabase } from '../support/process.ts';

const it = itWith(sharedHarness());

interface Entry {
  id: string;
  at: string;
  actor: object;
  action: string;
  subject: { type: string; id: string; name: string };
  data: object;
  address: string | null;
}

/** What was written since the person's shop and the person were made, oldest first. */
const entriesSince = async (person: Person, before: number): Promise<Entry[]> => {
  const { body } = await person.get('/audit-log?limit=100');
  return body.items.toReversed().slice(before);
};
const count = async (person: Person): Promise<number> => (await person.get('/audit-log')).body.total;
const told = ({ action, actor, subject, data }: Entry) => ({ action, actor, subject, data });

const operator = { type: 'SYSTEM', id: null, name: 'operator' };
const as = ({ id, email }: Person) => ({ type: 'USER', id, name: email });

/** Runs a change and gives the entries it left; a moment later, so that entries have an order. */
const written = async (t: Harness, reader: Person, change: () => Promise<unknown>): Promise<Entry[]> => {
  const before = await count(reader);
  t.clock.advance(5);
  await change();
  return entriesSince(reader, before);
};

describe('the audit log', () => {
  it('has every change of a user, with the actor and without passwords', async ({ t, admin }) => {
    const email = 'grace@example.com';
    const log = async (change: () => Promise<unknown>) => (await written(t, admin, change)).map(told);
    let id = '';
    const actor = as(admin);
    const subject = () => ({ type: 'USER', id, name: email });
    expect(
      await log(async () => {
        id = (await admin.post('/users', { email, role: 'STAFF', password: PASSWORD })).body.id;
      }),
    ).toEqual([
      {
        action: 'USER_CREATED',
        actor,
        subject: { ...subject(), id: expect.stringMatching(UUID7) },
        data: { role: 'STAFF' },
      },
    ]);
    const patch = (body: unknown) => () => admin.patch(`/users/${id}`, body);
    const change = (data: object, name = email) => [
      { action: 'USER_CHANGED', actor, subject: { ...subject(), name }, data },
    ];
    expect(await log(patch({ role: 'ADMIN' }))).toEqual(change({ role: { from: 'STAFF', to: 'ADMIN' } }));
    expect(await log(patch({ password: 'set by the admin' }))).toEqual(change({ passwordChanged: true }));
    expect(
      await log(patch({ email: 'Hopper@example.com', role: 'STAFF', password: 'one more password' })),
    ).toEqual(
      change(
        {
          email: { from: email, to: 'hopper@example.com' },
          role: { from: 'ADMIN', to: 'STAFF' },
          passwordChanged: true,
        },
        'hopper@example.com',
      ),
    );
    expect(await log(patch({ role: 'STAFF', email: 'HOPPER@example.com' }))).toEqual([]);
    expect(await log(patch({}))).toEqual([]);
    expect(await log(() => admin.delete(`/users/${id}`))).toEqual([
      {
        action: 'USER_REMOVED',
        actor,
        subject: { type: 'USER', id, name: 'hopper@example.com' },
        data: { role: 'STAFF' },
      },
    ]);
    const all = JSON.stringify(await t.ctx.db.selectFrom('audit_log').selectAll().execute());
    for (const secret of [PASSWORD, 'set by the admin', 'one more password', 'argon2'])
      expect(all).not.toContain(secret);
  });

  it('has changes of the own password, and failed ones', async ({ t, admin, staff }) => {
    const put = (currentPassword: string) => () =>
      staff.put('/session/password', { currentPassword, newPassword: 'a better password' });
    const failed = await written(t, admin, put('not mine'));
    expect(failed.map(({ action }) => action)).toEqual(['PROOF_REFUSED']);
    expect((await written(t, admin, put(PASSWORD))).map(told)).toEqual([
      {
        action: 'USER_CHANGED',
        actor: as(staff),
        subject: { type: 'USER', id: staff.id, name: staff.email },
        data: { passwordChanged: true },
      },
    ]);
  });

  it('has sign-ins, but neither sign-outs, reads nor what was refused', async ({ t, admin, staff }) => {
    const entries = await written(t, admin, async () => {
      const again = await signInAs(t, staff);
      await again.delete('/session');
      await admin.get('/users');
      await admin.patch(`/users/${admin.id}`, { role: 'STAFF' });
      await admin.delete(`/users/${UNKNOWN_ID}`);
      await admin.post('/users', { email: staff.email, role: 'STAFF', password: PASSWORD });
      await staff.put('/dangerous-goods', { rules: ['ACID'] });
      await admin.put('/dangerous-goods', { rules: [''] });
    });
    expect(entries).toMatchObject([
      { action: 'SIGNED_IN', actor: as(staff), subject: { id: staff.id }, data: {} },
    ]);
    expect(entries[0]?.address).toMatch(/^172\./);
  });

  it('tells of exports: who, how many of what, and from where', async ({ t, admin, staff }) => {
    const entries = await written(t, admin, async () => {
      expect((await staff.post('/exports', { kind: 'TRADE_RETURN', count: 17 })).status).toBe(204);
      expect(rulesOf(await staff.post('/exports', { kind: 'OTHER', count: -1 }))).toMatchObject({
        kind: 'oneOf',
        count: 'min',
      });
    });
    expect(entries).toMatchObject([
      {
        action: 'EXPORTED',
        actor: as(staff),
        subject: { type: 'SHOP', id: t.shop.id },
        data: { kind: 'TRADE_RETURN', count: 17 },
        address: expect.stringMatching(/^172\./),
      },
    ]);
  });

  it('tells of rules, clients and the shop, whoever changes them', async ({ t, admin }) => {
    const log = async (change: () => Promise<unknown>) => (await written(t, admin, change)).map(told);
    const shop = { type: 'SHOP', id: t.shop.id, name: t.shop.name };

    expect(await log(() => admin.put('/dangerous-goods', { rules: ['ACID', 'LI-*'] }))).toEqual([
      {
        action: 'DANGEROUS_GOODS_CHANGED',
        actor: as(admin),
        subject: shop,
        data: { added: ['ACID', 'LI-*'], removed: [] },
      },
    ]);
    expect(await log(() => admin.put('/dangerous-goods', { rules: ['LI-*', 'ACID', 'ACID'] }))).toEqual([]);
    expect(
      await log(() => changeDangerousGoods(t.ctx, OPERATOR, t.shop.id, { add: ['GAS-*'], remove: ['ACID'] })),
    ).toEqual([
      {
        action: 'DANGEROUS_GOODS_CHANGED',
        actor: operator,
        subject: shop,
        data: { added: ['GAS-*'], removed: ['ACID'] },
      },
    ]);

    const { client } = t;
    const subject = { type: 'CLIENT', id: client.id, name: 'Till' };
    const webhookUrl = 'https://hooks.example.com/handback';
    const erp = { shopId: t.shop.id, name: 'ERP', webhookUrl };
    expect(await log(() => createClient(t.ctx, OPERATOR, erp))).toEqual([
      {
        action: 'CLIENT_CREATED',
        actor: operator,
        subject: { type: 'CLIENT', id: expect.stringMatching(UUID7), name: 'ERP' },
        data: { webhookUrl },
      },
    ]);
    expect(await log(() => changeClient(t.ctx, as(admin) as never, client.id, { webhookUrl }))).toEqual([
      {
        action: 'CLIENT_CHANGED',
        actor: as(admin),
        subject,
        data: { webhookUrl: { from: null, to: webhookUrl } },
      },
    ]);
    expect(await log(() => changeClient(t.ctx, OPERATOR, client.id, { webhookUrl, name: 'Till' }))).toEqual(
      [],
    );
    expect(await log(() => revokeClient(t.ctx, OPERATOR, client))).toEqual([
      { action: 'CLIENT_REVOKED', actor: operator, subject, data: {} },
    ]);
    expect(await log(() => revokeClient(t.ctx, OPERATOR, client))).toEqual([]);

    expect(await log(() => changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'ENTERPRISE' }))).toEqual([
      {
        action: 'SHOP_CHANGED',
        actor: operator,
        subject: shop,
        data: {
          plan: { from: 'SCALE', to: 'ENTERPRISE' },
          billing: { from: 'ALLOWANCE', to: 'USAGE' },
          limit: { from: 2000, to: null },
        },
      },
    ]);
    expect(
      await log(() =>
        changeShop(t.ctx, OPERATOR, t.shop.id, { subscription: 'inactive', plan: 'ENTERPRISE' }),
      ),
    ).toEqual([
      {
        action: 'SHOP_CHANGED',
        actor: operator,
        subject: shop,
        data: { subscription: { from: 'active', to: 'inactive' } },
      },
    ]);
    expect(await log(() => changeShop(t.ctx, OPERATOR, t.shop.id, {}))).toEqual([]);
    const all = JSON.stringify(await t.ctx.db.selectFrom('audit_log').selectAll().execute());
    for (const secret of [client.apiKey, client.webhookSecret]) expect(all).not.toContain(secret);
  });

  it('is read newest first, page by page, with who, what and when', async ({ t, admin }) => {
    for (let i = 0; i < 5; i += 1) {
      t.clock.advance(5);
      await admin.put('/dangerous-goods', { rules: [`RULE-${i}`] });
    }
    const { body } = await admin.get('/audit-log?limit=3');
    expect(body).toMatchObject({ page: 1, limit: 3, total: 9, totalPages: 3 });
    expect(body.items.map((entry: { data: { added: string[] } }) => entry.data.added[0])).toEqual([
      'RULE-4',
      'RULE-3',
      'RULE-2',
    ]);
    expect(Object.keys(body.items[0]).sort()).toEqual([
      ...['action', 'actor', 'address', 'at', 'data', 'id', 'subject'],
    ]);
    expect(body.items[0].id).toMatch(UUID7);
    expect(body.items[0].at).toMatch(ISO);
    const last = (await admin.get('/audit-log?limit=3&page=3')).body.items;
    expect(last.map(({ action }: Entry) => action)).toContain('SHOP_CREATED');
    expect(body.items[0].address).toMatch(/^172\./);
    expect((await admin.get('/audit-log?page=4&limit=3')).body.items).toEqual([]);
    expect(rulesOf(await admin.get('/audit-log?page=0&action=x'))).toEqual({
      page: 'min',
      action: 'unknown',
    });
  });

  it('is for Admins, of their own shop', async ({ t, admin, staff }) => {
    const { shop } = await t.addShop();
    const stranger = await newPerson(t, { shop });
    await admin.put('/dangerous-goods', { rules: ['ACID'] });
    expectError(await staff.get('/audit-log'), 403, 'ADMIN_REQUIRED');
    const seen = JSON.stringify((await stranger.get('/audit-log?limit=100')).body);
    for (const own of [t.shop.id, admin.email, 'ACID']) expect(seen).not.toContain(own);
    expect(seen).toContain(shop.id);
  });

  it('keeps the names of people who are gone', async ({ t, admin }) => {
    const other = await newPerson(t);
    await other.put('/dangerous-goods', { rules: ['ACID'] });
    await admin.delete(`/users/${other.id}`);
    const { items } = (await admin.get('/audit-log?limit=100')).body;
    expect(items.some((entry: Entry) => 'name' in entry.actor && entry.actor.name === other.email)).toBe(
      true,
    );
  });
});

it('the command line leaves its changes in the log, as the operator', async () => {
  const env = await migratedDatabase();
  const { id: shop } = await cli(['shop', 'create', '--name', 'Shop'], env);
  await cli(['shop', 'update', shop, '--plan', 'GROWTH'], env);
  await cli(['shop', 'dangerous', shop, '--add', 'ACID'], env);
  await cli(['shop', 'dangerous', shop], env);
  const user = ['user', 'create', '--shop', shop, '--email', 'ada@example.com', '--role', 'ADMIN'];
  await cli([...user, '--password', PASSWORD], env);
  const { id: client } = await cli(['client', 'create', '--shop', shop, '--name', 'Till'], env);
  await cli(['client', 'update', client, '--name', 'Desk'], env);
  await cli(['client', 'update', client], env);
  const { id: next } = await cli(['client', 'replace', client], env);
  await cli(['client', 'revoke', next], env);
  const rows = await lookInto(env).selectFrom('audit_log').selectAll().orderBy('at').execute();
  expect(rows.map(({ action }) => action)).toEqual([
    'SHOP_CREATED',
    'SHOP_CHANGED',
    'DANGEROUS_GOODS_CHANGED',
    'USER_CREATED',
    'CLIENT_CREATED',
    'CLIENT_CHANGED',
    'CLIENT_REPLACED',
    'CLIENT_REVOKED',
  ]);
  for (const row of rows)
    expect(row).toMatchObject({
      shop_id: shop,
      actor_type: 'SYSTEM',
      actor_id: null,
      actor_name: 'operator',
    });
  expect(JSON.stringify(rows)).not.toContain(PASSWORD);
});
