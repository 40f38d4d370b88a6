// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { adminCaller, newPerson, newUser, PASSWORD, type Person, signInAs } from '../support/admin.ts';
import { ISO, rulesOf, stopClock, UUID7 } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { atOnce, pluck } from '../support/responses.ts';
import { tokenIn } from '../support/smtp.ts';

const harness = sharedHarness();
const it = itWith(harness);

const userBody = (more: Record<string, unknown> = {}) => ({
  email: 'grace@example.com',
  role: 'STAFF',
  password: PASSWORD,
  ...more,
});
const shownOf = ({ id, email, role }: Pick<Person, 'id' | 'email' | 'role'>) => {
  const createdAt = expect.stringMatching(ISO);
  const never = { lastSignInAt: null, secondFactor: false, providerOnly: false, emailConfirmed: true };
  return { id, email, name: null, role, createdAt, ...never };
};
const rolesIn = async (t: Harness, shopId = t.shop.id) => {
  const rows = await t.ctx.db.selectFrom('users').select(['role']).where('shop_id', '=', shopId).execute();
  return rows.map(({ role }) => role).sort();
};
const rowOf = (t: Harness, id: string) =>
  t.ctx.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();

describe('the team', () => {
  it('is listed newest first, in pages, without secrets', async ({ t, admin }) => {
    const others = await t.addShop();
    await newUser(t, { shop: others.shop });
    const made = [admin.id];
    for (let i = 0; i < 4; i += 1) {
      t.clock.advance(1);
      made.unshift((await newUser(t, { role: 'STAFF' })).id);
    }
    const { body } = await admin.get('/users');
    expect(body).toMatchObject({ total: 5, page: 1, limit: 20, totalPages: 1 });
    expect(pluck(body.items, 'id')).toEqual(made);
    expect(body.items[4]).toEqual({ ...shownOf(admin), lastSignInAt: expect.stringMatching(ISO) });
    const page = (await admin.get('/users?page=2&limit=2')).body;
    expect(page).toMatchObject({ total: 5, page: 2, limit: 2, totalPages: 3 });
    expect(pluck(page.items, 'id')).toEqual(made.slice(2, 4));
    expect((await admin.get('/users?page=9')).body.items).toEqual([]);
    const wrong = { limit: 'max', nonsense: 'unknown' };
    expect(rulesOf(await admin.get('/users?limit=101&nonsense=1'))).toEqual(wrong);
  });

  it('accepts a new user, who can sign in immediately', async ({ t, admin }) => {
    const response = await admin.post('/users', userBody({ email: 'Grace@Example.com' }));
    expect(response).toHaveStatus(201);
    const id = expect.stringMatching(UUID7);
    const shown = shownOf({ id, email: 'grace@example.com', role: 'STAFF' });
    expect(response.body).toEqual({ ...shown, link: null, linkExpiresAt: null, mailed: false });
    const grace = await signInAs(t, { ...admin, ...response.body, password: PASSWORD });
    const session = { user: { role: 'STAFF' }, shop: { id: t.shop.id } };
    expect((await grace.get('/session')).body).toMatchObject(session);
  });

  it('rejects all errors of a new user at once', async ({ t, admin }) => {
    const rules = async (body: unknown) => rulesOf(await admin.post('/users', body));
    expect(await rules({})).toEqual({ email: 'required', role: 'required' });
    const all = { email: 'format', role: 'oneOf', password: 'minLength', nick: 'unknown' };
    const wrong = { email: 'grace', role: 'OWNER', password: 'short7!', nick: 'x' };
    expect(await rules(userBody(wrong))).toEqual(all);
    // A name must not be an email address: programs read names.
    for (const [name, rule] of [
      ['grace@example.com', 'name'],
      ['x'.repeat(256), 'maxLength'],
      ['a\0b', 'nul'],
      [1, 'type'],
    ]) {
      expect(await rules(userBody({ name }))).toEqual({ name: rule });
      expect(rulesOf(await admin.patch(`/users/${admin.id}`, { name }))).toEqual({ name: rule });
    }
    for (const length of [201, 10_000])
      expect(await rules(userBody({ password: 'x'.repeat(length) }))).toEqual({ password: 'maxLength' });
    expect(await rules(userBody({ password: '🙂'.repeat(9) }))).toEqual({ password: 'minLength' });
    expect(await rolesIn(t)).toEqual(['ADMIN']);
  });

  it('accepts each email once: in any case, in any shop, also for simultaneous requests', async () => {
    const t = await harness({ own: true });
    const admin = await newPerson(t);
    const others = await t.addShop();
    const stranger = await newUser(t, { shop: others.shop });
    const taken = [admin.email, admin.email.toUpperCase(), stranger.email];
    const refused = [];
    for (const email of taken) refused.push(await admin.post('/users', userBody({ email })));
    for (const response of refused) expect(response).toFailWith(409, 'EMAIL_TAKEN');
    // The response does not say whose it is.
    expect(new Set(refused.map(({ body }) => body.message)).size).toBe(1);
    const both = await Promise.all([
      admin.post('/users', userBody()),
      admin.post('/users', userBody({ email: 'GRACE@example.com' })),
    ]);
    expect(both).toHaveStatuses({ 201: 1, 409: 1 });
    expect(await rolesIn(t)).toEqual(['ADMIN', 'STAFF']);
  });
});

