import { describe, expect } from 'vitest';
import { changeClient, createClient, revokeClient } from '../../src/api-clients/actions.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { changeDangerousGoods } from '../../src/shops/dangerous-goods.ts';
import { adminCaller, newPerson, PASSWORD, type Person, signInAs } from '../support/admin.ts';
import { ISO, rulesOf, UNKNOWN_ID, UUID7 } from '../support/api.ts';
import { cliHere } from '../support/commands-here.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { lookInto, migratedDatabase } from '../support/process.ts';
import { auditLog, pluck } from '../support/responses.ts';

const it = itWith(sharedHarness());

// test/faults/rows/17-private-values.test.ts tests that it contains no password, key or secret.

interface Entry {
  action: string;
  actor: object;
  subject: { type: string; id: string; name: string };
  data: object;
  address: string | null;
}

const operator = { type: 'SYSTEM', id: null, name: 'operator' };
const as = ({ id, email }: Person) => ({ type: 'USER', id, name: email });
const FROM_HERE = expect.stringMatching(/^172\./);

/** The audit entries of a change, oldest first; the clock moves on, so that entries have an order. */
const written = async (t: Harness, reader: Person, change: () => Promise<unknown>): Promise<Entry[]> => {
  const before = (await auditLog(reader)).length;
  t.clock.advance(5);
  await change();
  return (await auditLog(reader)).toReversed().slice(before);
};
const writtenBy = async (...parts: Parameters<typeof written>) =>
  (await written(...parts)).map(({ action, actor, subject, data }) => ({ action, actor, subject, data }));

