// engines: sqlite, postgres

import { describe, expect } from 'vitest';
import { sweep } from '../../src/app/janitor.ts';
import { OPERATOR } from '../../src/audit/store.ts';
import { sha256 } from '../../src/platform/secrets.ts';
import { changeShop } from '../../src/shops/actions.ts';
import { hashPassword } from '../../src/staff/passwords.ts';
import {
  adminCaller,
  cookieFrom,
  newPerson,
  newUser,
  PASSWORD,
  type Person,
  signInAs,
} from '../support/admin.ts';
import { rulesOf } from '../support/api.ts';
import { ONLY_SQLITE } from '../support/engines.ts';
import { itWith } from '../support/fixtures.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { atOnce } from '../support/responses.ts';

const harness = sharedHarness();
const it = itWith(harness);

const HOUR_MS = 3_600_000;
const NEW_PASSWORD = 'a better password';

const signIn = (t: Harness, email: unknown, password: unknown, more = {}) =>
  adminCaller(t).post('/session', { email, password, ...more });
const attributesOf = (setCookie = ''): string[] =>
  setCookie
    .split('; ')
    .slice(1)
    .filter((attribute) => !attribute.startsWith('Expires='))
    .sort();
const sessionRows = (t: Harness) => t.ctx.db.selectFrom('sessions').selectAll().execute();
const shownUser = (
  { id, email, role }: Pick<Person, 'id' | 'email' | 'role'>,
  name: string | null = null,
) => {
  const notYet = {
    secondFactor: false,
    throughProvider: false,
    providerOnly: false,
    passwordExposedAt: null,
  };
  return { id, email, role, name, ...notYet };
};

