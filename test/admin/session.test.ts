import { describe, expect } from 'vitest';
import { OPERATOR } from '../../src/audit/store.ts';
import { sweep } from '../../src/service/janitor.ts';
import { sha256 } from '../../src/service/secrets.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { hashPassword } from '../../src/staff/passwords.ts';
import { adminCaller, cookieFrom, newPerson, newUser, PASSWORD, signInAs } from '../support/admin.ts';
import { expectError, rulesOf } from '../support/api.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';

const harness = sharedHarness();
const it = itWith(harness);

const HOUR_MS = 3_600_000;

const attributesOf = (setCookie: string | undefined): string[] =>
  (setCookie ?? '')
    .split('; ')
    .slice(1)
    .filter((attribute) => !attribute.startsWith('Expires='))
    .sort();
const sessionRows = (t: Harness) => t.ctx.db.selectFrom('sessions').selectAll().execute();

/** How long processors work on it: a busy machine takes longer for it, but no more of them. */
const workOf = async (ask: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await ask();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

describe('signing in', () => {
  it('answers with the person and their shop', async ({ t }) => {
    const user = await newUser(t, { role: 'STAFF' });
    const { email, password } = user;
    const { status, body } = await adminCaller(t).post('/session', { email, password });
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: user.id, email, name: null, role: 'STAFF', secondFactor: false, passwordExposedAt: null },
      shop: {
        id: t.shop.id,
        name: t.shop.name,
        plan: 'SCALE',
        subscription: 'active',
        secondFactorRequired: false,
      },
    });
  });

  it('sets a cookie that no script reads, no other site sends and only /admin gets, for 12 hours', async ({
    t,
  }) => {
    const { email, password } = await newUser(t);
    const { headers } = await adminCaller(t).post('/session', { email, password });
    const cookies = headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    expect(cookies[0]).toMatch(/^handback_session=[0-9a-f]{64};/);
    expect(attributesOf(cookies[0])).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/admin', 'SameSite=Strict']);
    // By the second the browser is known from then on; it tells nobody who the person is.
    expect(cookies[1]).toMatch(/^handback_device=[\w-]{22}\.[\w-]{43}\.[\w-]{43};/);
    expect(attributesOf(cookies[1])).toEqual([
      ...['HttpOnly', 'Max-Age=31536000', 'Path=/admin', 'SameSite=Strict'],
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['https://returns.example.com', true],
    ['http://returns.example.com', false],
  ])('with PUBLIC_URL %s: a Secure cookie, by its name too, is %s', async (publicUrl, secure) => {
    const t = await harness({ env: { PUBLIC_URL: publicUrl } });
    const { email, password } = await newUser(t);
    const answer = await adminCaller(t).post('/session', { email, password });
    for (const cookie of answer.headers.getSetCookie()) {
      expect(attributesOf(cookie).includes('Secure')).toBe(secure);
      expect(cookie.startsWith('__Secure-handback_')).toBe(secure);
    }
    const cookie = cookieFrom(answer);
    expect((await adminCaller(t, cookie).get('/session')).status).toBe(200);
    // Under the other name it is none: a page of a sibling host may have planted it.
    const planted = secure ? cookie.replace('__Secure-', '') : `__Secure-${cookie}`;
    expectError(await adminCaller(t, planted).get('/session'), 401);
  });

  it('works with the e-mail in any case, with spaces around it and with accents typed either way', async ({
    t,
  }) => {
    await newUser(t, { email: 'Grace.Hopper@Example.com', password: 'pa\u0301ssword caf\u00e9' });
    const visitor = adminCaller(t);
    for (const email of ['grace.hopper@example.com', 'GRACE.HOPPER@EXAMPLE.COM'])
      for (const password of ['p\u00e1ssword cafe\u0301', 'pa\u0301ssword caf\u00e9'])
        expect((await visitor.post('/session', { email, password })).status).toBe(200);
    const padded = JSON.stringify({
      email: ' grace.hopper@example.com ',
      password: 'p\u00e1ssword caf\u00e9',
    });
    expect((await visitor.post('/session', padded, { unchecked: true })).status).toBe(200);
  });

  it('answers a wrong e-mail and a wrong password alike', async () => {
    const t = await harness({ own: true });
    const { email } = await newUser(t);
    const visitor = adminCaller(t);
    const answers = [
      await visitor.post('/session', { email, password: 'wrong password' }),
      await visitor.post('/session', { email: 'nobody@example.com', password: PASSWORD }),
      await visitor.post('/session', { email: 'nobody@example.com', password: 'x' }),
      await visitor.post('/session', { email, password: `${PASSWORD} ` }),
      await visitor.post('/session', { email, password: PASSWORD.toUpperCase() }),
    ];
    for (const answer of answers) expectError(answer, 401);
    const told = answers.map(({ body: { requestId, ...body }, headers }) => ({
      body,
      cookies: headers.getSetCookie(),
      names: [...headers.keys()].sort(),
    }));
    for (const each of told) expect(each).toEqual(told[0]);
    expect(await sessionRows(t)).toEqual([]);
  });

  it('takes as long for an e-mail that nobody has as for a wrong password', async ({ t }) => {
    const { email } = await newUser(t, { hashed: hashPassword });
    const visitor = adminCaller(t);
    const signIn = (address: string) =>
      visitor.post('/session', { email: address, password: 'wrong password' });
    const work = { known: 0, unknown: 0 };
    for (let i = 0; i < 9; i += 1) {
      work.known += await workOf(() => signIn(email));
      work.unknown += await workOf(() => signIn(`nobody-${i}@example.com`));
    }
    const ratio = work.unknown / work.known;
    // Without a hash to compare with it would be a tenth.
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  it('refuses what is no e-mail or password, and says which; a long password is never hashed', async ({
    t,
  }) => {
    const { email } = await newUser(t, { hashed: hashPassword });
    const visitor = adminCaller(t);
    const rules = async (body: unknown) => rulesOf(await visitor.post('/session', body));
    expect(await rules({})).toEqual({ email: 'required', password: 'required' });
    expect(await rules({ email: 'grace', password: '' })).toEqual({ email: 'format', password: 'minLength' });
    expect(await rules({ email: 1, password: ['x'] })).toEqual({ email: 'type', password: 'type' });
    expect(await rules({ email, password: PASSWORD, remember: true })).toEqual({ remember: 'unknown' });
    const refusing = await workOf(async () => {
      for (const length of [201, 1_000, 8_000])
        expect(await rules({ email, password: 'x'.repeat(length) })).toEqual({ password: 'maxLength' });
    });
    const hashing = await workOf(async () => {
      for (let i = 0; i < 3; i += 1) await visitor.post('/session', { email, password: 'wrong password' });
    });
    expect(refusing).toBeLessThan(hashing);
    expect((await visitor.post('/session', { email, password: '🙂'.repeat(200) })).status).toBe(401);
  });

  it('keeps neither password nor token in the database or the log', async () => {
    const t = await harness({ own: true });
    const { cookie, email } = await newPerson(t, { hashed: hashPassword });
    await adminCaller(t).post('/session', { email, password: 'a wrong password' });
    const token = cookie.split('=')[1] ?? '';
    const rows = await sessionRows(t);
    expect(rows.map((row) => row.token_hash)).toEqual([sha256(token)]);
    const users = await t.ctx.db.selectFrom('users').selectAll().execute();
    expect(users[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const everything = JSON.stringify([rows, users]) + t.logs.join('');
    for (const secret of [token, PASSWORD, 'a wrong password']) expect(everything).not.toContain(secret);
    expect(t.logs.join('')).not.toContain(email);
  });

  it('opens a session of its own each time', async ({ t }) => {
    const first = await newPerson(t);
    const second = await signInAs(t, first);
    expect(second.cookie).not.toBe(first.cookie);
    for (const person of [first, second]) expect((await person.get('/session')).status).toBe(200);
    await second.delete('/session');
    expectError(await second.get('/session'), 401);
    expect((await first.get('/session')).status).toBe(200);
  });
});

describe('a session', () => {
  it('tells who is signed in, with the shop as it is now', async ({ t }) => {
    const person = await newPerson(t, { role: 'STAFF', name: 'Grace Muller' });
    await changeShop(t.ctx, OPERATOR, t.shop.id, { plan: 'STARTER', subscription: 'inactive' });
    expect((await person.get('/session')).body).toEqual({
      user: {
        id: person.id,
        email: person.email,
        name: 'Grace Muller',
        role: 'STAFF',
        secondFactor: false,
        passwordExposedAt: null,
      },
      shop: {
        id: t.shop.id,
        name: t.shop.name,
        plan: 'STARTER',
        subscription: 'inactive',
        secondFactorRequired: false,
      },
    });
  });

  it('ends after 12 hours, and is cleared away', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    t.clock.advance(12 * HOUR_MS - 60_000);
    expect((await person.get('/session')).status).toBe(200);
    await sweep(t.ctx);
    expect(await sessionRows(t)).toHaveLength(1);
    t.clock.advance(60_000);
    expectError(await person.get('/session'), 401);
    await sweep(t.ctx);
    expect(await sessionRows(t)).toEqual([]);
  });

  it('is not there for a cookie that is absent, made up, cut, or named otherwise; an API key is none', async ({
    t,
  }) => {
    const { cookie } = await newPerson(t);
    const token = cookie.split('=')[1] ?? '';
    const wrong = [
      null,
      'handback_session=',
      `handback_session=${'0'.repeat(64)}`,
      `handback_session=${token.slice(1)}`,
      `handback_session=${token}0`,
      `handback_session=${token.toUpperCase()}`,
      `handback_session=${sha256(token)}`,
      `session=${token}`,
      "handback_session=' or 1=1 --",
      `handback_session=${t.client.apiKey}`,
    ];
    for (const each of wrong) expectError(await adminCaller(t, each).get('/session'), 401);
    const keys: Record<string, string>[] = [
      { 'x-api-key': t.client.apiKey },
      { authorization: `Bearer ${t.client.apiKey}` },
    ];
    for (const headers of keys) expectError(await adminCaller(t).get('/session', { headers }), 401);
    expect((await adminCaller(t, `other=1; ${cookie}; more=2`).get('/session')).status).toBe(200);
  });

  it('opens nothing in the external API', async ({ t }) => {
    const { cookie } = await newPerson(t);
    expectError(await t.get('/offline-repairs', { key: null, headers: { cookie } }), 401);
  });

  it('ends at sign-out: the cookie is cleared, and a copy of it is worth nothing', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    const stolen = adminCaller(t, person.cookie);
    expect((await stolen.get('/users')).status).toBe(200);
    const answer = await person.delete('/session');
    expect(answer.status).toBe(204);
    expect(answer.body).toBe('');
    const [cleared] = answer.headers.getSetCookie();
    expect(cleared).toMatch(/^handback_session=;/);
    expect(attributesOf(cleared)).toEqual(
      expect.arrayContaining(['HttpOnly', 'Path=/admin', 'SameSite=Strict']),
    );
    expect(Date.parse(/Expires=([^;]*)/.exec(cleared ?? '')?.[1] ?? '')).toBeLessThan(Date.now());
    for (const path of ['/session', '/users', '/audit-log']) expectError(await stolen.get(path), 401);
    expect(await sessionRows(t)).toEqual([]);
  });

  it('can be ended where there is none', async ({ t }) => {
    expect((await adminCaller(t).delete('/session')).status).toBe(204);
    expect((await adminCaller(t, 'handback_session=nonsense').delete('/session')).status).toBe(204);
  });
});

describe('changing your own password', () => {
  const next = 'a better password';

  it('ends all sessions but a fresh one, and only the new password works from then on', async ({ t }) => {
    for (const role of ['ADMIN', 'STAFF'] as const) {
      const person = await newPerson(t, { role });
      const elsewhere = await signInAs(t, person);
      const bystander = await newPerson(t);
      const answer = await person.put('/session/password', { currentPassword: PASSWORD, newPassword: next });
      expect(answer.status).toBe(200);
      expect(answer.body.user).toEqual({
        id: person.id,
        email: person.email,
        name: null,
        role,
        secondFactor: false,
        passwordExposedAt: null,
      });
      const fresh = cookieFrom(answer);
      expect(fresh).not.toBe(person.cookie);
      expect((await adminCaller(t, fresh).get('/session')).status).toBe(200);
      for (const ended of [person, elsewhere]) expectError(await ended.get('/session'), 401);
      expect((await bystander.get('/session')).status).toBe(200);
      const { email } = person;
      expectError(await adminCaller(t).post('/session', { email, password: PASSWORD }), 401);
      await signInAs(t, { ...person, password: next });
    }
  });

  it('needs the present password, and says so at its field; nothing changes otherwise', async ({
    t,
    person,
  }) => {
    const put = (body: unknown) => person.put('/session/password', body);
    expect(rulesOf(await put({ currentPassword: 'not mine', newPassword: next }))).toEqual({
      currentPassword: 'wrong',
    });
    expect(rulesOf(await put({ currentPassword: PASSWORD, newPassword: 'short7!' }))).toEqual({
      newPassword: 'minLength',
    });
    expect(rulesOf(await put({ currentPassword: PASSWORD, newPassword: 'x'.repeat(10_000) }))).toEqual({
      newPassword: 'maxLength',
    });
    expect(rulesOf(await put({ newPassword: next }))).toEqual({ currentPassword: 'required' });
    expect(rulesOf(await put({ code: '123456', newPassword: next }))).toEqual({ code: 'wrong' });
    expect((await person.get('/session')).status).toBe(200);
    await signInAs(t, person);
  });

  it('is done once when asked twice at the same time', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    const answers = await Promise.all(
      ['first new one', 'second new one'].map((newPassword) =>
        person.put('/session/password', { currentPassword: PASSWORD, newPassword }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await sessionRows(t)).toHaveLength(1);
  });

  it('leaves no session behind that somebody opened with the old one at the same time', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    const { email } = person;
    const [changed, ...opened] = await Promise.all([
      person.put('/session/password', { currentPassword: PASSWORD, newPassword: next }),
      ...Array.from({ length: 6 }, () => adminCaller(t).post('/session', { email, password: PASSWORD })),
    ]);
    expect(changed?.status).toBe(200);
    for (const answer of opened)
      if (answer.status === 200) expectError(await adminCaller(t, cookieFrom(answer)).get('/session'), 401);
    expect(await sessionRows(t)).toHaveLength(1);
  });
});
