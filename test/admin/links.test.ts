// engines: sqlite, postgres

import { sql } from 'kysely';
import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { createShop } from '../../src/shops/actions.ts';
import { offerSetUp } from '../../src/staff/links.ts';
import { LANES } from '../../src/staff/passwords.ts';
import { adminCaller, cookieFrom, newPerson, newUser, PASSWORD } from '../support/admin.ts';
import { ISO, rulesOf, stopClock } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type ApiResponse, type Harness, harness } from '../support/harness.ts';
import { atOnce, auditLog } from '../support/responses.ts';
import { turnOn } from '../support/second-factor.ts';
import { tokenIn } from '../support/smtp.ts';

const it = itWith(harness);

const HOUR_MS = 3_600_000;
const NEW_PASSWORD = 'a better password';
const INVITED = { email: 'Grace@example.com', name: 'Grace Muller', role: 'STAFF' };

const tokenOf = ({ body }: ApiResponse): string => tokenIn(body.link);
const check = (t: Harness, token: string, ip?: string) =>
  adminCaller(t).post('/links/check', { token }, ip ? { ip } : {});
const use = (t: Harness, token: string, more: Record<string, unknown> = {}, ip?: string) =>
  adminCaller(t).post('/links/use', { token, password: NEW_PASSWORD, ...more }, ip ? { ip } : {});
const signIn = (t: Harness, email: string, password: string, ip?: string) =>
  adminCaller(t).post('/session', { email, password }, ip ? { ip } : {});