/** How long processors work on it: a busy machine takes longer for it, but no more of them. */
const workOf = async (ask: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await ask();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

describe('signing in', () => {
  it('sets a cookie for 12 hours that scripts and other sites cannot use', async ({ t }) => {
    const { email, password } = await newUser(t);
    const { headers } = await signIn(t, email, password);
    const [session, device, ...others] = headers.getSetCookie();
    expect(others).toEqual([]);
    expect(session).toMatch(/^handback_session=[0-9a-f]{64};/);
    const attributes = ['HttpOnly', 'Path=/admin', 'SameSite=Strict'];
    expect(attributesOf(session)).toEqual(['Max-Age=43200', ...attributes].sort());
    // The second cookie is how the browser is known from then on; it does not say who the person is.
    expect(device).toMatch(/^handback_device=[\w-]{22}\.[\w-]{43}\.[\w-]{43};/);
    expect(attributesOf(device)).toEqual(['Max-Age=31536000', ...attributes].sort());
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['https://returns.example.com', true],
    ['http://returns.example.com', false],
  ])('with PUBLIC_URL %s: a Secure cookie, by its name too, is %s', async (publicUrl, secure) => {
    const t = await harness({ env: { PUBLIC_URL: publicUrl } });
    const { email, password } = await newUser(t);
    const response = await signIn(t, email, password);
    for (const cookie of response.headers.getSetCookie()) {
      expect(attributesOf(cookie).includes('Secure')).toBe(secure);
      expect(cookie.startsWith('__Secure-handback_')).toBe(secure);
    }
    const cookie = cookieFrom(response);
    expect(await adminCaller(t, cookie).get('/session')).toHaveStatus(200);
    // Under the other name the cookie is ignored: a page of a sibling host may have planted it.
    const planted = secure ? cookie.replace('__Secure-', '') : `__Secure-${cookie}`;
    expect(await adminCaller(t, planted).get('/session')).toFailWith(401);
  });

  it('works with the email in any case, with spaces around it and accents in any normal form', async ({
    t,
  }) => {
    await newUser(t, { email: 'Grace.Hopper@Example.com', password: 'pa\u0301ssword caf\u00e9' });
    for (const email of ['grace.hopper@example.com', 'GRACE.HOPPER@EXAMPLE.COM'])
      for (const password of ['p\u00e1ssword cafe\u0301', 'pa\u0301ssword caf\u00e9'])
        expect(await signIn(t, email, password)).toHaveStatus(200);
    const padded = JSON.stringify({
      email: ' grace.hopper@example.com ',
      password: 'p\u00e1ssword caf\u00e9',
    });
    expect(await adminCaller(t).post('/session', padded, { unchecked: true })).toHaveStatus(200);
  });

  it('returns the same response for a wrong email and a wrong password', ONLY_SQLITE, async () => {
    const t = await harness({ own: true });
    const { email } = await newUser(t);
    const responses = [
      await signIn(t, email, 'wrong password'),
      await signIn(t, 'nobody@example.com', PASSWORD),
      await signIn(t, 'nobody@example.com', 'x'),
      await signIn(t, email, `${PASSWORD} `),
      await signIn(t, email, PASSWORD.toUpperCase()),
    ];
    for (const response of responses) expect(response).toFailWith(401);
    const seen = responses.map(({ body, headers }) => ({
      body: { ...body, requestId: null },
      cookies: headers.getSetCookie(),
      names: [...headers.keys()].sort(),
    }));
    for (const each of seen) expect(each).toEqual(seen[0]);
    expect(await sessionRows(t)).toEqual([]);
  });

  it('takes as long for an unknown email as for a wrong password', ONLY_SQLITE, async ({ t }) => {
    const { email } = await newUser(t, { hashed: hashPassword });
    const works: { known: number; unknown: number }[] = [];
    for (let i = 0; i < 9; i += 1)
      works.push({
        known: await workOf(() => signIn(t, email, 'wrong password')),
        unknown: await workOf(() => signIn(t, `nobody-${i}@example.com`, 'wrong password')),
      });
    // The median, without outliers such as garbage collection.
    const ratios = works.map(({ known, unknown }) => unknown / known).toSorted((one, other) => one - other);
    const ratio = ratios[4];
    // Without comparing a hash it would take a tenth.
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  it('rejects invalid emails and passwords; a long password is never hashed', ONLY_SQLITE, async ({ t }) => {
    const { email } = await newUser(t, { hashed: hashPassword });
    const rules = async (...sent: [unknown, unknown, object?]) => rulesOf(await signIn(t, ...sent));
    expect(await rules(undefined, undefined)).toEqual({ email: 'required', password: 'required' });
    expect(await rules('grace', '')).toEqual({ email: 'format', password: 'minLength' });
    expect(await rules(1, ['x'])).toEqual({ email: 'type', password: 'type' });
    expect(await rules(email, PASSWORD, { remember: true })).toEqual({ remember: 'unknown' });
    const refusing = await workOf(async () => {
      for (const length of [201, 1_000, 8_000])
        expect(await rules(email, 'x'.repeat(length))).toEqual({ password: 'maxLength' });
    });
    const hashing = await workOf(async () => {
      for (let i = 0; i < 3; i += 1) await signIn(t, email, 'wrong password');
    });
    expect(refusing).toBeLessThan(hashing);
    expect(await signIn(t, email, '🙂'.repeat(200))).toHaveStatus(401);
  });
});

describe('a session', () => {
  it('shows the user and the current state of the shop, like the sign-in does', async ({ t }) => {
    const user = await newUser(t, { role: 'STAFF', name: 'Grace Muller' });
    const { id, name } = t.shop;
    const shown = (plan: string, subscription: string) => ({
      user: shownUser(user, 'Grace Muller'),
      shop: { id, name, plan, subscription, secondFactorRequired: false },
    });
    const signedIn = await signIn(t, user.email, user.password);
    expect(signedIn).toHaveStatus(200);
    expect(signedIn.body).toEqual(shown('SCALE', 'active'));
    await changeShop(t.ctx, OPERATOR, id, { plan: 'STARTER', subscription: 'inactive' });
    const { body } = await adminCaller(t, cookieFrom(signedIn)).get('/session');
    expect(body).toMatchObject(shown('STARTER', 'inactive'));
  });

  it('ends after 12 hours, and is deleted', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    t.clock.advance(12 * HOUR_MS - 60_000);
    expect(await person.get('/session')).toHaveStatus(200);
    await sweep(t.ctx);
    expect(await sessionRows(t)).toHaveLength(1);
    t.clock.advance(60_000);
    expect(await person.get('/session')).toFailWith(401);
    await sweep(t.ctx);
    expect(await sessionRows(t)).toEqual([]);
  });

  it('is refused for any other cookie, and for an API key', async ({ t, person: { cookie } }) => {
    const { apiKey } = t.client;
    const token = cookie.split('=')[1] ?? '';
    const changed = [token.slice(1), `${token}0`, token.toUpperCase(), sha256(token)];
    const values = ['', '0'.repeat(64), "' or 1=1 --", apiKey, ...changed];
    const cookies = values.map((value) => `handback_session=${value}`);
    for (const each of [null, `session=${token}`, ...cookies])
      expect(await adminCaller(t, each).get('/session')).toFailWith(401);
    const keys: Record<string, string>[] = [{ 'x-api-key': apiKey }, { authorization: `Bearer ${apiKey}` }];
    for (const headers of keys) expect(await adminCaller(t).get('/session', { headers })).toFailWith(401);
    expect(await adminCaller(t, `other=1; ${cookie}; more=2`).get('/session')).toHaveStatus(200);
    // A session does not open the external API either.
    expect(await t.get('/offline-repairs', { key: null, headers: { cookie } })).toFailWith(401);
  });

  it('ends at sign-out: the cookie is cleared, and a copy of it no longer works', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    const stolen = adminCaller(t, person.cookie);
    expect(await stolen.get('/users')).toHaveStatus(200);
    const response = await person.delete('/session');
    expect(response).toHaveStatus(204);
    expect(response.body).toBe('');
    const [cleared = ''] = response.headers.getSetCookie();
    expect(cleared).toMatch(/^handback_session=;/);
    expect(attributesOf(cleared)).toEqual(
      expect.arrayContaining(['HttpOnly', 'Path=/admin', 'SameSite=Strict']),
    );
    expect(Date.parse(/Expires=([^;]*)/.exec(cleared)?.[1] ?? '')).toBeLessThan(Date.now());
    for (const path of ['/session', '/users', '/audit-log']) expect(await stolen.get(path)).toFailWith(401);
    expect(await sessionRows(t)).toEqual([]);
  });
});

describe('changing your own password', () => {
  const change = (person: Person, newPassword = NEW_PASSWORD) =>
    person.put('/session/password', { currentPassword: PASSWORD, newPassword });

  it.for(['ADMIN', 'STAFF'] as const)('ends other sessions and the old password: %s', async (role, { t }) => {
    const person = await newPerson(t, { role });
    const elsewhere = await signInAs(t, person);
    const bystander = await newPerson(t);
    const response = await change(person);
    expect(response).toHaveStatus(200);
    expect(response.body).toMatchObject({ user: shownUser(person) });
    const fresh = cookieFrom(response);
    expect(fresh).not.toBe(person.cookie);
    expect(await adminCaller(t, fresh).get('/session')).toHaveStatus(200);
    for (const ended of [person, elsewhere]) expect(await ended.get('/session')).toFailWith(401);
    expect(await bystander.get('/session')).toHaveStatus(200);
    expect(await signIn(t, person.email, PASSWORD)).toFailWith(401);
    await signInAs(t, { ...person, password: NEW_PASSWORD });
  });

  it('needs the current password, with the error at its field', async ({ t, person }) => {
    const [currentPassword, newPassword] = [PASSWORD, NEW_PASSWORD];
    for (const [body, wrong] of [
      [{ currentPassword: 'not mine', newPassword }, { currentPassword: 'wrong' }],
      [{ currentPassword, newPassword: 'short7!' }, { newPassword: 'minLength' }],
      [{ currentPassword, newPassword: 'x'.repeat(10_000) }, { newPassword: 'maxLength' }],
      [{ newPassword }, { currentPassword: 'required' }],
      [{ code: '123456', newPassword }, { code: 'wrong' }],
    ])
      expect(rulesOf(await person.put('/session/password', body))).toEqual(wrong);
    expect(await person.get('/session')).toHaveStatus(200);
    await signInAs(t, person);
  });

  it('happens once if requested twice, and ends sessions that were opened at the same time', async () => {
    const t = await harness({ own: true });
    const person = await newPerson(t);
    const [changed, opened] = await Promise.all([
      atOnce(2, (i) => change(person, `new password ${i}`)),
      atOnce(6, () => signIn(t, person.email, PASSWORD)),
    ]);
    expect(changed.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of opened)
      if (response.status === 200)
        expect(await adminCaller(t, cookieFrom(response)).get('/session')).toFailWith(401);
    expect(await sessionRows(t)).toHaveLength(1);
  });
});