describe('a new password', () => {
  /** Of Grace Muller, in the shop "Test shop". */
  const GUESSES: [password: string, rule: string][] = [
    ['password', 'minLength'],
    ['123456789', 'minLength'],
    ['1234567890', 'common'],
    ['QwertyUIOP', 'common'],
    ['\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff10', 'common'],
    ['Test shop 2026', 'guessable'],
    ['testtesttest', 'guessable'],
    ['grace.muller!', 'guessable'],
    ['Muller-Grace-99', 'guessable'],
    ['grace.muller@example.com', 'guessable'],
  ];

  it('must not be common or contain the names of shop or user, wherever it is chosen', async ({
    t,
    admin,
  }) => {
    const email = 'grace.muller@example.com';
    const user = await newUser(t, { email, role: 'STAFF' });
    const self = await signInAs(t, user);
    const token = tokenIn((await admin.post(`/users/${user.id}/link`)).body.link);
    const current = { currentPassword: PASSWORD };
    for (const [password, rule] of GUESSES) {
      expect(rulesOf(await admin.patch(`/users/${user.id}`, { password }))).toEqual({ password: rule });
      expect(rulesOf(await self.put('/session/password', { ...current, newPassword: password }))).toEqual({
        newPassword: rule,
      });
      expect(rulesOf(await adminCaller(t).post('/links/use', { token, password }))).toEqual({
        password: rule,
      });
    }
    const other = { email: 'ada.pereira@example.com', role: 'STAFF' };
    expect(rulesOf(await admin.post('/users', { ...other, password: 'Pereira!Ada' }))).toEqual({
      password: 'guessable',
    });
    // Names of other users, and a name with enough other characters.
    expect(await admin.post('/users', { ...other, password: 'grace.muller!' })).toHaveStatus(201);
    expect(await admin.patch(`/users/${user.id}`, { password: 'muller kettle' })).toHaveStatus(200);
  });

  it('does not end passwords from before that rule', async ({ t }) => {
    const user = await newUser(t, { password: '12345678' });
    await signInAs(t, user);
  });
});