describe('the audit log', () => {
  it('contains every change of a user, with the actor', async ({ t, admin }) => {
    const actor = as(admin);
    const [email, next] = ['grace@example.com', 'hopper@example.com'];
    let id = '';
    const create = async () => {
      id = (await admin.post('/users', { email, role: 'STAFF', password: PASSWORD })).body.id;
    };
    const created = await writtenBy(t, admin, create);
    const subject = { type: 'USER', id, name: email };
    expect(created).toEqual([{ action: 'USER_CREATED', actor, subject, data: { role: 'STAFF' } }]);

    const renamed = { ...subject, name: next };
    for (const [body, data, name] of [
      [{ role: 'ADMIN' }, { role: { from: 'STAFF', to: 'ADMIN' } }, subject],
      [{ password: 'set by the admin' }, { passwordChanged: true }, subject],
      [
        { email: 'Hopper@example.com', role: 'STAFF', password: 'one more password' },
        { email: { from: email, to: next }, role: { from: 'ADMIN', to: 'STAFF' }, passwordChanged: true },
        renamed,
      ],
    ])
      expect(await writtenBy(t, admin, () => admin.patch(`/users/${id}`, body))).toEqual([
        { action: 'USER_CHANGED', actor, subject: name, data },
      ]);
    for (const nothing of [{ role: 'STAFF', email: 'HOPPER@example.com' }, {}])
      expect(await writtenBy(t, admin, () => admin.patch(`/users/${id}`, nothing))).toEqual([]);
    expect(await writtenBy(t, admin, () => admin.delete(`/users/${id}`))).toEqual([
      { action: 'USER_REMOVED', actor, subject: renamed, data: { role: 'STAFF' } },
    ]);
  });

  it("contains changes and failed changes of one's own password", async ({ t, admin, staff }) => {
    const put = (currentPassword: string) => () =>
      staff.put('/session/password', { currentPassword, newPassword: 'a better password' });
    expect(await written(t, admin, put('not mine'))).toMatchObject([{ action: 'PROOF_REFUSED' }]);
    const subject = { type: 'USER', id: staff.id, name: staff.email };
    expect(await writtenBy(t, admin, put(PASSWORD))).toEqual([
      { action: 'USER_CHANGED', actor: as(staff), subject, data: { passwordChanged: true } },
    ]);
  });

  it('contains sign-ins, but no sign-outs, reads or refused changes', async ({ t, admin, staff }) => {
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
    const subject = { id: staff.id };
    expect(entries).toMatchObject([
      { action: 'SIGNED_IN', actor: as(staff), subject, data: { count: 1 }, address: FROM_HERE },
    ]);
  });

  it('has one entry for the sign-ins of a person from an address within 15 minutes', async ({
    t,
    admin,
    staff,
  }) => {
    const { email, password } = staff;
    const entries = await written(t, admin, async () => {
      for (let i = 0; i < 2; i += 1)
        expect(
          await adminCaller(t).post('/session', { email, password }, { ip: '198.51.100.7' }),
        ).toHaveStatus(200);
    });
    expect(entries).toMatchObject([{ action: 'SIGNED_IN', actor: as(staff), data: { count: 2 } }]);
  });

  it('contains exports: by whom, how many of which kind, and from which address', async ({
    t,
    admin,
    staff,
  }) => {
    const entries = await written(t, admin, async () => {
      expect(await staff.post('/exports', { kind: 'TRADE_RETURN', count: 17 })).toHaveStatus(204);
      const wrong = await staff.post('/exports', { kind: 'OTHER', count: -1 });
      expect(rulesOf(wrong)).toMatchObject({ kind: 'oneOf', count: 'min' });
    });
    const subject = { type: 'SHOP', id: t.shop.id };
    const data = { kind: 'TRADE_RETURN', count: 17 };
    expect(entries).toMatchObject([
      { action: 'EXPORTED', actor: as(staff), subject, data, address: FROM_HERE },
    ]);
  });

  it('contains changes of rules by Admins and the operator', async ({ t, admin }) => {
    const subject = { type: 'SHOP', id: t.shop.id, name: t.shop.name };
    const action = 'DANGEROUS_GOODS_CHANGED';
    const put = (...rules: string[]) => writtenBy(t, admin, () => admin.put('/dangerous-goods', { rules }));
    expect(await put('ACID', 'LI-*')).toEqual([
      { action, actor: as(admin), subject, data: { added: ['ACID', 'LI-*'], removed: [] } },
    ]);
    expect(await put('LI-*', 'ACID', 'ACID')).toEqual([]);
    // Only the first fifty rules and the count: 1,000 rules before and after would be 250 KB for two years.
    const long = (letter: string) => Array.from({ length: 1000 }, (_, i) => `${letter}-${1000 + i}`);
    await put('ACID', 'LI-*', ...long('A').slice(2));
    const [entry] = await put('ACID', 'LI-*', ...long('B').slice(2));
    const data = entry?.data as Record<string, string[]>;
    expect([data['added']?.length, data['removed']?.length]).toEqual([50, 50]);
    expect(data).toMatchObject({ addedInAll: 998, removedInAll: 998 });
    expect(data['added']?.[0]).toBe('B-1002');
    await put('ACID', 'LI-*');
    const change = { add: ['GAS-*'], remove: ['ACID'] };
    expect(await writtenBy(t, admin, () => changeDangerousGoods(t.ctx, OPERATOR, t.shop.id, change))).toEqual(
      [{ action, actor: operator, subject, data: { added: ['GAS-*'], removed: ['ACID'] } }],
    );
  });

  it('contains changes of clients', async ({ t, admin }) => {
    const { client } = t;
    const log = (change: () => Promise<unknown>) => writtenBy(t, admin, change);
    const subject = { type: 'CLIENT', id: client.id, name: 'Till' };
    const webhookUrl = 'https://hooks.example.com/handback';
    const created = await log(() =>
      createClient(t.ctx, OPERATOR, { shopId: t.shop.id, name: 'ERP', webhookUrl }),
    );
    const erp = { type: 'CLIENT', id: expect.stringMatching(UUID7), name: 'ERP' };
    expect(created).toEqual([
      { action: 'CLIENT_CREATED', actor: operator, subject: erp, data: { webhookUrl } },
    ]);
    const data = { webhookUrl: { from: null, to: webhookUrl } };
    expect(await log(() => changeClient(t.ctx, as(admin) as never, client.id, { webhookUrl }))).toEqual([
      { action: 'CLIENT_CHANGED', actor: as(admin), subject, data },
    ]);
    const same = { webhookUrl, name: 'Till' };
    expect(await log(() => changeClient(t.ctx, OPERATOR, client.id, same))).toEqual([]);
    expect(await log(() => revokeClient(t.ctx, OPERATOR, client))).toEqual([
      { action: 'CLIENT_REVOKED', actor: operator, subject, data: {} },
    ]);
    expect(await log(() => revokeClient(t.ctx, OPERATOR, client))).toEqual([]);
  });

  it('contains changes of the shop, but no entry if nothing changes', async ({ t, admin }) => {
    const subject = { type: 'SHOP', id: t.shop.id, name: t.shop.name };
    const upgrade = {
      plan: { from: 'SCALE', to: 'ENTERPRISE' },
      billing: { from: 'ALLOWANCE', to: 'USAGE' },
      limit: { from: 2000, to: null },
    };
    const change = (body: Parameters<typeof changeShop>[3]) =>
      writtenBy(t, admin, () => changeShop(t.ctx, OPERATOR, t.shop.id, body));
    expect(await change({ plan: 'ENTERPRISE' })).toEqual([
      { action: 'SHOP_CHANGED', actor: operator, subject, data: upgrade },
    ]);
    const data = { subscription: { from: 'active', to: 'inactive' } };
    expect(await change({ subscription: 'inactive', plan: 'ENTERPRISE' })).toEqual([
      { action: 'SHOP_CHANGED', actor: operator, subject, data },
    ]);
    expect(await change({})).toEqual([]);
  });

  it('is read newest first, in pages', async ({ t, admin }) => {
    for (let i = 0; i < 5; i += 1) {
      t.clock.advance(5);
      await admin.put('/dangerous-goods', { rules: [`RULE-${i}`] });
    }
    const { items, ...page } = (await admin.get('/audit-log?limit=3')).body;
    expect(page).toEqual({ page: 1, limit: 3, total: 9, totalPages: 3 });
    const added = (pluck(items, 'data') as { added: string[] }[]).map(({ added: [rule] }) => rule);
    expect(added).toEqual(['RULE-4', 'RULE-3', 'RULE-2']);
    const stamps = { id: expect.stringMatching(UUID7), at: expect.stringMatching(ISO), address: FROM_HERE };
    expect(items[0]).toMatchObject(stamps);
    const last = (await admin.get('/audit-log?limit=3&page=3')).body.items;
    expect(pluck(last, 'action')).toContain('SHOP_CREATED');
    expect((await admin.get('/audit-log?page=4&limit=3')).body.items).toEqual([]);
    const wrong = { page: 'min', action: 'unknown' };
    expect(rulesOf(await admin.get('/audit-log?page=0&action=x'))).toEqual(wrong);
  });

  it('is not visible to other shops', async ({ t, admin, stranger }) => {
    await admin.put('/dangerous-goods', { rules: ['ACID'] });
    const seen = JSON.stringify(await auditLog(stranger));
    for (const own of [t.shop.id, admin.email, 'ACID']) expect(seen).not.toContain(own);
    expect(seen).toContain(stranger.shop.id);
  });

  it('keeps the names of removed users', async ({ t, admin }) => {
    const other = await newPerson(t);
    await other.put('/dangerous-goods', { rules: ['ACID'] });
    await admin.delete(`/users/${other.id}`);
    expect(pluck(await auditLog(admin), 'actor')).toContainEqual(as(other));
  });
});