describe('an invitation', () => {
  it('gives a single-use link with which the user chooses a password and is signed in', async () => {
    const t = await harness({ env: { PUBLIC_URL: 'https://returns.example.com' } });
    const admin = await newPerson(t);
    const made = await admin.post('/users', INVITED);
    const email = 'grace@example.com';
    expect(made).toHaveStatus(201);
    expect(made.body).toMatchObject({
      email,
      name: 'Grace Muller',
      lastSignInAt: null,
      secondFactor: false,
      mailed: false,
    });
    expect(made.body.linkExpiresAt).toMatch(ISO);
    expect(made.body.link).toMatch(/^https:\/\/returns\.example\.com\/admin\/link#[0-9a-f]{64}$/);
    const token = tokenOf(made);
    // Nobody can sign in before that.
    expect(await signIn(t, email, ''.padEnd(8))).toFailWith(401);

    expect((await check(t, token)).body).toEqual({
      shop: { name: 'Test shop' },
      user: { email, name: 'Grace Muller' },
      secondFactor: false,
    });
    expect(rulesOf(await use(t, token, { password: 'short' }))).toEqual({ password: 'minLength' });
    const used = await use(t, token);
    expect(used.body.user).toMatchObject({ email, role: 'STAFF' });
    expect(await adminCaller(t, cookieFrom(used)).get('/session')).toHaveStatus(200);
    expect(await use(t, token)).toFailWith(410, 'LINK_EXPIRED');
    expect(await check(t, token)).toFailWith(410, 'LINK_EXPIRED');
    expect(await signIn(t, email, NEW_PASSWORD)).toHaveStatus(200);

    const [grace] = (await admin.get('/users')).body.items;
    expect(grace.lastSignInAt).toMatch(ISO);
    const [actor, data] = [{ name: 'Grace Muller' }, { passwordChanged: true }];
    const address = expect.stringMatching(/^172\./);
    expect(await auditLog(admin, 'LINK_USED')).toMatchObject([{ actor, data, address }]);
    expect((await auditLog(admin, 'USER_CREATED'))[0]).toMatchObject({ data: { role: 'STAFF' } });
  });

  it("leads to the Admin's own host unless PUBLIC_URL is set", async ({ t, admin }) => {
    const made = await admin.post('/users', INVITED, { headers: { origin: t.url } });
    expect(made.body.link).toBe(`${t.url}/admin/link#${tokenOf(made)}`);
    expect((await admin.post(`/users/${made.body.id}/link`)).body.link).toMatch(/^http:\/\/127\.0\.0\.1:0\//);
  });
});

describe('a new link for a user', () => {
  it('expires after an hour, or three days before the first sign-in, and replaces earlier links', async ({
    t,
    admin,
  }) => {
    const person = await newPerson(t, { role: 'STAFF' });
    const invited = await admin.post('/users', INVITED);
    const first = await admin.post(`/users/${person.id}/link`);
    expect(first).toHaveStatus(201);
    const second = tokenOf(await admin.post(`/users/${person.id}/link`));
    const again = tokenOf(await admin.post(`/users/${invited.body.id}/link`));
    expect(await check(t, tokenOf(first))).toFailWith(410, 'LINK_EXPIRED');
    expect(await check(t, tokenOf(invited))).toFailWith(410, 'LINK_EXPIRED');
    t.clock.advance(HOUR_MS - 60_000);
    // Sessions elsewhere end, and so do the failures that locked the person out.
    for (let i = 0; i < 10; i += 1) await signIn(t, person.email, 'wrong password', '198.51.100.7');
    expect(await signIn(t, person.email, PASSWORD, '198.51.100.7')).toFailWith(429);
    expect(await use(t, second, {}, '198.51.100.7')).toHaveStatus(200);
    expect(await person.get('/session')).toFailWith(401);
    expect(await signIn(t, person.email, NEW_PASSWORD, '198.51.100.7')).toHaveStatus(200);
    t.clock.advance(71 * HOUR_MS);
    expect(await check(t, again)).toHaveStatus(200);
    t.clock.advance(60_000);
    for (const response of [await check(t, again), await use(t, again)])
      expect(response).toFailWith(410, 'LINK_EXPIRED');
    expect(await admin.get('/session')).toHaveStatus(401);
  });

  it('ends if the user is removed, or gets another email or password', async ({ t, admin }) => {
    const change = {
      removed: (id: string) => admin.delete(`/users/${id}`),
      'another email': (id: string) => admin.patch(`/users/${id}`, { email: 'new@example.com' }),
      'another password': (id: string) => admin.patch(`/users/${id}`, { password: NEW_PASSWORD }),
    };
    for (const [what, end] of Object.entries(change)) {
      const { id } = await newUser(t, { role: 'STAFF' });
      const token = tokenOf(await admin.post(`/users/${id}/link`));
      expect(await admin.patch(`/users/${id}`, { name: what })).toHaveStatus(200);
      expect(await check(t, token), what).toHaveStatus(200);
      await end(id);
      expect(await check(t, token)).toFailWith(410, 'LINK_EXPIRED');
      expect(await use(t, token)).toFailWith(410, 'LINK_EXPIRED');
    }
    const person = await newPerson(t, { role: 'STAFF' });
    const token = tokenOf(await admin.post(`/users/${person.id}/link`));
    await person.put('/session/password', { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
    expect(await check(t, token)).toFailWith(410, 'LINK_EXPIRED');
  });

  it('works once if several people use it at the same time', async ({ t, admin }) => {
    const { id, email } = await newUser(t);
    const token = tokenOf(await admin.post(`/users/${id}/link`));
    const passwords = ['first password', 'second password', 'third password', 'fourth password'];
    const responses = await Promise.all(passwords.map((password) => use(t, token, { password })));
    expect(responses).toHaveStatuses({ 200: 1, 410: 3 });
    const winner = passwords[responses.findIndex(({ status }) => status === 200)] ?? '';
    expect(await signIn(t, email, winner)).toHaveStatus(200);
  });
});

describe('a holder of the link of a user with a second factor', () => {
  it('needs the code before the password is hashed, and has sixty attempts a minute across all addresses', async ({
    t,
    admin,
  }) => {
    const clock = stopClock();
    const person = await newPerson(t, { role: 'STAFF' });
    await turnOn(t, person);
    const token = tokenOf(await admin.post(`/users/${person.id}/link`));
    const release = await LANES.known.take();
    expect(await use(t, token)).toFailWith(401, 'SECOND_FACTOR_REQUIRED');
    release();
    clock.advance(60_000);
    const codes: string[] = [];
    for (let i = 0; i < 61; i += 1)
      codes.push((await use(t, token, { code: '000000' }, `198.51.100.${i}`)).body.code);
    expect(codes).toEqual([
      ...Array(10).fill('SECOND_FACTOR_WRONG'),
      ...Array(50).fill('LOCKED_OUT'),
      'RATE_LIMITED',
    ]);
  });
});

it('guessing links is limited to thirty a minute from one address; other addresses continue', async ({
  t,
}) => {
  const token = tokenOf(await (await newPerson(t)).post('/users', INVITED));
  const ip = '198.51.100.9';
  const guesses = await atOnce(30, (i) => check(t, String(i).padStart(64, '0'), ip));
  for (const response of guesses) expect(response).toFailWith(410, 'LINK_EXPIRED');
  for (const response of [await check(t, token, ip), await use(t, token, {}, ip)]) {
    expect(response).toFailWith(429);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  expect(await check(t, token)).toHaveStatus(200);
  for (const nonsense of ['x', 'É'.repeat(64), `${token}0`, token.toUpperCase().slice(1)])
    expect(await check(t, nonsense)).toFailWith(410, 'LINK_EXPIRED');
  expect(rulesOf(await check(t, ''))).toEqual({ token: 'notEmpty' });
});

const WISHES = {
  shopName: 'Harbour Road Electrics',
  email: 'Grace@Example.com',
  name: 'Grace Muller',
  password: 'correct horse battery',
};

/** The app on a database without a shop. */
const withoutShops = async (): Promise<Harness> => {
  const t = await harness();
  for (const table of ['audit_log', 'api_clients', 'shop_counters', 'shops'] as const)
    await t.ctx.db.deleteFrom(table).execute();
  return t;
};

const rowsOf = async ({ ctx: { db } }: Harness) => ({
  shops: (await db.selectFrom('shops').select('id').execute()).length,
  users: (await db.selectFrom('users').select('id').execute()).length,
  tokens: (await db.selectFrom('installation').select('name').where('name', '=', 'set-up').execute()).length,
});

// The link of a first start, and what its page does with it: test/browser/journeys/sign-in.test.ts.

it('a setup link that is used several times at once creates one shop with one Admin', async () => {
  const t = await withoutShops();
  const token = await offerSetUp(t.ctx);
  const responses = await Promise.all(
    ['one@example.com', 'two@example.com', 'three@example.com'].map((email) =>
      adminCaller(t).post('/set-up', { ...WISHES, email, token }),
    ),
  );
  expect(responses).toHaveStatuses({ 201: 1, 409: 2 });
  const entries = await t.ctx.db.selectFrom('audit_log').select(['action', 'address']).execute();
  expect(entries.map(({ action }) => action).sort()).toEqual(['SHOP_CREATED', 'USER_CREATED']);
  expect(entries.every(({ address }) => address !== null)).toBe(true);
  expect(await rowsOf(t)).toEqual({ shops: 1, users: 1, tokens: 0 });
});

it('a failed setup leaves nothing behind, and the link stays valid', async () => {
  const t = await withoutShops();
  const token = await offerSetUp(t.ctx);
  await sql`alter table users rename to users_away`.execute(t.ctx.db);
  const failed = await adminCaller(t).post('/set-up', { ...WISHES, token }, { unchecked: true });
  expect(failed).toHaveStatus(500);
  await sql`alter table users_away rename to users`.execute(t.ctx.db);
  expect(await rowsOf(t)).toEqual({ shops: 0, users: 0, tokens: 1 });
  expect(await adminCaller(t).post('/set-up', { ...WISHES, token })).toHaveStatus(201);
  expect(await rowsOf(t)).toEqual({ shops: 1, users: 1, tokens: 0 });
});

it('a setup link is valid for one hour, and a check of it says whether there is a shop already', async () => {
  const t = await withoutShops();
  const check = (token: string | null) => adminCaller(t).post('/set-up/check', { token });
  const first = await offerSetUp(t.ctx);
  t.clock.advance(3_540_000);
  expect(await check(first)).toHaveStatus(204);
  t.clock.advance(60_000);
  expect(await check(first)).toFailWith(403, 'SETUP_LINK_INVALID');
  expect(await adminCaller(t).post('/set-up', { ...WISHES, token: first })).toHaveStatus(403);
  const second = await offerSetUp(t.ctx);
  expect(await check(second)).toHaveStatus(204);
  expect(await check(first)).toFailWith(403, 'SETUP_LINK_INVALID');
  // Created by the command line, like the demo shop.
  await createShop(t.ctx, OPERATOR, { name: 'Demo shop', plan: 'SCALE' });
  expect(await check(second)).toFailWith(409, 'ALREADY_SET_UP');
  expect(await offerSetUp(t.ctx)).toBeNull();
  expect(await adminCaller(t).post('/set-up', { ...WISHES, token: second })).toHaveStatus(409);
});