describe('an email with letters beyond ASCII', () => {
  const LETTERS = [
    'jos\u00e9@example.com',
    'mar\u212a@example.com',
    'ada@b\u00fccher.example',
    '\u0430da@example.com',
  ];

  it('is refused wherever a new one is given', async ({ t, admin, staff }) => {
    for (const email of LETTERS) {
      const refused = [
        await admin.post('/users', userBody({ email })),
        await admin.patch(`/users/${staff.id}`, { email }),
        await staff.put('/session/email', { email, currentPassword: PASSWORD }),
      ];
      for (const response of refused) {
        expect(response).toHaveStatus(400);
        expect(rulesOf(response)).toEqual({ email: 'ascii' });
        expect(response.body.message[0]).toContain('only letters from a to z');
      }
    }
    expect(await rolesIn(t)).toEqual(['ADMIN', 'STAFF']);
  });

  it('of an older account still signs in, in any case, and the rest of the account can be changed', async ({
    t,
    admin,
  }) => {
    const user = await newUser(t, { email: 'Jos\u00e9@b\u00fccher.example', role: 'STAFF' });
    expect(user.email).toBe('jos\u00e9@b\u00fccher.example');
    await signInAs(t, { ...user, email: 'JOS\u00c9@B\u00dcCHER.example' });
    expect((await admin.patch(`/users/${user.id}`, { role: 'ADMIN' })).body).toMatchObject({
      email: user.email,
      role: 'ADMIN',
    });
  });

  it('does not sign in to the account whose ASCII address it equals in lower case', async ({ t }) => {
    await newUser(t, { email: 'mark.kelvin@example.com' });
    const sent = { email: 'mar\u212a.kelvin@example.com', password: PASSWORD };
    expect(await adminCaller(t).post('/session', sent)).toFailWith(401, 'SIGN_IN_FAILED');
  });
});

it('a user can try fifty new emails an hour, without affecting others, and attempts with the email of another user are logged', async () => {
  const t = await harness({ own: true });
  const clock = stopClock();
  const [admin, other, staff] = [
    await newPerson(t),
    await newPerson(t),
    await newPerson(t, { role: 'STAFF' }),
  ];
  const { shop } = await t.addShop();
  const { email } = await newUser(t, { shop });
  // The present email does not count as a new one.
  const present = staff.email.toUpperCase();
  expect(await admin.patch(`/users/${staff.id}`, { email: present })).toHaveStatus(200);
  const again = { email: present, currentPassword: PASSWORD };
  expect(await staff.put('/session/email', again)).toHaveStatus(200);
  const tried = [
    await admin.patch(`/users/${staff.id}`, { email }),
    await staff.put('/session/email', { email, currentPassword: PASSWORD }),
  ];
  for (let i = 0; i < 50; i += 1) tried.push(await admin.post('/users', userBody({ email })));
  expect(tried).toHaveStatuses([...Array(51).fill(409), 429]);
  // A free one gets the same response.
  const free = userBody({ email: 'free@example.com' });
  expect(await admin.post('/users', free)).toFailWith(429, 'RATE_LIMITED');
  const lines = t.logs.filter((line) => line.includes('an email that is in use was refused'));
  expect(lines).toHaveLength(51);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ shopId: t.shop.id, actorId: admin.id });
  expect(t.logs.join('')).not.toContain(email);
  expect(await other.post('/users', free)).toHaveStatus(201);
  clock.advance(60 * 60_000);
  expect(await (await signInAs(t, admin)).post('/users', userBody({ email }))).toFailWith(409, 'EMAIL_TAKEN');
});