it("changes by the command line are in the log as the operator's", async () => {
  const env = await migratedDatabase();
  const { id: shop } = await cliHere(['shop', 'create', '--name', 'Shop'], env);
  await cliHere(['shop', 'update', shop, '--plan', 'GROWTH'], env);
  await cliHere(['shop', 'dangerous', shop, '--add', 'ACID'], env);
  await cliHere(['shop', 'dangerous', shop], env);
  const user = ['user', 'create', '--shop', shop, '--email', 'ada@example.com', '--role', 'ADMIN'];
  await cliHere([...user, '--password', PASSWORD], env);
  const { id: client } = await cliHere(['client', 'create', '--shop', shop, '--name', 'Till'], env);
  await cliHere(['client', 'update', client, '--name', 'Desk'], env);
  await cliHere(['client', 'update', client], env);
  const { id: next } = await cliHere(['client', 'replace', client], env);
  await cliHere(['client', 'revoke', next], env);
  const rows = await lookInto(env).selectFrom('audit_log').selectAll().orderBy('at').execute();
  expect(pluck(rows, 'action')).toEqual([
    ...['SHOP_CREATED', 'SHOP_CHANGED', 'DANGEROUS_GOODS_CHANGED', 'USER_CREATED'],
    ...['CLIENT_CREATED', 'CLIENT_CHANGED', 'CLIENT_REPLACED', 'CLIENT_REVOKED'],
  ]);
  const actor = { actor_type: 'SYSTEM', actor_id: null, actor_name: 'operator' };
  for (const row of rows) expect(row).toMatchObject({ shop_id: shop, ...actor });
});