describe('a user', () => {
  it('can be changed one field at a time, without affecting the rest', async ({ t, admin, staff }) => {
    const shown = { ...shownOf(staff), lastSignInAt: expect.stringMatching(ISO) };
    const patch = async (body?: unknown) => (await admin.patch(`/users/${staff.id}`, body)).body;
    expect(await patch({})).toEqual(shown);
    expect(await patch()).toEqual(shown);
    expect(await patch({ email: null, role: null, password: null })).toEqual(shown);
    expect(await patch({ name: ' Grace Muller ' })).toEqual({ ...shown, name: 'Grace Muller' });
    expect((await staff.get('/session')).body.user.name).toBe('Grace Muller');
    expect(await patch({ name: null })).toEqual({ ...shown, name: 'Grace Muller' });
    for (const nothing of ['  ', '']) expect(await patch({ name: nothing })).toEqual(shown);
    expect(await staff.get('/users')).toFailWith(403, 'ADMIN_REQUIRED');
    expect(await patch({ role: 'ADMIN' })).toEqual({ ...shown, role: 'ADMIN' });
    // From the next request on.
    expect(await staff.get('/users')).toHaveStatus(200);
    const email = 'new.name@example.com';
    expect(await patch({ email: 'New.Name@example.com' })).toEqual({ ...shown, role: 'ADMIN', email });
    expect(await patch({ role: 'STAFF' })).toEqual({ ...shown, email });
    expect((await staff.get('/session')).body.user.email).toBe(email);
    await signInAs(t, { ...staff, email });
  });

  it('is signed out everywhere by a new password', async ({ t, admin, staff }) => {
    const elsewhere = await signInAs(t, staff);
    const password = 'set by the admin';
    expect(await admin.patch(`/users/${staff.id}`, { password })).toHaveStatus(200);
    for (const ended of [staff, elsewhere]) expect(await ended.get('/session')).toFailWith(401);
    const { email } = staff;
    expect(await adminCaller(t).post('/session', { email, password: PASSWORD })).toFailWith(401);
    await signInAs(t, { ...staff, password });
    expect(await admin.get('/session')).toHaveStatus(200);
  });

  it('cannot get an email that is in use', async ({ t, admin }) => {
    const staff = await newUser(t, { role: 'STAFF' });
    const email = admin.email.toUpperCase();
    expect(await admin.patch(`/users/${staff.id}`, { email, role: 'ADMIN' })).toFailWith(409, 'EMAIL_TAKEN');
    expect(await rowOf(t, staff.id)).toMatchObject({ email: staff.email, role: 'STAFF' });
    expect(await admin.put('/session/email', { email, currentPassword: PASSWORD })).toHaveStatus(200);
    const taken = { email: staff.email, currentPassword: PASSWORD };
    expect(await admin.put('/session/email', taken)).toFailWith(409, 'EMAIL_TAKEN');
  });

  it('is gone once removed, and the email is available again', async ({ t, admin, staff }) => {
    const response = await admin.delete(`/users/${staff.id}`);
    expect(response).toHaveStatus(204);
    expect(response.body).toBe('');
    expect(await staff.get('/session')).toFailWith(401);
    const { email } = staff;
    expect(await adminCaller(t).post('/session', { email, password: PASSWORD })).toFailWith(401);
    expect(await admin.delete(`/users/${staff.id}`)).toFailWith(404);
    expect(await admin.patch(`/users/${staff.id}`, { role: 'ADMIN' })).toFailWith(404);
    expect(await admin.post('/users', userBody({ email }))).toHaveStatus(201);
  });
});

describe('the last Admin of a shop', () => {
  it('can be neither removed nor demoted; everything else can be changed', async ({ t, admin }) => {
    // An Admin of another shop does not count.
    await newUser(t, { shop: (await t.addShop()).shop });
    await newUser(t, { role: 'STAFF' });
    expect(await admin.delete(`/users/${admin.id}`)).toFailWith(409, 'LAST_ADMIN');
    expect(await admin.patch(`/users/${admin.id}`, { role: 'STAFF', name: 'Grace' })).toFailWith(
      409,
      'LAST_ADMIN',
    );
    expect(await rowOf(t, admin.id)).toMatchObject({ role: 'ADMIN', name: null });
    expect(await admin.patch(`/users/${admin.id}`, { role: 'ADMIN', name: 'Grace' })).toHaveStatus(200);
    await newUser(t);
    expect(await admin.patch(`/users/${admin.id}`, { role: 'STAFF' })).toHaveStatus(200);
    expect(await admin.get('/users')).toFailWith(403, 'ADMIN_REQUIRED');
  });

  const WAYS = [{ method: 'PATCH', body: { role: 'STAFF' } }, { method: 'DELETE' }];
  it.for(WAYS)('remains when Admins demote or remove each other at once: $method', async (options, { t }) => {
    for (let round = 0; round < 5; round += 1) {
      const { shop } = await t.addShop();
      const admins = await atOnce(3, () => newPerson(t, { shop }));
      const responses = await Promise.all(
        admins.map((admin, i) => admin.send(`/users/${admins[(i + 1) % 3]?.id}`, options)),
      );
      expect((await rolesIn(t, shop.id)).filter((role) => role === 'ADMIN')).not.toHaveLength(0);
      for (const response of responses) expect(response).toHaveStatus(200, 204, 401, 403, 409);
    }
  });
});
